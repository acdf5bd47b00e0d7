#!/usr/bin/env python3
"""Writes inputs made to break checkpoint readers, and what is expected of a reader, to a folder.

  python3 make_hostile.py DEST

cases.json: name, expect ("error": a problem with a byte offset; "tree": legal, listed; "either"), globals that have to be named.
Standard library only. The files name code (os.system and the like) that a careless reader would run; the command would create
LOCKSTEP_PWNED in the working directory."""
import json, os, struct, sys, zlib

PWN = b"touch LOCKSTEP_PWNED"
CASES = []


def number(n):
    return b"K" + bytes([n]) if 0 <= n < 256 else b"\x8a" + bytes([(n.bit_length() + 8) // 8]) + n.to_bytes((n.bit_length() + 8) // 8, "little", signed=True)


def text(s):
    b = s.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(b)) + b


def tup(*items):
    return b"(" + b"".join(items) + b"t"


def storage(cls="FloatStorage", key="0", numel=4, tag="cpu"):
    return tup(text("storage"), b"ctorch\n" + cls.encode() + b"\n", text(key), text(tag), number(numel)) + b"Q"


def tensor(size=(4,), stride=(1,), offset=0, store=None, extra=b""):
    return (b"ctorch._utils\n_rebuild_tensor_v2\n" + tup(store or storage(), number(offset), tup(*map(number, size)), tup(*map(number, stride)),
            b"\x89", b"ccollections\nOrderedDict\n)R", extra) + b"R")


def pickle(body, protocol=2):
    return b"\x80" + bytes([protocol]) + body + b"."


def state(value, key="w"):
    return pickle(b"}" + text(key) + value + b"s")


class Zip:
    """A zip in which every field can be bent."""

    def __init__(self):
        self.data, self.directory, self.count = bytearray(), bytearray(), 0

    def add(self, name, data, method=0, size=None, crc=None, local_name=None, local_method=None, offset=None, flags=0, packed=None, extra=b""):
        raw = name if isinstance(name, bytes) else name.encode()
        body = packed if packed is not None else data
        start = len(self.data) if offset is None else offset
        crc = zlib.crc32(data) if crc is None else crc
        size = len(data) if size is None else size
        local = raw if local_name is None else local_name
        if offset is None:
            self.data += struct.pack("<IHHHHHIIIHH", 0x04034b50, 0, flags, method if local_method is None else local_method, 0, 0, crc, len(body),
                                     size, len(local), 0) + local + body
        self.directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 0, 0, flags, method, 0, 0, crc, len(body), size, len(raw), len(extra),
                                      0, 0, 0, 0, start) + raw + extra
        self.count += 1
        return self

    def end(self, count=None, size=None, start=None, comment=b"", tail=b""):
        count = self.count if count is None else count
        return bytes(self.data + self.directory + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, count & 0xffff, count & 0xffff,
                len(self.directory) if size is None else size, len(self.data) if start is None else start, len(comment)) + comment + tail)


def torch_zip(pkl, records=(("0", bytes(16)),), **pkl_options):
    z = Zip().add("a/data.pkl", pkl, **pkl_options).add("a/byteorder", b"little")
    for key, data in records:
        z.add("a/data/" + key, data)
    return z.add("a/version", b"3\n")


def deflate(data):
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    return c.compress(data) + c.flush()


def legacy(body, keys=(b"]" + text("0") + b"a"), storages=struct.pack("<q", 4) + bytes(16), info=None):
    magic = pickle(b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")
    info = pickle(b"}" + text("protocol_version") + number(1001) + b"s" + text("little_endian") + b"\x88s") if info is None else info
    return magic + pickle(number(1001)) + info + pickle(body) + pickle(keys) + storages


def legacy_storage(numel=4, view=b"N"):
    return tup(text("storage"), b"ctorch\nFloatStorage\n", text("0"), text("cpu"), number(numel), view) + b"Q"


def safetensors(header, data=b"", length=None):
    h = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(h) if length is None else length) + h + data


# .metadata of a distributed checkpoint
META = "torch.distributed.checkpoint.metadata"


