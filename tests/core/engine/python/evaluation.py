"""The evaluation pass: replayed by the twin in every bit, and nothing of the training moves. (parity.py holds it against Python.)

evaluation.py WORKER [--worlds 0,3] [--python]
Of every case four runs: with evaluation, without (all that was recorded and saved must be the same), as a twin, and with
fault F9 (which counts the repeats and changes nothing else). --python: against Python torch, too.
"""
import argparse
import os
import sys
import tempfile

import torch

import parity
import wire
from twin import NOT_COMPARED

LOSS, METRIC = 20, {90, 91, 92, 93, 94}
BASE = dict(seed=5, sampler_seed=1, record="tensor", optimizer="adamw", lr=2e-3, steps=5)
CASES = [dict(BASE, workload="toy-mlp", batch=32, eval_every=1), dict(BASE, workload="digits-cnn", batch=48, eval_every=2),
         dict(BASE, workload="digits-cnn", batch=16, accumulate=2, amp="bf16", eval_every=2),
         dict(BASE, workload="char-gpt", batch=8, eval_every=2, workload_options={"ragged": "1"})]
SIZES = {"toy-mlp": 211, "digits-cnn": 359, "char-gpt": 101}


def recorded(path, rank):
    """{row: values} of one rank, wall times, collectives and the metric left out"""
    steps, samples, tensors = wire.read(path)
    rows = {("step",) + key: {q: v for q, v in values.items() if q[0] not in NOT_COMPARED | METRIC} for key, values in steps.items()}
    rows |= {("samples",) + key: v for key, v in samples.items()} | {("tensor",) + key: v for key, v in tensors.items()}
    return {row: v for row, v in rows.items() if row[1] == rank}


def metric(path, rank):
    steps = wire.read(path)[0]
    return {step: {q[0]: v for q, v in values.items() if q[0] in METRIC} for (r, step), values in steps.items() if r == rank}


def comes_after_its_step(path):
    """Whether each evaluation has a record of its own behind that of its step: one that fails must not take it along."""
    recorded = set()
    for kind, payload in wire.frames(path):
        if kind == wire.STEP:
            rank, step, values = wire.step_record(payload)
            evaluates = {quantity for quantity, _ in values} & METRIC
            if evaluates and (step not in recorded or any(quantity == LOSS for quantity, _ in values)):
                return False
            recorded.add(step)
    return True


def model_bytes(folder, k, steps):
    path = os.path.join(folder, f"run{k}", "checkpoints", f"step_{steps:08d}.pt")
    return {name: t.numpy().tobytes() for name, t in torch.load(path, weights_only=True)["model"].items()}


def judge_world(worker, world, python):
    """-> cases, values compared, what was wrong"""
    ranks, wrong, compared = max(world, 1), [], 0
    mode = dict(mode="ddp", world=world) if world else dict(mode="single")
    with tempfile.TemporaryDirectory() as folder:
        configs = []
        for case in CASES:
            on = dict(case, **mode)
            configs += [on, dict(on, eval_every=0), dict(on, faults=[dict(id="F9", parameters={})]) if world else on]
        parity.run(worker, world, configs, folder, python)
        if world:
            twins = os.path.join(folder, "twins")
            os.mkdir(twins)
            twin_configs = [dict(c, mode="twin") for c in configs]
            files = []
            for k, c in enumerate(twin_configs):
                files += ["--config", parity.write(c, os.path.join(twins, f"{k}.json")), "--stream", os.path.join(twins, f"{k}.bin")]
            parity.launch(lambda rank: [worker] + files, 1)
        for n, case in enumerate(CASES):
            on, off, faulty = 3 * n, 3 * n + 1, 3 * n + 2
            name = f"{case['workload']} at world {world or 'single'}"
            if model_bytes(folder, on, case["steps"]) != model_bytes(folder, off, case["steps"]):
                wrong.append(f"{name}: evaluating changed the saved model")
            for rank in range(ranks):
                path = lambda k: os.path.join(folder, f"{k}_r{rank}.bin")
                for k in {on, faulty} if python else ():
                    count, differ = parity.compare(folder, k, rank, configs[k])
                    compared += count
                    wrong += [f"{name}, rank {rank}, against Python: {d}" for d in differ]
                rows = recorded(path(on), rank)
                compared += len(rows)
                for other, what in ((off, "evaluating"), (faulty, "F9")):
                    if rows != recorded(path(other), rank):
                        wrong.append(f"{name}, rank {rank}: {what} changed the training")
                if not comes_after_its_step(path(on)):
                    wrong.append(f"{name}, rank {rank}: an evaluation is recorded before its step")
                seen = metric(path(on), rank)
                due = [s for s in seen if s and s % case["eval_every"] == 0]
                size = SIZES[case["workload"]]
                if [s for s, v in sorted(seen.items()) if v] != sorted(due) or any(seen[s][92] != size for s in due):
                    wrong.append(f"{name}, rank {rank}: evaluated {seen}")
                if world and any(v[92] != -(-size // world) * world for s, v in metric(path(faulty), rank).items() if v):
                    wrong.append(f"{name}, rank {rank}: F9 did not count the padding")
                for k in {on, faulty} if world else ():
                    twin = os.path.join(folder, "twins", f"{k}.bin")
                    if metric(twin, rank) != metric(path(k), rank) or recorded(twin, rank) != recorded(path(k), rank):
                        wrong.append(f"{name}, rank {rank}: the twin of run {k} differs")
    return len(CASES), compared, wrong


def main():
    a = argparse.ArgumentParser()
    a.add_argument("worker"), a.add_argument("--worlds", default="0,3")
    a.add_argument("--python", action="store_true")
    o = a.parse_args()
    bad = 0
    for world in map(int, o.worlds.split(",")):
        cases, compared, wrong = judge_world(os.path.abspath(o.worker), world, o.python)
        bad += len(wrong) + (not compared)
        print(f"world {world or 'single'}: {cases} cases, {compared} values compared bit by bit, {len(wrong)} wrong", flush=True)
        for w in wrong[:8]:
            print("   ", w, flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
