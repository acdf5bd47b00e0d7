#!/usr/bin/env python3
"""Writes checkpoints as programs rarely write them, and what torch finds in them when it loads them.

  python3 make_unusual.py DEST [--dist]

truth.jsonl: per file "file" and "tensors": [path, dtype, shape, stride, offset, SHA-256 of the elements in row-major order], where path
is the form of `ckpt ls --json`. Views, ties and odd values are made in many combinations from a fixed seed. --dist adds folders
of torch.distributed.checkpoint, saved by 2 and 4 processes with FSDP2 and DTensor layouts."""
import collections, hashlib, io, json, os, pickle, random, struct, sys, warnings

warnings.filterwarnings("ignore")
import torch
import torch.nn as nn

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]
SMALL = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]
NAMES = ["weight", "a.b.c", "", " ", ".", "..", "/", "a/b", "%41", "über", "重み", "🔥", "\u202e gnp", "tab\tline\n", "nul\0x", "\\", "'\"",
         "x" * 5000, "module.module.w", "_orig_mod.", "0", "-1", "é", "e\u0301", "\ufeff", "%", "s:", "~"]


class Plain(torch.Tensor):
    """A subclass without state of its own."""


def escape(text):
    out = []
    for b in text.encode("utf-8", "surrogatepass"):
        c = chr(b)
        out.append(c if c.isascii() and (c.isalnum() or c in "._-") else "%%%02X" % b)
    return "".join(out)


def step(key):
    if isinstance(key, bool):
        return "/b:%d" % key
    if isinstance(key, str):
        return "/s:" + escape(key)
    if isinstance(key, int):
        return "/i:%d" % key
    if key is None:
        return "/n:"
    if isinstance(key, float):
        return "/f:" + struct.pack(">d", key).hex()
    if isinstance(key, bytes):
        return "/y:" + key.hex()
    if isinstance(key, tuple):
        return "/t:(" + ",".join(step(k)[1:] for k in key) + ")"
    raise TypeError(key)


def row_major(t):
    t = t.detach().as_subclass(torch.Tensor).resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return bytes(t.view(-1).view(torch.uint8).tolist()) if t.numel() else b""


def tensors(value, path="", found=None, folder=False):
    found = [] if found is None else found
    if isinstance(value, torch.Tensor):
        if value.layout is torch.strided and not value.is_quantized and not value.is_nested and value.device.type == "cpu":
            stride = list(value.stride())
            offset = value.storage_offset()
            if folder:  # folders and safetensors have row-major tensors
                stride, offset, step_size = [], 0, 1
                for n in reversed(value.shape):
                    stride.insert(0, step_size)
                    step_size *= max(n, 1)
            found.append([path, str(value.dtype)[6:], list(value.shape), stride, offset, hashlib.sha256(row_major(value)).hexdigest()])
    elif isinstance(value, dict):
        for k, v in value.items():
            tensors(v, path + step(k), found, folder)
    elif isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        for i, v in enumerate(value):
            tensors(v, path + ("/l:%d" if isinstance(value, list) else "/u:%d") % i, found, folder)
    return found


def bits(dtype, n, rng):
    """n elements of any bits."""
    size = torch.empty(0, dtype=dtype).element_size()
    raw = bytearray(rng.randbytes(n * size))
    if dtype is torch.bool:
        raw = bytearray(b & 1 for b in raw)
    return torch.frombuffer(raw, dtype=torch.uint8).clone().view(dtype) if n else torch.empty(0, dtype=dtype)


