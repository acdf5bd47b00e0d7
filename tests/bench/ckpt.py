#!/usr/bin/env python3
"""Speed of the checkpoint reader beside torch's own, in one run.

  python3 tests/bench/ckpt.py [--cli build/bin/lockstep-cli] [--json FILE|-] [--size GB] [--tensors N] [--keep DIR]

Measures the keys of a large sparse file, the keys of a file with many tensors, and the checksum of every byte of a warm file.
Prints a table; --json writes one flat object of numbers. Needs a torch for the comparison only."""
import argparse, json, os, pickle, resource, shutil, struct, subprocess, sys, tempfile, time, zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def state_dict_pickle(count, numel):
    """data.pkl of a state dict of `count` float32 tensors, byte for byte of the form torch.save writes."""
    out = [b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01("]
    memo = 2

    def put():
        nonlocal memo
        code = b"q" + bytes([memo]) if memo < 256 else b"r" + struct.pack("<I", memo)
        memo += 1
        return code

    def get(i):
        return b"h" + bytes([i]) if i < 256 else b"j" + struct.pack("<I", i)

    def text(s):
        return b"X" + struct.pack("<I", len(s)) + s.encode() + put()

    def number(n):
        if n < 256:
            return b"K" + bytes([n])
        return b"M" + struct.pack("<H", n) if n < 65536 else b"J" + struct.pack("<i", n)

    known = {}

    def glob(name):
        if name not in known:
            code = b"c" + name.replace(" ", "\n").encode() + b"\n"
            known[name] = memo
            return code + put()
        return get(known[name])

    cpu = {}
    for i in range(count):
        out.append(text("layers.%d.block.weight" % i))
        out.append(glob("torch._utils _rebuild_tensor_v2") + b"((")
        out.append(text("storage") if "s" not in cpu else get(cpu["s"]))
        cpu.setdefault("s", memo - 1)
        out.append(glob("torch FloatStorage") + text(str(i)))
        out.append(text("cpu") if "c" not in cpu else get(cpu["c"]))
        cpu.setdefault("c", memo - 1)
        out.append(number(numel) + b"t" + put() + b"Q" + b"K\x00" + number(numel) + b"\x85" + put() + b"K\x01\x85" + put() + b"\x89")
        out.append(get(0) + b")R" + put() + b"t" + put() + b"R" + put())
    out.append(b"u.")
    return b"".join(out)


def write_sparse(path, count, numel):
    """A torch zip whose storages are holes; the checksum of each is that of zeros."""
    size = 4 * numel
    crc, left, zeros = 0, size, bytes(1 << 20)
    while left:
        crc = zlib.crc32(zeros[:min(left, len(zeros))], crc)
        left -= min(left, len(zeros))
    directory = []
    with open(path, "wb") as f:
        def record(name, data, size, crc):
            start = f.tell()
            name = ("bench/" + name).encode()
            pad = -(start + 30 + len(name) + 4) % 64
            extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
            f.write(struct.pack("<IHHHHHIIIHH", 0x04034b50, 0, 0x808, 0, 0, 0, 0, 0, 0, len(name), len(extra)) + name + extra)
            if data is None:
                f.seek(size, 1)
            else:
                f.write(data)
            f.write(struct.pack("<IIII", 0x08074b50, crc, size, size))
            directory.append((name, start, size, crc))
        pkl = state_dict_pickle(count, numel)
        record("data.pkl", pkl, len(pkl), zlib.crc32(pkl))
        record("byteorder", b"little", 6, zlib.crc32(b"little"))
        for i in range(count):
            record("data/%d" % i, None, size, crc)
        record("version", b"3\n", 2, zlib.crc32(b"3\n"))
        start = f.tell()
        for name, header, size, crc in directory:
            big = struct.pack("<HHQ", 1, 8, header) if header >= 0xffffffff else b""
            f.write(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 0, 45 if big else 0, 0x808, 0, 0, 0, crc, size, size, len(name),
                                len(big), 0, 0, 0, 0, 0xffffffff if big else header) + name + big)
        end = f.tell()
        n = len(directory)
        f.write(struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 0x31e, 45, 0, 0, n, n, end - start, start))
        f.write(struct.pack("<IIQI", 0x07064b50, 0, end, 1))
        f.write(struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, min(n, 0xffff), min(n, 0xffff), min(end - start, 0xffffffff),
                            0xffffffff, 0))


MEASURE = ("import os,resource,subprocess,sys,time\n"
           "t=time.perf_counter(); p=subprocess.Popen(sys.argv[1:],stdout=subprocess.DEVNULL); _,s,r=os.wait4(p.pid,0)\n"
           "print(time.perf_counter()-t, r.ru_maxrss/1024, s)")


