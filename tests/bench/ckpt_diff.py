#!/usr/bin/env python3
"""Diff + statistics of two checkpoints against the read bandwidth of this machine and against torch, in one run.

torch has no diff: its peer is the sequence of operations that gives the same numbers (equal, largest difference, NaN counts and
norms of both sides), on tensors already loaded. Options: --json (one flat object), --mib N (size of one side, default 512).
"""
import json
import os
import subprocess
import sys
import tempfile
import time


def torch_seconds(torch, a, b):
    best = 1e9
    for _ in range(3):
        t = time.perf_counter()
        torch.equal(a, b)
        (a - b).abs().max()
        for x in (a, b):
            x.isnan().sum()
            x.norm()
        best = min(best, time.perf_counter() - t)
    return best


def main():
    import torch
    as_json = "--json" in sys.argv
    mib = int(sys.argv[sys.argv.index("--mib") + 1]) if "--mib" in sys.argv else 512
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    probe = os.environ.get("LOCKSTEP_BENCH_PROBE", os.path.join(root, "build", "bench", "ckpt_diff_probe"))
    if not os.path.exists(probe):
        sys.exit("%s is missing; run ./dev build" % probe)
    torch.set_num_threads(min(8, os.cpu_count() or 1))
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
            size = torch.tensor([], dtype=dtype).element_size()
            a = torch.randn((mib << 20) // size, dtype=torch.float32).to(dtype)
            b = (a.float() * 1.01).to(dtype)
            files = [os.path.join(folder, side + ".pt") for side in "ab"]
            torch.save({"w": a}, files[0])
            torch.save({"w": b}, files[1])
            got = json.loads(subprocess.run([probe] + files, check=True, stdout=subprocess.PIPE).stdout)
            assert got["differing"] == int((a != b).sum()), "the probe counts other elements than torch"
            peer = torch_seconds(torch, a, b)
            result[name + "_read_gbps"] = got["bytes"] / got["read_s"] / 1e9
            result[name + "_diff_gbps"] = got["bytes"] / got["diff_s"] / 1e9
            result[name + "_of_read"] = got["read_s"] / got["diff_s"]
            result[name + "_torch_gbps"] = got["bytes"] / peer / 1e9
            result[name + "_over_torch"] = peer / got["diff_s"]
    result = {k: round(v, 3) for k, v in result.items()}
    if as_json:
        print(json.dumps(result))
        return
    for name in ("f32", "bf16"):
        print("%s: %.1f GB/s, %.0f %% of the read bandwidth of %.1f GB/s (goal 60 %%), %.1fx torch's %.2f GB/s (goal 10x)"
              % (name, result[name + "_diff_gbps"], 100 * result[name + "_of_read"], result[name + "_read_gbps"],
                 result[name + "_over_torch"], result[name + "_torch_gbps"]))


if __name__ == "__main__":
    main()
