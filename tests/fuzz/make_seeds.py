#!/usr/bin/env python3
"""Seeds of the fuzz targets, one folder per target: python3 make_seeds.py DEST [CORPUS]

From tests/core/ckpt/make_hostile.py, and from a checkpoint corpus if one is given. Seeds are at most 16 KiB, those of the folder
target, which opens every item as an archive of its own and is the slowest, 6 KiB."""
import os, struct, subprocess, sys, tempfile, zipfile

LIMIT = 16384
DCP_LIMIT = 6144
HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    dest = sys.argv[1]
    roots = [sys.argv[2]] if len(sys.argv) > 2 and os.path.isdir(sys.argv[2]) else []
    count = 0

    def put(target, data):
        nonlocal count
        if 0 < len(data) <= (DCP_LIMIT if target == "dcp" else LIMIT):
            folder = os.path.join(dest, target)
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "seed_%05d" % count), "wb") as f:
                f.write(data)
            count += 1

    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([sys.executable, os.path.join(HERE, "..", "core", "ckpt", "make_hostile.py"), tmp], check=True, stdout=subprocess.DEVNULL)
        for root in [tmp] + roots:
            for folder, _, names in sorted(os.walk(root)):
                for name in sorted(names):
                    path = os.path.join(folder, name)
                    if name.endswith((".json", ".jsonl", ".py", ".md")) or os.path.islink(path) or os.path.getsize(path) > 4 * LIMIT:
                        continue
                    with open(path, "rb") as f:
                        data = f.read()
                    if name == ".metadata" and len(data) < 65536:
                        item = os.path.join(folder, "__0_0.distcp")
                        if os.path.isfile(item) and not os.path.islink(item):
                            with open(item, "rb") as f:
                                put("dcp", struct.pack("<H", len(data)) + data + f.read())
                    elif data[:2] == b"PK":
                        put("zip", data)
                        try:
                            with zipfile.ZipFile(path) as z:
                                for n in z.namelist():
                                    if n.endswith("data.pkl"):
                                        put("pickle", z.read(n))
                        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zipfile.zlib.error):
                            pass
                    elif data[:1] == b"\x80" or data[257:262] == b"ustar":
                        put("legacy", data)
                        put("pickle", data)
                    elif data[8:9] == b"{" or name.endswith(".safetensors"):
                        put("safetensors", data)
    print(count, "seeds")


if __name__ == "__main__":
    main()