def obj(name, state_items):
    module, cls = name.rsplit(".", 1)
    return b"c" + module.encode() + b"\n" + cls.encode() + b"\n)\x81" + b"}(" + b"".join(text(k) + v for k, v in state_items) + b"ub"


def size_of(*dims):
    return b"ctorch\nSize\n" + tup(*map(number, dims)) + b"\x85R"


def tensor_meta(size, chunks):
    properties = b"c" + META.encode() + b"\nTensorProperties\n)\x81" + tup(b"ctorch\nfloat32\n", b"ctorch.serialization\n_get_layout\n" + text("torch.strided") + b"\x85R",
                                                                         b"\x89", b"N", b"\x89") + b"b"
    boxes = b"](" + b"".join(obj(META + ".ChunkStorageMetadata", [("offsets", size_of(*o)), ("sizes", size_of(*s))]) for o, s in chunks) + b"e"
    return obj(META + ".TensorStorageMetadata", [("properties", properties), ("size", size_of(*size)), ("chunks", boxes)])


def item(key, offset, path, start, length):
    index = obj(META + ".MetadataIndex", [("fqn", text(key)), ("offset", size_of(*offset) if offset is not None else b"N"), ("index", b"K\x00")])
    return index + obj("torch.distributed.checkpoint.filesystem._StorageInfo", [("relative_path", text(path)), ("offset", number(start)), ("length", number(length))])


def metadata(entries, items, planner=None):
    planner = b"N" if planner is None else planner
    return pickle(obj(META + ".Metadata", [("state_dict_metadata", b"}(" + b"".join(text(k) + v for k, v in entries) + b"u"), ("planner_data", planner),
                                           ("storage_data", b"}(" + b"".join(items) + b"u")]))


class Writer:
    def __init__(self, dest):
        self.dest = dest

    def case(self, name, data, expect="error", note="", names=()):
        path = os.path.join(self.dest, name)
        if isinstance(data, dict):
            os.makedirs(path, exist_ok=True)
            for n, b in data.items():
                target = os.path.join(path, n)
                if isinstance(b, str):
                    if not os.path.lexists(target):
                        os.symlink(b, target)
                else:
                    with open(target, "wb") as f:
                        f.write(b)
        else:
            with open(path, "wb") as f:
                f.write(data)
        CASES.append({"name": name, "expect": expect, "note": note, **({"globals": list(names)} if names else {})})


