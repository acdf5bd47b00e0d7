"""./dev bench engine [--json]: the engine beside Python torch, in turn, in one go.

single     step time of toy-mlp in one process against Python, medians; neither side records anything
ddp2       the same under DDP with two ranks
launch     launch to finish of 640 steps with two ranks, recording, lockstep-worker against torchrun
recording  step time with recording (level step) against without, median over the workloads
Python reads its batches through a DataLoader, as the published script does. In brackets: C++ with recording, and C++
against a Python that cuts its batches from tensors. All ratios are C++ / Python except the last.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engine_runs import WORKLOADS, Runs, default_worker, ratios  # noqa: E402


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--json", action="store_true"), a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--steps", type=int, default=1000)
    a.add_argument("--worker", default=default_worker())
    a.add_argument("--only", default="single,ddp2,launch,recording")
    o = a.parse_args()
    only = o.only.split(",")
    result = {}

    def say(*text):
        if not o.json:
            print(*text, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        b = Runs(o.worker, folder, o.steps)
        for name, world, limit in (("single", 1, 0.30), ("ddp2", 2, 0.55)):
            if name in only:
                cpp, py, result[name] = ratios(o.rounds, lambda: b.cpp(world, record="off"), lambda: b.python(world))
                say(f"{name:9} C++ {cpp:7.0f} us, Python {py:7.0f} us per step: {result[name]:.3f} (limit {limit})")
                if not o.json:
                    _, _, recorded = ratios(2, lambda: b.cpp(world), lambda: b.python(world))
                    _, _, strict = ratios(2, lambda: b.cpp(world, record="off"), lambda: b.python(world, tensors=True))
                    say(f"          [with recording {recorded:.3f}, against tensors {strict:.3f}]")
        if "launch" in only:
            cpp, py, result["launch"] = ratios(3, b.launch_cpp, b.launch_torchrun)
            say(f"launch    C++ {cpp:7.2f} s, torchrun {py:7.2f} s: {result['launch']:.3f} (limit 0.25)")
        if "recording" in only:
            each = []
            for workload in WORKLOADS:
                steps = o.steps * 3 if workload == "toy-mlp" else o.steps // 2
                on, off, ratio = ratios(o.rounds, lambda: b.cpp(1, workload, "step", steps), lambda: b.cpp(1, workload, "off", steps))
                each.append(ratio)
                say(f"recording {workload:10} on {on:7.0f} us, off {off:7.0f} us per step: {ratio:.3f}")
            result["recording"] = statistics.median(each)
            say(f"recording median {result['recording']:.3f} (limit 1.02), worst {max(each):.3f} (limit 1.05)")
    if o.json:
        print(json.dumps(result))


main()