def view(base, rng):
    """A random view of a flat tensor."""
    n = base.numel()
    kind = rng.randrange(8)
    if n < 6 or kind == 0:
        return base
    if kind == 1:
        return base[rng.randrange(n):][::rng.randrange(1, 4)]
    if kind == 2:
        return base[:n // 2 * 2].view(2, -1).t()
    if kind == 3:
        return base[rng.randrange(n)]
    if kind == 4:
        return base[rng.randrange(n)].expand(3, 1, 5)
    if kind == 5:
        return base.as_strided((2, 3), (1, 1), rng.randrange(n - 4))
    if kind == 6:
        return base[:0].view(0, 3) if rng.randrange(2) else base[n:]
    return base[:n // 3 * 3].view(3, 1, -1).permute(2, 0, 1)


def random_tree(rng, depth=0, bases=None):
    bases = [] if bases is None else bases

    def leaf():
        if bases and rng.randrange(3) == 0:
            base = rng.choice(bases)
        else:
            base = bits(rng.choice(FLOATS + INTEGERS + COMPLEX + SMALL + [torch.bool]), rng.randrange(40), rng)
            bases.append(base)
        t = view(base, rng)
        if t.dtype in (torch.complex64, torch.complex128) and rng.randrange(2):
            t = t.conj()
        if rng.randrange(9) == 0 and t.dtype.is_floating_point and t.element_size() > 1:
            t = nn.Parameter(t, requires_grad=bool(rng.randrange(2)))
        return t

    def key():
        return rng.choice([lambda: rng.choice(NAMES), lambda: rng.randrange(-5, 300), lambda: None, lambda: rng.random(), lambda: (1, "a", None),
                           lambda: rng.randbytes(3), lambda: True, lambda: 2 ** 70])()

    made = []
    for _ in range(rng.randrange(1, 7)):
        pick = rng.randrange(10)
        if pick < 6 or depth > 4:
            made.append(leaf())
        elif pick == 6:
            made.append(rng.choice([None, True, 1 << 80, -1, 3.5, float("nan"), "text", torch.Size([2, 3]), torch.float16, torch.device("cpu"), {1, 2}, b"\xff\0", 2j]))
        elif pick == 7 and made:
            made.append(rng.choice(made))  # the same object again
        else:
            made.append(random_tree(rng, depth + 1, bases))
    kind = rng.randrange(4)
    if kind == 0:
        return made
    if kind == 1:
        return tuple(made)
    tree = collections.OrderedDict() if kind == 2 else {}
    for m in made:
        tree[key()] = m
    return tree


def optimizers():
    for cls, options in ((torch.optim.SGD, {"momentum": 0.9, "nesterov": True}), (torch.optim.AdamW, {"amsgrad": True}), (torch.optim.LBFGS, {}), (torch.optim.RMSprop, {"centered": True}),
                         (torch.optim.Adagrad, {}), (torch.optim.Rprop, {}), (torch.optim.ASGD, {}), (torch.optim.Adafactor, {}), (torch.optim.NAdam, {})):
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2))
        groups = model.parameters() if cls is torch.optim.LBFGS else [{"params": model[0].parameters(), "lr": 0.1}, {"params": [*model[1].parameters(), *model[2].parameters()]}]
        optimizer = cls(groups, lr=0.01, **options)

        def loss():
            optimizer.zero_grad()
            value = model(torch.ones(5, 3)).square().mean()
            value.backward()
            return value

        optimizer.step(loss)
        yield cls.__name__, {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5).state_dict(),
                             "rng": torch.get_rng_state(), "scaler": torch.amp.GradScaler("cpu").state_dict(), "epoch": 3}


