"""./dev bench record [--json]: what recording costs, per workload and level, against a run that records nothing.

step    the numbers of a step: norms, projections, fingerprints, sample ids
tensor  the same and one record per parameter and buffer
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from engine_runs import WORKLOADS, Runs, default_worker, ratios  # noqa: E402


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--json", action="store_true"), a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--steps", type=int, default=600), a.add_argument("--worker", default=default_worker())
    o = a.parse_args()
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(o.worker, folder, o.steps)
        for level, median, worst in (("step", 1.02, 1.05), ("tensor", 1.15, None)):
            each = []
            for workload in WORKLOADS:
                steps = o.steps * 4 if workload == "toy-mlp" else o.steps
                on, off, ratio = ratios(o.rounds, lambda: runs.cpp(1, workload, level, steps), lambda: runs.cpp(1, workload, "off", steps))
                each.append(ratio)
                result[f"{level}_{workload}"] = ratio
                if not o.json:
                    print(f"{level:6} {workload:10} on {on:7.0f} us, off {off:7.0f} us per step: {ratio:.3f}", flush=True)
            result[f"{level}_median"], result[f"{level}_worst"] = statistics.median(each), max(each)
            if not o.json:
                print(f"{level:6} median {statistics.median(each):.3f} (limit {median}), worst {max(each):.3f} (limit {worst})", flush=True)
    if o.json:
        print(json.dumps(result))


main()
