"""Is lockstep-worker equal to Python torch in every bit? Prints a table; exit status 1 if a cell is not equal.

parity.py WORKER [--worlds 1,2,3,4] [--filter TEXT] [--keep DIR]
A cell compares, of every rank and step: losses, sample order, learning rate, norms and projections of local, reduced and
clipped gradients, update norm, fingerprints of parameters, buffers, optimizer state and generator; of every parameter
its local and reduced gradient, update and value; and at the end every byte of the state_dict in the checkpoint.
"""
import argparse
import json
import os
import pickle
import sys
import tempfile

import torch

import reference
import wire
from processes import launch, launch_forked

TOY, DIGITS, GPT = (dict(workload=w) for w in ("toy-mlp", "digits-cnn", "char-gpt"))
PER_STEP = {"toy-mlp": 144, "digits-cnn": 192, "char-gpt": 48}  # samples of all ranks in an optimizer step: 7, 10, 31 an epoch
TWO_EPOCHS = ("plain", "K=2", "drop last", "python order", "python order, K=2")  # digits-cnn; toy-mlp always
SAMPLES = {"toy-mlp": 1000, "digits-cnn": 1797, "char-gpt": 1463}
OPTIMIZERS = {"sgd": dict(optimizer="sgd", lr=0.05, weight_decay=1e-3), "adam": dict(optimizer="adam", lr=2e-3),
              "adamw": dict(optimizer="adamw", lr=2e-3, weight_decay=0.1)}
UNUSED = dict(find_unused=True, workload_options={"unused_layer": "1"})
FEATURES = {"plain": {}, "bucket view": dict(bucket_view=True), "find unused": UNUSED, "K=2": dict(accumulate=2),
            "clip 0.7": dict(clip_norm=0.7)}
MORE = {  # with one optimizer each
    "clip 0.5": dict(clip_norm=0.5), "clip 0.03": dict(clip_norm=0.03), "clip value": dict(clip_value=0.01),
    "step": dict(scheduler="step", scheduler_period=5), "cosine": dict(scheduler="cosine", scheduler_period=7),
    "warmup": dict(scheduler="warmup", scheduler_period=6), "small buckets": dict(bucket_mb=0.01),
    "small buckets, view": dict(bucket_mb=0.01, bucket_view=True), "static graph": dict(static_graph=True),
    "K=2, clip 0.7, cosine, view": dict(accumulate=2, clip_norm=0.7, scheduler="cosine", scheduler_period=4, bucket_view=True),
    "K=3, find unused, small buckets": dict(accumulate=3, bucket_mb=0.01, **UNUSED), "drop last": dict(drop_last=True),
}
INF = dict(scaler_scale=float(2**24), scaler_growth_interval=3)  # the first steps overflow, later ones grow the scale again
AMP = [("toy-mlp", "sgd", "bf16", dict(amp="bf16")), ("toy-mlp", "adam", "fp16, steps with inf", dict(amp="fp16", **INF)),
       ("digits-cnn", "adamw", "bf16, K=2, clip 0.7", dict(amp="bf16", accumulate=2, clip_norm=0.7)),
       ("digits-cnn", "sgd", "fp16, clip 0.7, clip value", dict(amp="fp16", clip_norm=0.7, clip_value=0.01)),
       ("char-gpt", "adam", "bf16", dict(amp="bf16")),
       ("char-gpt", "adamw", "fp16, K=2, steps with inf", dict(amp="fp16", accumulate=2, workload_options={"ragged": "1"}, **INF))]
RAGGED = dict(workload_options={"ragged": "1"})
SINGLE = {"python order": dict(order="python"), "python order, K=2": dict(order="python", accumulate=2),
          "aligned with 3 ranks": dict(align_world=3), "aligned with 2 ranks, K=2, clip 0.7":
          dict(align_world=2, accumulate=2, clip_norm=0.7)}