def special():
    """Name, value, options of torch.save."""
    base = torch.arange(24.0)
    big = torch.zeros(1000)
    tied = nn.Embedding(5, 4)
    head = nn.Linear(4, 5, bias=False)
    head.weight = tied.weight
    yield "names", {n: torch.tensor([float(i)]) for i, n in enumerate(NAMES)}, {}
    yield "deep", __import__("functools").reduce(lambda t, i: {str(i): t} if i % 2 else [t], range(200), torch.ones(2)), {}
    yield "tied_modules", nn.ModuleDict({"emb": tied, "head": head}).state_dict(), {}
    yield "views", {"t": base.view(4, 6).t(), "s": base[3::5], "e": base[2].expand(1000, 1000), "o": base.as_strided((5, 5), (2, 3), 1), "z": base[:0], "slice": big[990:]}, {}
    yield "conj_neg", {"c": torch.randn(3, 4, dtype=torch.complex64).conj(), "n": torch.randn(3, dtype=torch.complex128).conj().imag, "t": torch.randn(2, 3, dtype=torch.complex64).mH}, {}
    yield "one_storage_two_types", [base.view(torch.int32)[:4], base.view(torch.uint8)[8:16].clone()], {}
    yield "scalars", [torch.tensor(3.0), torch.tensor(True), torch.tensor(1 << 40), torch.tensor(2 + 3j), torch.tensor(float("nan")), torch.empty(0), torch.empty(2, 0, 3)], {}
    yield "sparse", {"coo": torch.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0], (2, 3)), "csr": torch.eye(3).to_sparse_csr(), "bsc": torch.eye(4).to_sparse_bsc((2, 2)), "dense": torch.ones(2),
                     "hybrid": torch.sparse_coo_tensor([[0, 1]], torch.ones(2, 3, dtype=torch.float16), (5, 3)), "empty": torch.sparse_coo_tensor(size=(2, 2))}, {}
    yield "quantised", {"q": torch.quantize_per_tensor(torch.randn(3, 4), 0.1, 3, torch.quint8), "c": torch.quantize_per_channel(torch.randn(3, 4), torch.rand(3) + 0.1, torch.zeros(3, dtype=torch.int64), 0, torch.qint8),
                        "i": torch.quantize_per_tensor(torch.randn(2), 0.5, 0, torch.qint32), "plain": torch.ones(1)}, {}
    yield "nested", {"n": torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)]), "j": torch.ones(1)}, {}
    yield "meta", {"m": torch.empty(1 << 20, 1 << 20, device="meta"), "p": nn.Parameter(torch.empty(3, device="meta")), "w": torch.ones(2)}, {}
    yield "subclass", {"s": torch.ones(2, 3).as_subclass(Plain), "b": nn.Buffer(torch.ones(2)), "p": nn.Parameter(torch.ones(1))}, {}
    attribute = torch.ones(3)
    attribute.note = {"inner": torch.zeros(2)}
    yield "attributes", [attribute], {}
    yield "packed", {"f4": torch.zeros(6, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)}, {}
    yield "whole_module", nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)), {}
    yield "shared_dict", (lambda d: [d, d, {"again": d}])({"w": torch.ones(2)}), {}
    for protocol in (0, 1, 2, 3, 4, 5):
        yield "protocol_%d" % protocol, {"w": base.view(4, 6), "b": b"\0\xff", "n": 1 << 100, "s": "\udcff".encode("utf-8", "surrogatepass").decode("utf-8", "replace"), "set": frozenset([1])}, {"pickle_protocol": protocol}
    for protocol in (2, 4):
        yield "legacy_%d" % protocol, {"w": base.view(4, 6), "t": base.view(4, 6).t(), "part": base[3:9], "u": torch.ones(3, dtype=torch.bfloat16)}, {"_use_new_zipfile_serialization": False, "pickle_protocol": protocol}


def write_files(dest, truth):
    def save(name, value, options):
        path = os.path.join(dest, name + ".pt")
        try:
            torch.save(value, path, **options)
            back = torch.load(path, weights_only=False)
        except Exception as error:  # what this torch cannot save and load again is no case
            print(name, "is left out:", str(error)[:100].replace("\n", " "))
            if os.path.exists(path):
                os.remove(path)
            return
        truth.append({"file": name + ".pt", "tensors": [] if isinstance(back, nn.Module) else tensors(back)})

    torch.manual_seed(0)
    for name, value, options in special():
        save(name, value, options)
    for name, value in optimizers():
        save("optimizer_" + name.lower(), value, {})
    for seed in range(60):
        rng = random.Random(seed)
        save("random_%02d" % seed, random_tree(rng), {} if seed % 4 else {"pickle_protocol": 4} if seed % 8 else {"_use_new_zipfile_serialization": False})
    with open(os.path.join(dest, "plain.pkl"), "wb") as f:  # a pickle without torch.save around it
        pickle.dump({"w": torch.arange(6.0).view(2, 3), "v": torch.ones(2, dtype=torch.int16)}, f)
    truth.append({"file": "plain.pkl", "tensors": tensors({"w": torch.arange(6.0).view(2, 3), "v": torch.ones(2, dtype=torch.int16)})})