def process(command, repeats=7):
    """Best wall seconds and largest memory in MiB of a whole process. Each run has a small parent of its own: a child starts
    with its parent's resident size."""
    best, memory = 1e9, 0
    for _ in range(repeats):
        out = subprocess.run([sys.executable, "-S", "-c", MEASURE] + command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        if int(out[2]) != 0:
            raise SystemExit("failed: " + " ".join(command))
        best, memory = min(best, float(out[0])), max(memory, float(out[1]))
    return best, memory


TORCH_KEYS = ("import sys,time,torch\n"
              "t=time.perf_counter(); d=torch.load(sys.argv[1],mmap=True,weights_only=True); n=[(k,tuple(v.shape)) for k,v in d.items()]\n"
              "print(time.perf_counter()-t)")
ZLIB_CRC = ("import sys,time,zipfile,zlib\n"
            "t=time.perf_counter(); z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(time.perf_counter()-t)")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--cli", default=os.path.join(ROOT, "build", "bin", "lockstep-cli"))
    ap.add_argument("--python", default=os.path.join(ROOT, ".venv", "bin", "python"), help="a Python with torch")
    ap.add_argument("--json", help="file for the numbers, - for standard output")
    ap.add_argument("--size", type=float, default=10, help="size of the sparse file in GB")
    ap.add_argument("--tensors", type=int, default=50000)
    ap.add_argument("--warm", type=float, default=2, help="size in GB of the file whose checksums are verified from the page cache")
    ap.add_argument("--keep", help="folder for the files; default: a temporary one")
    a = ap.parse_args()
    folder = a.keep or tempfile.mkdtemp(prefix="lockstep-ckpt-bench-")
    os.makedirs(folder, exist_ok=True)
    numbers, rows = {}, []
    try:
        sparse, many, warm = (os.path.join(folder, n) for n in ("sparse.pt", "many.pt", "warm.pt"))
        write_sparse(sparse, 500, int(a.size * 1e9 / 4 / 500))
        write_sparse(many, a.tensors, 16)
        write_sparse(warm, 64, int(a.warm * 1e9 / 4 / 64))
        has_torch = os.path.exists(a.python)
        for name, path, count in (("keys_sparse", sparse, 500), ("keys_many", many, a.tensors)):
            seconds, memory = process([a.cli, "ckpt", "ls", path])
            numbers[name + "_ms"], numbers[name + "_rss_mib"] = seconds * 1e3, memory
            row = ["%d tensors, %.1f GB" % (count, os.path.getsize(path) / 1e9), "%.1f ms, %.0f MiB" % (seconds * 1e3, memory)]
            if has_torch:
                total, peak = process([a.python, "-c", TORCH_KEYS, path], 2)
                call = float(subprocess.run([a.python, "-c", TORCH_KEYS, path], stdout=subprocess.PIPE, text=True).stdout)
                numbers[name + "_torch_ms"], numbers[name + "_torch_call_ms"], numbers[name + "_torch_rss_mib"] = total * 1e3, call * 1e3, peak
                row.append("%.0f ms (the call alone %.0f), %.0f MiB" % (total * 1e3, call * 1e3, peak))
            rows.append(row)
        with open(warm, "rb") as f:  # into the page cache
            while f.read(1 << 24):
                pass
        base, _ = process([a.cli, "ckpt", "verify", warm, "--structure-only"], 3)
        seconds, _ = process([a.cli, "ckpt", "verify", warm], 3)
        speed = os.path.getsize(warm) / 1e9 / max(seconds - base, 1e-9)
        numbers["crc_gb_s"], numbers["crc_threads"] = speed, min(os.cpu_count() or 1, 8)
        row = ["checksums of %.1f GB, warm" % (os.path.getsize(warm) / 1e9), "%.1f GB/s" % speed]
        zseconds = float(subprocess.run([sys.executable, "-c", ZLIB_CRC, warm], stdout=subprocess.PIPE, text=True, check=True).stdout)
        numbers["crc_python_gb_s"] = os.path.getsize(warm) / 1e9 / zseconds
        row.append("%.1f GB/s (Python's zipfile; torch checks none)" % numbers["crc_python_gb_s"])
        rows.append(row)
    finally:
        if not a.keep:
            shutil.rmtree(folder, ignore_errors=True)
    widths = [max(len(r[i]) if i < len(r) else 0 for r in rows) for i in range(3)]
    print("  ".join(t.ljust(w) for t, w in zip(("", "lockstep-cli, whole process", "torch, whole process"), widths)).rstrip())
    for r in rows:
        print("  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip())
    if a.json:
        text = json.dumps(numbers, indent=1, sort_keys=True)
        if a.json == "-":
            print(text)
        else:
            with open(a.json, "w") as f:
                f.write(text + "\n")


if __name__ == "__main__":
    main()