def zips(w):
    good = state(tensor())
    w.case("zip_good.pt", torch_zip(good).end(), "tree", "control")
    w.case("zip_overlap.pt", torch_zip(good).add("a/data/1", bytes(16), offset=30).end(), note="two entries share bytes")
    w.case("zip_quoted_overlap.pt", torch_zip(good).add("a/data/9", bytes(8), offset=60).end(), note="an entry that begins inside another")
    w.case("zip_twice.pt", torch_zip(good, (("0", bytes(16)), ("0", bytes(16)))).end(), note="two records of one name")
    w.case("zip_dotdot.pt", torch_zip(good).add("a/../../etc/x", b"x").end(), note="a name that leaves the folder")
    w.case("zip_nul_name.pt", torch_zip(good).add(b"a/x\0y", b"x").end(), note="NUL in a name")
    w.case("zip_method_99.pt", torch_zip(good, ()).add("a/data/0", bytes(16), method=99).end(), note="unknown method")
    w.case("zip_encrypted.pt", torch_zip(good, ()).add("a/data/0", bytes(16), flags=1).end(), note="encrypted record")
    w.case("zip_entries_65535.pt", torch_zip(good).end(count=65535), note="more entries than the directory can hold")
    w.case("zip_directory_outside.pt", torch_zip(good).end(start=0xfffffff0), note="directory behind the end")
    w.case("zip_directory_size.pt", torch_zip(good).end(size=0xfffffff0), note="directory larger than the file")
    w.case("zip_comment_long.pt", torch_zip(good).end()[:-2] + b"\xff\xff", note="comment past the end")
    w.case("zip_eocd_in_comment.pt", torch_zip(good).end(comment=b"PK\5\6" + bytes(18)), note="an end record inside the comment")
    w.case("zip_bomb_storage.pt", torch_zip(state(tensor(store=storage(numel=1 << 28))), ()).add("a/data/0", b"", method=8, size=1 << 30, crc=1,
           packed=deflate(bytes(1 << 22)) * 8).end(), note="a deflated storage that claims 1 GiB")
    w.case("zip_bomb_pickle.pt", Zip().add("a/data.pkl", b"", method=8, size=1 << 26, crc=1, packed=deflate(b"\x80\x02" + b"}" * ((1 << 26) - 3) + b".")).add(
           "a/version", b"3\n").end(), note="2^26 empty dicts, deflated")
    w.case("zip_size_lie.pt", torch_zip(good, ()).add("a/data/0", bytes(16), method=8, size=16, packed=deflate(bytes(4096))).end(), note="inflates past its size")
    w.case("zip_header_in_directory.pt", torch_zip(good).add("a/data/7", b"", offset=1 << 20).end(), note="a record behind the directory")
    w.case("zip_zip64_wrap.pt", torch_zip(good).add("a/data/8", b"", offset=0xffffffff, extra=struct.pack("<HHQ", 1, 8, (1 << 64) - 8)).end(), note="zip64 offset that wraps")
    w.case("zip_zip64_short.pt", torch_zip(good).add("a/data/8", b"", offset=0xffffffff, extra=struct.pack("<HHI", 1, 4, 1)).end(), note="zip64 field cut")
    w.case("zip_version_long.pt", Zip().add("a/data.pkl", good).add("a/data/0", bytes(16)).add("a/version", b"9" * 70000).end(), note="a version of 70,000 digits")


