"""Does the twin equal the DDP run in every bit? Prints a table; exit status 1 if a cell is not equal.

twin.py WORKER [--steps 50] [--campaign] [--filter TEXT] [--worlds 3,4]
Compares every recorded quantity of every rank and step, wall times and collectives excepted, and every field of every
parameter and buffer. --campaign: the long list, 1,000 steps each.
"""
import argparse
import itertools
import json
import os
import sys
import tempfile

import wire
from processes import environment, free_port, launch
import subprocess

NOT_COMPARED = set(range(10, 17)) | {60, 61, 62}
WORKLOADS = {"toy-mlp": dict(batch=16, dropout=0.2, bucket_mb=0.02), "digits-cnn": dict(batch=16, bucket_mb=0.03),
             "char-gpt": dict(batch=8, bucket_mb=0.03, workload_options={"ragged": "1"})}
OPTIMIZERS = {"sgd": dict(optimizer="sgd", lr=0.02, weight_decay=1e-3), "adam": dict(optimizer="adam", lr=1e-3),
              "adamw": dict(optimizer="adamw", lr=1e-3, weight_decay=0.1)}
PLAIN, ACCUMULATED = {}, dict(accumulate=2, clip_norm=0.7)


def short_list():
    """Every workload, optimizer and world once with native order, the options spread over them."""
    options = [("plain", PLAIN), ("K=2, clip 0.7", ACCUMULATED), ("view, cosine", dict(bucket_view=True, scheduler="cosine", scheduler_period=9)),
               ("find unused", dict(find_unused=True)), ("K=3, find unused, warmup", dict(accumulate=3, find_unused=True, scheduler="warmup")),
               ("default buckets", dict(bucket_mb=0)), ("static graph", dict(static_graph=True)), ("clip value", dict(clip_value=0.01)),
               ("bf16", dict(amp="bf16")), ("fp16, steps with inf", dict(amp="fp16", scaler_scale=2.0**24, scaler_growth_interval=5)),
               ("K=2, view, step", dict(accumulate=2, bucket_view=True, scheduler="step", scheduler_period=7))]
    i = 0
    for workload in WORKLOADS:
        for world in (2, 3, 4, 8):
            for optimizer in OPTIMIZERS:
                if world == 8 and optimizer != list(OPTIMIZERS)[list(WORKLOADS).index(workload)]:
                    continue  # eight processes on two cores: one optimizer per workload
                name, more = options[i % len(options)]
                i += 1
                yield workload, world, optimizer, "native", name, more
        yield workload, 4, "adamw", "ordered", "K=2, clip 0.7", ACCUMULATED
        yield workload, 3, "sgd", "ordered", "plain", PLAIN


def campaign():
    """World 2 with each setting; the other worlds with the settings in turn, so that each meets every workload and optimizer."""
    settings = [("plain", PLAIN), ("K=2, clip 0.7", ACCUMULATED), ("fp16, clip 0.7", dict(amp="fp16", clip_norm=0.7))]
    for i, (workload, optimizer) in enumerate(itertools.product(WORKLOADS, OPTIMIZERS)):
        for name, more in settings:
            yield workload, 2, optimizer, "native", name, more
        for k, (world, order) in enumerate(((3, "native"), (4, "native"), (8, "native"), (4, "ordered"))):
            name, more = settings[(i + i // 3 + k) % 3]
            yield workload, world, optimizer, order, name, more


def configuration(cell, steps, seed):
    workload, world, optimizer, reduction, _, more = cell
    config = dict(workload=workload, world=world, reduction=reduction, steps=steps, seed=seed, sampler_seed=seed, record="tensor",
                  **WORKLOADS[workload], **OPTIMIZERS[optimizer])
    config.update(more)
    if config.get("find_unused"):
        config["workload_options"] = dict(config.get("workload_options", {}), unused_layer="1")
    return config


def run(worker, cells, world, steps, folder):
    """All cells of one world: one DDP process group, and one twin process."""
    for mode in ("ddp", "twin"):
        for k, cell in enumerate(cells):
            json.dump(dict(configuration(cell, steps, 500 + k), mode=mode), open(os.path.join(folder, f"{mode}{k}.json"), "w"))

    def command(mode, rank):
        args = [worker]
        for k in range(len(cells)):
            args += ["--config", os.path.join(folder, f"{mode}{k}.json"), "--stream", os.path.join(folder, f"{mode}{k}_r{rank}.bin")]
        return args

    launch(lambda rank: command("ddp", rank), world, timeout=None)
    launch(lambda rank: command("twin", rank), 1, timeout=None)


def compare(folder, k, world):
    """-> (values compared, first differences)"""
    twin = wire.read(os.path.join(folder, f"twin{k}_r0.bin"))
    count, wrong = 0, []
    for rank in range(world):
        run_ = wire.read(os.path.join(folder, f"ddp{k}_r{rank}.bin"))
        for part, (a, b) in enumerate(zip(run_, twin)):
            mine = {key for key in b if key[0] == rank}
            if set(a) != mine:
                wrong.append(f"rank {rank}: other rows: {sorted(set(a) ^ mine)[:3]}")
            for key in sorted(set(a) & mine):
                x, y = a[key], b[key]
                if part == 0:
                    x = {q: v for q, v in x.items() if q[0] not in NOT_COMPARED}
                    y = {q: v for q, v in y.items() if q[0] not in NOT_COMPARED}
                count += len(x)
                if x != y and len(wrong) < 4:
                    wrong.append(f"rank {rank}, step {key[1]}: " + (f"quantities {sorted(q for q in set(x) | set(y) if x.get(q) != y.get(q))[:12]}" if part == 0 else f"{key[2:]}"))
    return count, wrong


def main():
    a = argparse.ArgumentParser()
    a.add_argument("worker"), a.add_argument("--steps", type=int), a.add_argument("--filter", default="")
    a.add_argument("--campaign", action="store_true"), a.add_argument("--worlds", default="")
    o = a.parse_args()
    steps = o.steps or (1000 if o.campaign else 50)
    cells = [c for c in (campaign() if o.campaign else short_list()) if o.filter in " ".join(map(str, c[:5]))]
    if o.worlds:
        cells = [c for c in cells if str(c[1]) in o.worlds.split(",")]
    total, bad = 0, 0
    print(f"{'workload':10} | world | {'optim':5} | {'order':7} | {'setting':24} | {'values':>8} | verdict", flush=True)
    for world in sorted({c[1] for c in cells}):
        own = [c for c in cells if c[1] == world]
        for group in [own[i : i + 4] for i in range(0, len(own), 4)] if o.campaign else [own]:
            with tempfile.TemporaryDirectory() as folder:
                run(os.path.abspath(o.worker), group, world, steps, folder)
                for k, cell in enumerate(group):
                    count, wrong = compare(folder, k, world)
                    equal = not wrong and count > 0
                    total, bad = total + count, bad + (not equal)
                    print(f"{cell[0]:10} | {world:5} | {cell[2]:5} | {cell[3]:7} | {cell[4]:24} | {count:8} | {'equal' if equal else 'DIFFERS'}", flush=True)
                    for w in wrong[:4]:
                        print("     ", w, flush=True)
    print(f"{len(cells)} cells of {steps} steps, {total} values compared bit by bit, {bad} cells not equal")
    sys.exit(1 if bad or not cells else 0)


if __name__ == "__main__":
    main()
