"""Starts lockstep-worker and its Python peer for measurements; used by engine.py and record.py."""
import array
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "core", "engine", "python"))
from processes import launch  # noqa: E402

PEER = os.path.join(HERE, "engine_peer.py")
WORKLOADS = ("toy-mlp", "digits-cnn", "char-gpt")


def median_step(path):
    ends = array.array("q")
    with open(path, "rb") as f:
        ends.frombytes(f.read())
    return statistics.median(b - a for a, b in zip(ends, ends[1:])) / 1e3  # us


class Runs:
    def __init__(self, worker, folder, steps):
        self.worker, self.folder, self.steps = worker, folder, steps

    def file(self, name):
        return os.path.join(self.folder, name)

    def cpp(self, world, workload="toy-mlp", record="step", steps=None):
        config = dict(mode="ddp" if world > 1 else "single", world=world, workload=workload, record=record, steps=steps or self.steps)
        with open(self.file("run.json"), "w") as f:
            json.dump(config, f)
        launch(lambda r: [self.worker, "--config", self.file("run.json"), "--stream", self.file(f"stream{r}"), "--times", self.file(f"times{r}")], world)
        return median_step(self.file("times0"))

    def python(self, world, tensors=False):
        os.environ.pop("LOCKSTEP_PEER_TENSORS", None)
        if tensors:
            os.environ["LOCKSTEP_PEER_TENSORS"] = "1"
        launch(lambda r: [sys.executable, PEER, "ddp" if world > 1 else "single", str(self.steps), self.file("peer")], world)
        return median_step(self.file("peer"))

    def launch_cpp(self):
        start = time.perf_counter()
        self.cpp(2, steps=640)
        return time.perf_counter() - start

    def launch_torchrun(self):
        torchrun = os.path.join(os.path.dirname(sys.executable), "torchrun")
        start = time.perf_counter()
        ended = subprocess.run([torchrun, "--standalone", "--nproc-per-node=2", PEER, "ddp", "640"],
                               env=dict(os.environ, OMP_NUM_THREADS="1"), capture_output=True, text=True)
        if ended.returncode:
            sys.exit(f"torchrun ended with {ended.returncode}:\n{ended.stderr}")
        return time.perf_counter() - start


def ratios(rounds, ours, theirs):
    """In turn, so that a machine that gets slower meanwhile slows both. -> median of ours, of theirs, of the ratios"""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return (statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs),
            statistics.median(a / b for a, b in pairs))


def default_worker():
    return os.path.join(ROOT, "build", "bin", "lockstep-worker")