def pickles(w):
    def case(name, body, expect="error", note="", names=(), protocol=2):
        w.case(name, torch_zip(pickle(body, protocol)).end(), expect, note, names)
    run = ("posix.system",)
    case("pkl_stack_global.pt", text("posix") + text("system") + b"\x93" + text(PWN.decode()) + b"\x85R", "tree", "STACK_GLOBAL and REDUCE", run)
    case("pkl_obj.pt", b"(cposix\nsystem\n" + text(PWN.decode()) + b"o", "tree", "OBJ", run)
    case("pkl_newobj.pt", b"cposix\nsystem\n" + text(PWN.decode()) + b"\x85\x81", "tree", "NEWOBJ", run)
    case("pkl_newobj_ex.pt", b"cposix\nsystem\n" + text(PWN.decode()) + b"\x85}\x92", "tree", "NEWOBJ_EX", run, 4)
    case("pkl_build_setstate.pt", b"cbuiltins\neval\n)\x81}" + text("__setstate__") + b"cposix\nsystem\nsb", "tree", "BUILD that would set __setstate__", run)
    case("pkl_getattr_chain.pt", b"cbuiltins\ngetattr\nc__main__\nos\n" + text("system") + b"\x86R" + text(PWN.decode()) + b"\x85R", "tree", "a function reached through getattr", ("builtins.getattr",))
    case("pkl_key_reduce.pt", b"}cposix\nsystem\n" + text(PWN.decode()) + b"\x85R" + b"K\x01s", "tree", "a call as dict key", run)
    case("pkl_deep_tuples.pt", b")" + b"\x85" * 200000, "tree", "200,000 nested tuples")
    case("pkl_deep_dicts.pt", b"}" * 60000 + b"K\x01" + b"".join(b"K\x02K\x01s" for _ in range(0)) + b"0" + (b"K\x01" + b"N") * 0 + b"", "either", "60,000 dicts on the stack")
    case("pkl_leaf_per_level.pt", b"N" + b"K\x01\x86" * 60000, "either", "a leaf at each of 60,000 levels: paths of 7 GB")
    case("pkl_memo_dicts.pt", b"}q\x00" + b"".join(b"}" + text("a") + b"h" + bytes([i]) + b"s" + text("b") + b"h" + bytes([i]) + b"sq" + bytes([i + 1]) for i in range(60)),
         "tree", "60 doublings of a dict")
    case("pkl_cycle_dict.pt", b"}q\x00" + text("self") + b"h\x00s", "tree", "a dict that contains itself")
    case("pkl_cycle_object.pt", b"c__main__\nA\n)\x81q\x00}" + text("me") + b"h\x00sb", "tree", "an object whose state is itself", ("__main__.A",))
    case("pkl_memo_huge_index.pt", b"Nr\xff\xff\xff\xff0j\xff\xff\xff\xff", "tree", "memo slot 2^32-1")
    case("pkl_put_text_huge.pt", b"Np99999999999999999999999\n", note="a memo index of 23 digits")
    case("pkl_int_digits.pt", b"I" + b"9" * 100000 + b"\n", note="a text integer of 100,000 digits")
    case("pkl_long_bytes.pt", b"\x8b" + struct.pack("<i", 100000) + b"\x7f" * 100000, "tree", "an integer of 100,000 bytes")
    case("pkl_binunicode8.pt", b"\x8d" + struct.pack("<Q", 1 << 63), note="a text of 2^63 bytes", protocol=4)
    case("pkl_bytearray8.pt", b"\x96" + struct.pack("<Q", 1 << 62), note="a bytearray of 2^62 bytes", protocol=5)
    case("pkl_frame_lies.pt", b"\x95" + struct.pack("<Q", 1 << 60) + b"N", "either", "a frame of 2^60 bytes", protocol=4)
    case("pkl_ext.pt", b"\x82\x01", note="extension registry")
    case("pkl_next_buffer.pt", b"\x97", note="a buffer outside the pickle", protocol=5)
    case("pkl_bad_utf8.pt", b"X\x02\0\0\0\xff\xfe", note="text that is not UTF-8")
    case("pkl_pop_mark_empty.pt", b"1", note="POP_MARK without a mark")
    case("pkl_mark_fence.pt", b"K\x01(\x85", note="TUPLE1 below a mark")
    case("pkl_setitems_odd.pt", b"}(K\x01K\x02K\x03u", note="a key without value")
    case("pkl_build_int.pt", b"K\x01}b", note="state for an int")
    case("pkl_reduce_int.pt", b"K\x01)R", note="call of an int")
    case("pkl_protocol_9.pt", b"N", note="protocol 9", protocol=9)
    case("pkl_global_no_newline.pt", b"cposix\nsystem", note="a global that never ends")
    case("pkl_hash_flood.pt", b"}(" + b"".join(b"G" + struct.pack(">Q", 0x7ff8000000000000 + i) + b"N" for i in range(20000)) + b"u", "tree", "20,000 NaN keys")
    case("pkl_tuple_keys.pt", b")q\x00" + b"".join(b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) for i in range(60)) + b"}h\x3cNsh\x3cNs", "either",
         "keys that are tuples of 2^60 leaves")