def write_safetensors(dest, truth):
    """By the format's rules: no library is needed for it."""
    names = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
             torch.bool: "BOOL", torch.uint16: "U16", torch.uint32: "U32", torch.uint64: "U64", torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2", torch.complex64: "C64"}
    rng = random.Random(5)

    def pack(state, metadata):
        header, data = {}, b""
        if metadata is not None:
            header["__metadata__"] = metadata
        for name, t in state.items():
            raw = row_major(t)
            header[name] = {"dtype": names[t.dtype], "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        text = json.dumps(header, ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + data

    state = {n: bits(d, k * 3, rng).view(-1, 3) for (d, n), k in zip(zip(names, NAMES), range(len(names)))}
    for label, metadata in (("plain", None), ("metadata", {"format": "pt", "über": "\n\"", "x" * 1000: ""})):
        with open(os.path.join(dest, label + ".safetensors"), "wb") as f:
            f.write(pack(state, metadata))
        truth.append({"file": label + ".safetensors", "tensors": tensors(state, folder=True)})
    folder = os.path.join(dest, "sharded")
    os.mkdir(folder)
    weight_map = {}
    for i, part in enumerate((dict(list(state.items())[:5]), dict(list(state.items())[5:]))):
        name = "model-%05d-of-00002.safetensors" % (i + 1)
        with open(os.path.join(folder, name), "wb") as f:
            f.write(pack(part, {"format": "pt"}))
        weight_map.update({k: name for k in part})
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump({"metadata": {"total_size": sum(t.numel() * t.element_size() for t in state.values())}, "weight_map": weight_map}, f)
    truth.append({"file": "sharded", "tensors": tensors(state, folder=True)})


def worker(rank, world, port, folder):
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_state_dict
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    full = {"rows": torch.arange(35.0).view(7, 5), "columns": torch.arange(30, dtype=torch.bfloat16).view(5, 6), "both": torch.arange(7 * 9, dtype=torch.int32).view(7, 9), "copy": torch.arange(4.0), "tiny": torch.ones(1)}
    mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp",))
    state = {"rows": distribute_tensor(full["rows"], mesh, [Shard(0)]), "columns": distribute_tensor(full["columns"], mesh, [Shard(1)]), "copy": distribute_tensor(full["copy"], mesh, [Replicate()]),
             "tiny": distribute_tensor(full["tiny"], mesh, [Shard(0)]), "plain": torch.full((3,), 7.0), "number": 5, "nested": {"list": [torch.ones(2), torch.zeros(2)], "über/x": torch.ones(1)}}
    if world == 4:
        grid = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        state["both"] = distribute_tensor(full["both"], grid, [Shard(0), Shard(1)])
        state["same"] = distribute_tensor(full["both"], grid, [Shard(0), Shard(0)])
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(5, 3), nn.Sequential(nn.Linear(3, 7, bias=False), nn.BatchNorm1d(7)))
    fully_shard(model[1], mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    model(torch.ones(4, 5)).square().sum().backward()
    optimizer.step()
    state["model"], state["optimizer"] = get_state_dict(model, optimizer)
    dcp.save(state, checkpoint_id=folder)
    dist.barrier()
    dist.destroy_process_group()


def write_folders(dest, truth):
    import socket
    import torch.distributed.checkpoint as dcp
    import torch.multiprocessing as mp
    from torch.distributed.checkpoint.format_utils import dcp_to_torch_save
    folder = os.path.join(dest, "dcp_single")
    dcp.save({"w": torch.arange(6.0).view(2, 3), "views": [torch.arange(9.0)[::2], torch.arange(9.0).view(3, 3).t()], "half": torch.ones(3, dtype=torch.float16), "text": "x", "empty": torch.empty(0, 4)}, checkpoint_id=folder, no_dist=True)
    folders = [folder]
    for world in (2, 4):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        folders.append(os.path.join(dest, "dcp_world_%d" % world))
        mp.spawn(worker, (world, port, folders[-1]), nprocs=world)
    for folder in folders:
        one = folder + ".tmp"
        dcp_to_torch_save(folder, one)
        truth.append({"file": os.path.basename(folder), "tensors": tensors(torch.load(one, weights_only=False), folder=True)})
        os.remove(one)


def main():
    dest = sys.argv[1]
    os.makedirs(dest, exist_ok=True)
    truth = []
    write_files(dest, truth)
    write_safetensors(dest, truth)
    if "--dist" in sys.argv[2:]:
        write_folders(dest, truth)
    with open(os.path.join(dest, "truth.jsonl"), "w") as f:
        for line in truth:
            f.write(json.dumps(line) + "\n")
    print(len(truth), "checkpoints")


if __name__ == "__main__":
    main()