def cases(world):
    """-> [(row, column, configuration)]; world 0 is mode single."""
    out = []
    for base in (TOY, DIGITS):
        if world == 0:
            for o, opt in OPTIMIZERS.items():
                out += [(base["workload"], o, f, {**base, **opt, "mode": "single", **more}) for f, more in SINGLE.items()]
            continue
        common = dict(base, mode="ddp", world=world)
        for o, opt in OPTIMIZERS.items():
            out += [(base["workload"], o, f, {**common, **opt, **more}) for f, more in FEATURES.items()]
        for i, (f, more) in enumerate(MORE.items()):
            o = list(OPTIMIZERS)[i % 3]
            out.append((base["workload"], o, f, {**common, **OPTIMIZERS[o], **more}))
    if world > 0:
        for o, f, more in (("sgd", "plain", {}), ("adam", "ragged", RAGGED), ("adamw", "ragged, K=2, clip 0.7", dict(RAGGED, accumulate=2, clip_norm=0.7))):
            out.append(("char-gpt", o, f, dict(GPT, mode="ddp", world=world, **OPTIMIZERS[o], **more)))
    mode = dict(mode="ddp", world=world) if world else dict(mode="single")
    amp = {0: AMP, 1: AMP[3:4], 2: AMP, 3: AMP[1:3], 4: [AMP[1], AMP[4]]}[world]
    out += [(w, o, f, {"workload": w, **OPTIMIZERS[o], **mode, **more}) for w, o, f, more in amp]
    evaluated = [("toy-mlp", "sgd", "evaluated", {}), ("digits-cnn", "adam", "evaluated, bf16", dict(amp="bf16")),
                 ("char-gpt", "adamw", "evaluated, ragged", RAGGED)]
    if world > 1:  # it counts the repeats, as Python does that does not cut them off
        evaluated.append(("digits-cnn", "adamw", "evaluated, F9", dict(faults=[dict(id="F9", parameters={})])))
    out += [(w, o, f, {"workload": w, **OPTIMIZERS[o], **mode, "eval_every": 4, **more}) for w, o, f, more in evaluated]
    for i, (workload, _, feature, config) in enumerate(out):
        ranks = max(world, config.get("align_world", 1))
        per_step, steps = PER_STEP[workload], 8  # which see every change of a schedule and of the scale
        if workload == "digits-cnn" and feature in TWO_EPOCHS:
            steps = -(-SAMPLES[workload] // per_step) + 1
        elif workload == "digits-cnn":
            per_step //= 2
        batch = per_step // (ranks * config.get("accumulate", 1))
        config.update(batch=batch, record="tensor", seed=100 + i, sampler_seed=i, steps=steps)
    return out


def write(config, path):
    json.dump(config, open(path, "w"))
    return path


def run(worker, world, configs, folder, python=True):
    """Every configuration by the workers of one process group, and by the ranks of Python torch in another."""
    ranks = max(world, 1)
    files = []
    for k, config in enumerate(configs):
        files.append(write(config, os.path.join(folder, f"{k}.json")))

    def command(rank):
        args = [worker]
        for k, f in enumerate(files):
            args += ["--config", f, "--stream", os.path.join(folder, f"{k}_r{rank}.bin"), "--run-folder", os.path.join(folder, f"run{k}")]
        return args

    launch(command, ranks)
    if python:
        reference.prepare()
        launch_forked(lambda: reference.train_all(configs, folder), ranks)


FIGURES = {40, 41, 42, 43, 44, 45, 50}  # computed by us from torch's tensors


def is_nan(bits):
    return isinstance(bits, int) and bits & (0x7FF << 52) == 0x7FF << 52 and bits & ((1 << 52) - 1) != 0


def compare(folder, k, rank, config):
    """-> (values compared, list of the first differences)"""
    steps, samples, tensors = wire.read(os.path.join(folder, f"{k}_r{rank}.bin"))
    judge = pickle.load(open(os.path.join(folder, f"{k}_r{rank}.pkl"), "rb"))
    compared, wrong = 0, []

    def check(what, ours, theirs, figure=False):
        nonlocal compared
        compared += 1
        if figure and is_nan(ours) and is_nan(theirs):
            return  # of gradients with inf: the sign of a NaN is nobody's business
        if ours != theirs and len(wrong) < 5:
            wrong.append(f"{what}: {ours} against {theirs}")

    check("steps", sorted(s for _, s in steps), sorted(judge["steps"]))
    for step, values in judge["steps"].items():
        ours = steps.get((rank, step), {})
        for key, value in values.items():
            check(f"step {step} quantity {key}", ours.get(key), value, key[0] in FIGURES)
    for (step, micro), ids in judge["samples"].items():
        check(f"step {step} samples", samples.get((rank, step, micro)), ids)
    for (step, name), fields in judge["tensors"].items():
        ours = tensors.get((rank, step, name), {})
        for field, value in fields.items():
            check(f"step {step} {name} {field}", ours.get(field), value, not field.endswith("print"))
    if rank == 0:
        saved = torch.load(os.path.join(folder, f"run{k}", "checkpoints", f"step_{config['steps']:08d}.pt"), weights_only=True)
        check("state_dict keys", list(saved["model"]), list(judge["model"]))
        for name, value in judge["model"].items():
            check(f"state_dict {name}", saved["model"][name].numpy().tobytes(), value.tobytes())
        check("scaler", saved.get("scaler", {}), judge["scaler"])
        check("lr in the checkpoint", saved["optimizer"]["param_groups"][0]["lr"], judge["lr"])
    return compared, wrong


def judge_world(worker, world, text, keep):
    todo = [c for c in cases(world) if text in " ".join(c[:3])]
    if not todo:
        return 0, 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or temporary
        run(worker, world, [c[3] for c in todo], folder)
        total, bad = 0, 0
        for k, (workload, optimizer, feature, config) in enumerate(todo):
            results = [compare(folder, k, r, config) for r in range(max(world, 1))]
            count = sum(n for n, _ in results)
            wrong = [f"rank {r}: {w}" for r, (_, ws) in enumerate(results) for w in ws]
            total, bad = total + count, bad + bool(wrong or not count)
            verdict = "equal" if not wrong and count else "DIFFERS"
            print(f"{world or 'single':>6} | {workload:10} | {optimizer:5} | {feature:32} | {count:8} | {verdict}", flush=True)
            for w in wrong[:6]:
                print("         ", w)
    return len(todo), total, bad


def main():
    a = argparse.ArgumentParser()
    a.add_argument("worker"), a.add_argument("--worlds", default="0,1,2,3,4"), a.add_argument("--filter", default="")
    a.add_argument("--keep")
    o = a.parse_args()
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
    print(f"{'world':>6} | {'workload':10} | {'optim':5} | {'setting':32} | {'values':>8} | verdict")
    sums = [judge_world(os.path.abspath(o.worker), w, o.filter, o.keep) for w in map(int, o.worlds.split(","))]
    cells, values, bad = (sum(s) for s in zip(*sums))
    print(f"{cells} cells, {values} values compared bit by bit, {bad} cells not equal")
    sys.exit(1 if bad or not cells else 0)


if __name__ == "__main__":
    main()