def tensors(w):
    def case(name, value, expect="error", note="", records=(("0", bytes(16)),)):
        w.case(name, torch_zip(state(value), records).end(), expect, note)
    case("tensor_stride_2_62.pt", tensor((2,), (1 << 62,)), note="stride 2^62")
    case("tensor_negative_stride.pt", tensor((4,), (-1,), 3), note="negative stride")
    case("tensor_negative_size.pt", tensor((-4,), (1,)), note="negative size")
    case("tensor_negative_offset.pt", tensor((1,), (1,), -1), note="negative offset")
    case("tensor_product_wraps.pt", tensor((1 << 32, 1 << 32), (1, 1)), note="2^64 elements")
    case("tensor_rank_1000.pt", tensor((1,) * 1000, (1,) * 1000), note="1,000 dimensions")
    case("tensor_numel_2_60.pt", tensor(store=storage(numel=1 << 60)), note="storage of 2^62 bytes announced")
    case("tensor_numel_negative.pt", tensor(store=storage(numel=-4)), note="storage of -4 elements")
    case("tensor_missing_record.pt", tensor(store=storage(key="7")), note="a storage without a record")
    case("tensor_key_path.pt", tensor(store=storage(key="../../../../etc/passwd")), note="a storage key that is a path")
    case("tensor_many_views.pt", b"](" + storage() + b"q\x01" + b"".join(
        b"ctorch._utils\n_rebuild_tensor_v2\n" + tup(b"h\x01", number(0), tup(number(1 << 20), number(4)), tup(number(0), number(1)), b"\x89", b")") + b"R" for _ in range(400)) + b"e",
        "tree", "400 views of 2^22 elements on 16 bytes: hashing must stay bounded")
    q = b"ctorch._utils\n_rebuild_qtensor\n" + tup(storage("QInt8Storage", numel=16), number(0), tup(number(4), number(4)), tup(number(4), number(1)),
                                                 tup(b"ctorch\nper_channel_affine\n", b"]", b"]", number(9)), b"\x89", b")") + b"R"
    case("tensor_q_axis.pt", q, note="quantisation axis 9 of 2")
    sparse = b"ctorch._utils\n_rebuild_sparse_tensor\n" + tup(b"ctorch.serialization\n_get_layout\n" + text("torch.sparse_coo") + b"\x85R",
                                                             tup(number(1), number(2), tup(number(4)))) + b"R"
    case("tensor_sparse_ints.pt", sparse, note="a sparse tensor made of numbers")
    w.case("nested_load_from_bytes.pkl", pickle(b"ctorch.storage\n_load_from_bytes\n" + b"C\x04abcd\x85R", 3), note="_load_from_bytes of rubbish")
    inner = legacy(legacy_storage())
    for _ in range(6):
        inner = legacy(b"ctorch.storage\n_load_from_bytes\nB" + struct.pack("<I", len(inner)) + inner + b"\x85R", b"]", b"")
    w.case("nested_six_deep.pt", inner, note="files nested six deep")


def others(w):
    ld = legacy_storage
    w.case("legacy_good.pt", legacy(state_body()), "tree", "control")
    w.case("legacy_count_huge.pt", legacy(state_body(), storages=struct.pack("<q", 1 << 62) + bytes(16)), note="2^62 elements announced")
    w.case("legacy_view_outside.pt", legacy(b"}" + text("w") + ld(4, tup(text("v"), number(2), number(9))) + b"s"), note="a view past its storage")
    w.case("legacy_keys_int.pt", legacy(state_body(), keys=b"K\x07"), note="the list of keys is a number")
    w.case("legacy_call_in_info.pt", legacy(state_body(), info=pickle(b"cposix\nsystem\n" + text(PWN.decode()) + b"\x85R")), note="a call in the system description", names=("posix.system",))
    w.case("legacy_key_unknown.pt", legacy(state_body(), keys=b"]" + text("zzz") + b"a"), note="a key no tensor uses")
    one = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    w.case("st_good.safetensors", safetensors(one, bytes(4)), "tree", "control")
    w.case("st_wrap.safetensors", safetensors(one, bytes(4), length=(1 << 64) - 8), note="header length that wraps with 8")
    w.case("st_product_wraps.safetensors", safetensors({"a": {"dtype": "F32", "shape": [1 << 32, 1 << 32], "data_offsets": [0, 0]}}), note="2^64 elements in 0 bytes")
    w.case("st_inverted.safetensors", safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, bytes(4)), note="inverted range")
    w.case("st_hole.safetensors", safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, bytes(8)), note="a hole in front")
    w.case("st_duplicate.safetensors", safetensors(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}', bytes(8)), note="one key twice")
    w.case("st_deep.safetensors", safetensors(b'{"a":' + b"[" * 500000 + b"]" * 500000 + b"}"), note="500,000 brackets")
    w.case("st_negative.safetensors", safetensors(b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}', bytes(4)), note="negative size")
    w.case("st_float.safetensors", safetensors(b'{"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}', bytes(4)), note="a size with a point")
    good = torch_zip(pickle(tensor())).end()
    entries = [("w", tensor_meta((4,), [((0,), (4,))]))]
    w.case("dcp_good", {".metadata": metadata(entries, [item("w", (0,), "__0_0.distcp", 0, len(good))]), "__0_0.distcp": good}, "tree", "control")
    w.case("dcp_reduce", {".metadata": pickle(b"cposix\nsystem\n" + text(PWN.decode()) + b"\x85R"), "__0_0.distcp": good}, note="code in .metadata", names=("posix.system",))
    for name, path in (("dcp_dotdot", "../dcp_good/__0_0.distcp"), ("dcp_absolute", "/etc/passwd"), ("dcp_nul", "__0_0.distcp\0x")):
        w.case(name, {".metadata": metadata(entries, [item("w", (0,), path, 0, len(good))]), "__0_0.distcp": good}, note="file name " + repr(path))
    w.case("dcp_link", {".metadata": metadata(entries, [item("w", (0,), "__0_0.distcp", 0, len(good))]), "__0_0.distcp": "../dcp_good/__0_0.distcp"}, note="a link out of the folder")
    w.case("dcp_offset_wraps", {".metadata": metadata(entries, [item("w", (0,), "__0_0.distcp", (1 << 63) - 1, 1 << 62)]), "__0_0.distcp": good}, note="offset + length wraps")
    w.case("dcp_hole", {".metadata": metadata([("w", tensor_meta((8,), [((0,), (4,))]))], [item("w", (0,), "__0_0.distcp", 0, len(good))]), "__0_0.distcp": good}, note="half of the tensor has no chunk")
    w.case("dcp_overlap", {".metadata": metadata([("w", tensor_meta((4,), [((0,), (4,)), ((2,), (2,))]))], [item("w", (0,), "__0_0.distcp", 0, len(good))]), "__0_0.distcp": good}, note="overlapping chunks")
    w.case("dcp_negative_chunk", {".metadata": metadata([("w", tensor_meta((4,), [((-4,), (4,))]))], [item("w", (-4,), "__0_0.distcp", 0, len(good))]), "__0_0.distcp": good}, note="chunk at -4")
    w.case("dcp_list_index", {".metadata": metadata(entries, [item("w", (0,), "__0_0.distcp", 0, len(good))], b"}" + text("w") + tup(text("x"), number((1 << 40))) + b"s"), "__0_0.distcp": good}, note="list index 2^40")
    index = lambda m: json.dumps({"metadata": {}, "weight_map": m}).encode()
    st = safetensors(one, bytes(4))
    w.case("index_dotdot", {"model.safetensors.index.json": index({"a": "../st_good.safetensors"}), "b.safetensors": st}, note="shard outside the folder")
    w.case("index_link", {"model.safetensors.index.json": index({"a": "b.safetensors"}), "b.safetensors": "/etc/passwd"}, note="shard is a link to a system file")
    half = torch_zip(pickle(tensor((1 << 18,), store=storage(numel=1 << 18))), (("0", bytes(1 << 20)),)).end()
    w.case("dcp_chunk_of_half", {".metadata": metadata([("w", tensor_meta((1 << 19,), [((0,), (1 << 18,))]))], [item("w", (0,), "__0_0.distcp", 0, len(half))]), "__0_0.distcp": half}, note="the only chunk holds half of the tensor")
    w.case("dcp_hf_pickle", {"shard-1.safetensors": pickle(b"}" + text("a") + b"K\x07s")}, note="a pickled dict under the name of a safetensors shard")
    w.case("dcp_hf_text", {"shard-1.safetensors": pickle(text("x" * 300))}, note="a pickled text under the name of a safetensors shard")
    w.case("dcp_hf_deep", {"shard-1.safetensors": safetensors({"__metadata__": {"DCP_SHARDING_INFO": "[" * 300000}, "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}, bytes(1))}, note="300,000 brackets in DCP_SHARDING_INFO")
    w.case("index_deep", {"model.safetensors.index.json": b'{"weight_map":' + b"[" * 300000 + b"]" * 300000 + b"}", "b.safetensors": st}, note="300,000 brackets")
    w.case("zero_good", zero(tensor((2,), (1,))), "tree", "control")
    w.case("zero_partitions_2_63", zero(tensor((1 << 62,), (0,))), note="two partitions that repeat one element 2^62 times")
    w.case("zero_shape_2_62", zero(tensor((2,), (1,)), size_of(1 << 31, 1 << 31)), note="a parameter of 2^62 elements in partitions of 2")
    w.case("zero_shape_text", zero(tensor((2,), (1,)), text("4")), "either", note="a shape that is a text")
    w.case("zero_latest_dotdot", {"latest": b"../dcp_good"}, note="latest leads out of the folder")


def mapping(*pairs):
    return b"}(" + b"".join(text(k) + v for k, v in pairs) + b"u"


def zero(partition, shape=None):
    """DeepSpeed's stage 2 of two ranks: a parameter of four elements, two in each partition."""
    optimizer = mapping(("optimizer_state_dict", mapping(("zero_stage", number(2)), ("partition_count", number(2)),
                                                         ("single_partition_of_fp32_groups", b"]" + partition + b"a"))))
    model = mapping(("module", b"}"), ("buffer_names", b"]"), ("param_shapes", b"]" + mapping(("w", size_of(4) if shape is None else shape)) + b"a"))
    files = {"zero_pp_rank_%d_mp_rank_00_optim_states.pt" % rank: torch_zip(pickle(optimizer)).end() for rank in (0, 1)}
    return {**files, "zero_pp_rank_0_mp_rank_00_model_states.pt": torch_zip(pickle(model)).end()}


def colliding(count, mask=(1 << 64) - 1, multiplier=0xff51afd7ed558ccd):
    """Names of 16 bytes with one value of the hash the reader's table uses (zip_names.cpp)."""
    for i in range(count):
        first = 0x2d61 << 48 | i
        h = (0x9e3779b97f4a7c15 ^ 16 ^ first) * multiplier & mask
        yield struct.pack("<QQ", first, h ^ h >> 32 ^ 0x6a09e667f3bcc908)


def floods(w):
    """Legal structures in numbers that make careless readers slow or large."""
    good = state(tensor())
    same = torch_zip(good)
    for _ in range(20000):
        same.directory += same.directory[:46 + 10]
        same.count += 1
    w.case("flood_zip_same_entry.pt", same.end(), note="20,000 directory entries for one record")
    many = torch_zip(good)
    for i in range(20000):
        many.add("a/x%d/../y" % i, b"")
    w.case("flood_zip_bad_names.pt", many.end(), note="20,000 names that leave the folder")
    collide = torch_zip(good)
    for name in colliding(20000):
        collide.add(name, b"")
    w.case("flood_zip_colliding.pt", collide.end(), note="20,000 names of one hash")
    w.case("flood_memo.pt", torch_zip(pickle(b"]" + b"".join(b"K\x01r" + struct.pack("<I", i * 42949) + b"a" for i in range(60000)))).end(), "either", "60,000 memo slots far apart")
    w.case("flood_globals.pt", torch_zip(pickle(b"]" + b"".join(b"cm%d\nx\na" % i for i in range(30000)))).end(), "either", "30,000 globals")
    w.case("flood_keys.pt", torch_zip(pickle(b"}(" + b"".join(b"G" + struct.pack(">d", i * 2.0 ** 32) + b"N" for i in range(60000)) + b"u")).end(), "either", "60,000 float keys")
    w.case("flood_long_names.pt", torch_zip(pickle(b"}" + (text("k" * 60000) + b"}") * 60 + b"s" * 60)).end(), "either", "names of 60,000 letters, 60 levels deep")
    w.case("flood_ranks.pt", torch_zip(pickle(b"]" + b"".join(tensor((1,) * 255, (0,) * 255) + b"a" for _ in range(200)))).end(), "tree", "tensors of 255 dimensions")
    w.case("flood_storage_classes.pt", torch_zip(pickle(b"]" + b"".join(tensor(store=storage(key="0", numel=n)) + b"a" for n in range(5, 3000)))).end(), note="3,000 sizes announced for one storage")
    w.case("flood_python2_ints.pt", torch_zip(pickle(b"]" + (b"L" + b"9" * 4000 + b"L\na") * 200)).end(), "either", "200 numbers of 4,000 digits")
    w.case("flood_st_keys.safetensors", safetensors({"k%d" % i: {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for i in range(40000)}), "either", "40,000 empty tensors")
    w.case("flood_st_overlap.safetensors", safetensors({"k%d" % i: {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]} for i in range(20000)}, bytes(8)), note="20,000 tensors over the same bytes")
    shard = torch_zip(pickle(tensor())).end()
    chunks = [((4 * i,), (4,)) for i in range(4000)]
    w.case("flood_dcp_chunks", {".metadata": metadata([("w", tensor_meta((16000,), chunks))], [item("w", o, "__0_0.distcp", 0, len(shard)) for o, _ in chunks]), "__0_0.distcp": shard}, "either", "4,000 chunks of one tensor, all over one item")
    same = [((0,), (4,))] * 4000
    w.case("flood_dcp_same_chunk", {".metadata": metadata([("w", tensor_meta((4,), same))], [item("w", (0,), "__0_0.distcp", 0, len(shard))]), "__0_0.distcp": shard}, note="4,000 times the same chunk")
    w.case("flood_dcp_files", {".metadata": metadata([("k%d" % i, tensor_meta((4,), [((0,), (4,))])) for i in range(2000)], [item("k%d" % i, (0,), "__%d_0.distcp" % i, 0, 64) for i in range(2000)]), "__0_0.distcp": shard}, note="2,000 files that are not there")
    w.case("flood_index.d", {"model.safetensors.index.json": json.dumps({"weight_map": {"k%d" % i: "s%d.safetensors" % i for i in range(20000)}}).encode()}, note="20,000 shards that are not there")
    w.case("flood_shared_attributes.pt", torch_zip(state(dtensor(shared_dicts(8, 60)))).end(), "tree", "a DTensor whose attributes unfold to 60^8 values")
    w.case("flood_shared_rng.pt", torch_zip(state(shared_dicts(4, 3000), "rng")).end(), "tree", "a random state that unfolds to 3,000^4 values")
    w.case("flood_tied.pt", torch_zip(pickle(b"}" + text("model") + b"}(" + b"".join(text("k%d" % i) + tensor() for i in range(3000)) + b"us")).end(), "tree", "3,000 names of one tensor")
    w.case("flood_nested_zip.pt", torch_zip(good).add("a/data/1", torch_zip(good).end()).end(), "tree", "a zip inside a record")


def shared_dicts(levels, width):
    """A dict whose items all are one dict whose items all are one dict ..."""
    items = lambda level: b"}(" + b"".join(text("k%d" % i) + b"h" + bytes([level]) for i in range(width)) + b"u"
    return b"}q\x000" + b"".join(items(level) + b"q" + bytes([level + 1]) + b"0" for level in range(levels - 1)) + items(levels - 1)


def dtensor(attributes):
    """As torch.save writes tensor subclasses; the attributes are its state."""
    plain = (b"ctorch.distributed.tensor\nDTensor\n", b"ctorch\nfloat32\n", tup(number(4)), tup(number(1)), number(0),
             b"ctorch.serialization\n_get_layout\n" + text("torch.strided") + b"\x85R", b"ctorch\ndevice\n" + text("cpu") + b"\x85R", b"\x89")
    return b"ctorch._utils\n_rebuild_wrapper_subclass\n" + tup(*plain) + b"R" + attributes + b"b"


def state_body():
    return b"}" + text("w") + legacy_storage() + b"s"


def main():
    dest = sys.argv[1]
    os.makedirs(dest, exist_ok=True)
    w = Writer(dest)
    for group in (zips, pickles, tensors, others, floods):
        group(w)
    with open(os.path.join(dest, "cases.json"), "w") as f:
        json.dump(CASES, f, indent=1)
    print(len(CASES), "cases")


if __name__ == "__main__":
    main()
