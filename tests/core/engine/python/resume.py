"""Does a run that goes on from a checkpoint equal one that was never interrupted? Prints a table; exit status 1 if not.

resume.py WORKER [--campaign] [--steps N] [--filter TEXT]
Same world: every recorded quantity of every rank and step after the checkpoint (wall times excepted), up to
100 steps also every field of every parameter and buffer, the state at the checkpoint, and every byte of the tensors in the last checkpoint.
Other worlds: the samples of every step are those of the uninterrupted run; the loss of every step agrees to rounding.
--campaign: 500 steps, 3 workloads x 3 optimizers x AMP off, bf16, fp16 x single, DDP of 1, 2, 4 ranks, and the twin of 4.
"""
import argparse
import collections
import json
import os
import sys
import tempfile
import zipfile

import wire
from processes import launch

LOSS = (20, 0)
STATE = {"param_fingerprint": 51, "buffer_fingerprint": 52, "optimizer_fingerprint": 53, "optimizer_step": 54, "rng_cpu": 80}
NOT_COMPARED = set(range(10, 17))
WORKLOADS = {"toy-mlp": dict(batch=16, dropout=0.2, bucket_mb=0.02), "digits-cnn": dict(batch=16, bucket_mb=0.03),
             "char-gpt": dict(batch=8, bucket_mb=0.03, workload_options={"ragged": "1"})}
OPTIMIZERS = {"sgd": dict(optimizer="sgd", lr=0.02, weight_decay=1e-3), "adam": dict(optimizer="adam", lr=1e-3),
              "adamw": dict(optimizer="adamw", lr=1e-3, weight_decay=0.1)}
MORE = [("cosine, clip 0.7", dict(scheduler="cosine", clip_norm=0.7)), ("K=2, warmup", dict(accumulate=2, scheduler="warmup")),
        ("step, view", dict(scheduler="step", scheduler_period=7, bucket_view=True)), ("find unused", dict(find_unused=True)),
        ("buffers kept", dict(broadcast_buffers=False)), ("python order, K=2", dict(order="python", accumulate=2))]


def place(world):
    """A column of the table -> mode and world."""
    return {"single": dict(mode="single", world=1), "twin 4": dict(mode="twin", world=4)}.get(world) or dict(mode="ddp", world=int(world))


def short_list():
    yield "toy-mlp", "sgd", "off", "single", 5
    yield "digits-cnn", "adam", "off", "single", 1
    yield "toy-mlp", "adamw", "fp16", "2", 2
    yield "digits-cnn", "adam", "off", "2", 4
    yield "char-gpt", "sgd", "off", "2", 0
    yield "toy-mlp", "sgd", "off", "4", 3
    yield "digits-cnn", "adamw", "bf16", "4", 1
    yield "char-gpt", "adam", "off", "4", 0
    yield "digits-cnn", "sgd", "off", "twin 4", 0


def campaign():
    i = 0
    for workload in WORKLOADS:
        for optimizer in OPTIMIZERS:
            for amp in ("off", "bf16", "fp16"):
                for world in ("single", "1", "2", "4", "twin 4"):
                    yield workload, optimizer, amp, world, i % 5 if world != "single" else i % 6
                    i += 1


def configuration(cell, steps, seed):
    workload, optimizer, amp, world, more = cell
    config = dict(workload=workload, amp=amp, steps=steps, seed=seed, sampler_seed=seed, record="tensor" if steps <= 100 else "step",
                  **WORKLOADS[workload], **OPTIMIZERS[optimizer], **place(world))
    config.update(MORE[more][1])
    if amp == "fp16":
        config.update(scaler_scale=2.0**24, scaler_growth_interval=7)  # skips steps, and grows again
    if config.get("find_unused"):
        config["workload_options"] = dict(config.get("workload_options", {}), unused_layer="1")
    return config


class Folder:
    """Runs of one place, each with its configuration, its streams and its checkpoints."""

    def __init__(self, path, ranks):
        self.path, self.ranks, self.runs = path, ranks, []

    def add(self, config):
        k = len(self.runs)
        self.runs.append(config)
        json.dump(config, open(os.path.join(self.path, f"{k}.json"), "w"))
        return k

    def checkpoint(self, k, step):
        return os.path.join(self.path, f"run{k}", "checkpoints", f"step_{step:08d}.pt")

    def stream(self, k, rank):
        return os.path.join(self.path, f"{k}_r{rank}.bin")

    def train(self, worker):
        def command(rank):
            args = [worker]
            for k in range(len(self.runs)):
                args += ["--config", os.path.join(self.path, f"{k}.json"), "--stream", self.stream(k, rank),
                         "--run-folder", os.path.join(self.path, f"run{k}")]
            return args

        launch(command, self.ranks, timeout=None)

    def resumed_states(self, k):
        """{rank: {quantity: bits}} as the "resume" event has them."""
        states = {}
        for r in range(self.ranks):
            for rank, _, kind, detail in wire.events(self.stream(k, r)):
                if kind == "resume":
                    states[rank] = {(STATE[n], 0): int(v, 16) for n, v in json.loads(detail)["state"].items()}
        return states

    def read(self, k):
        """The parts of wire.read(), of all ranks together."""
        parts = [{}, {}, {}]
        for r in range(self.ranks):
            for whole, own in zip(parts, wire.read(self.stream(k, r))):
                whole.update(own)
        return parts


def records(path):
    """The tensors of a checkpoint, by name of the record."""
    with zipfile.ZipFile(path) as z:
        return {n: z.read(n) for n in z.namelist() if "/data/" in n}


def compare(whole, resumed, states, step, files):
    """-> (values compared, first differences)"""
    count, wrong = 0, []
    for part, (a, b) in enumerate(zip(whole, resumed)):
        mine = {key for key in a if key[1] > step}
        got = {key for key in b if key[1] > step}
        if mine != got:
            wrong.append(f"other rows: {sorted(mine ^ got)[:3]}")
        for key in sorted(mine & set(b)):
            x, y = a.get(key), b[key]
            if part == 0:
                y = {q: v for q, v in y.items() if q[0] not in NOT_COMPARED}
                x = {q: v for q, v in x.items() if q[0] not in NOT_COMPARED}
            count += len(x)
            if x != y and len(wrong) < 4:
                wrong.append(f"rank {key[0]}, step {key[1]}: " + (f"quantities {sorted(q for q in set(x) | set(y) if x.get(q) != y.get(q))[:12]}" if part == 0 else f"{key[2:]}"))
    for rank, state in states.items():
        at = whole[0][rank, step]
        count += len(state)
        if len(state) != len(STATE) or any(at.get(q) != v for q, v in state.items()):
            wrong.append(f"rank {rank}: the state at the checkpoint is not the one that was saved")
    if not states:
        wrong.append("no event of the resume")
    a, b = map(records, files)
    count += len(a)
    if a != b:
        wrong.append(f"last checkpoint: {sorted(n for n in set(a) | set(b) if a.get(n) != b.get(n))[:5]}")
    return count, wrong


def same_world(worker, cells, steps, cut):
    bad = total = 0
    for world in dict.fromkeys(c[3] for c in cells):
        own = [c for c in cells if c[3] == world]
        where = place(world)
        with tempfile.TemporaryDirectory() as path:
            folder = Folder(path, where["world"] if where["mode"] == "ddp" else 1)
            for i, cell in enumerate(own):
                config = configuration(cell, steps, 900 + i)
                whole = folder.add(dict(config, checkpoint_every=cut))
                folder.add(dict(config, resume=folder.checkpoint(whole, cut)))
            folder.train(worker)
            for i, cell in enumerate(own):
                last = [folder.checkpoint(2 * i + j, steps) for j in (0, 1)]
                count, wrong = compare(folder.read(2 * i), folder.read(2 * i + 1), folder.resumed_states(2 * i + 1), cut, last)
                equal = not wrong and count > 0
                total, bad = total + count, bad + (not equal)
                print(f"{cell[0]:10} | {world:8} | {cell[1]:5} | {cell[2]:4} | {MORE[cell[4]][0]:18} | {count:8} | {'equal' if equal else 'DIFFERS'}", flush=True)
                for w in wrong:
                    print("     ", w, flush=True)
    print(f"{len(cells)} cells of {steps} steps, resumed after {cut}: {total} values compared bit by bit, {bad} cells not equal")
    return bad


def samples_of(parts):
    """{step: the samples of all ranks together, sorted}"""
    steps = collections.defaultdict(list)
    for (_, step, _), ids in parts[1].items():
        steps[step] += ids
    return {s: sorted(ids) for s, ids in steps.items()}


def losses_of(parts):
    import struct
    steps = collections.defaultdict(list)
    for (_, step), values in parts[0].items():
        if LOSS in values:
            steps[step].append(struct.unpack("<d", struct.pack("<Q", values[LOSS]))[0])
    return {s: sum(v) / len(v) for s, v in steps.items()}


def other_worlds(worker, workload, chain, steps, limit):
    """chain: worlds one after the other, the first one also runs to the end without interruption."""
    base = dict(workload=workload, steps=steps, seed=7, sampler_seed=7, record="step", **WORKLOADS[workload], **OPTIMIZERS["adam"])
    base.update(batch=24)
    cuts = [steps * (i + 1) // len(chain) for i in range(len(chain))]
    with tempfile.TemporaryDirectory() as path:
        folders, before = [], ""
        for i, world in enumerate(chain):
            os.mkdir(os.path.join(path, str(i)))
            folder = Folder(os.path.join(path, str(i)), max(1, world))
            mode = dict(mode="ddp", world=world) if world else dict(mode="single", world=1)
            if i == 0:
                folder.add(dict(base, **mode, batch=base["batch"]))
            k = folder.add(dict(base, **mode, steps=cuts[i], resume=before))
            folder.train(worker)
            before = folder.checkpoint(k, cuts[i])
            folders.append((folder, k))
        whole = folders[0][0].read(0)
        wrong, worst = [], 0.0
        expected, losses = samples_of(whole), losses_of(whole)
        seen = {}
        for i, (folder, k) in enumerate(folders):
            parts = folder.read(k)
            for step, ids in samples_of(parts).items():
                if step in seen:
                    wrong.append(f"step {step} twice")
                seen[step] = ids
                if ids != expected[step]:
                    wrong.append(f"step {step}: other samples")
            for step, loss in losses_of(parts).items():
                worst = max(worst, abs(loss - losses[step]) / abs(losses[step]))
        if sorted(seen) != list(range(1, steps + 1)):
            wrong.append("steps are missing")
        if not worst < limit:
            wrong.append(f"a loss is off by {worst:.1e}")
        names = " -> ".join(str(w) if w else "single" for w in chain)
        print(f"{workload:10} | {names:20} | largest relative difference of a loss {worst:.1e} | {'as if never interrupted' if not wrong else 'DIFFERS'}", flush=True)
        for w in wrong[:4]:
            print("     ", w, flush=True)
        return bool(wrong)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("worker"), a.add_argument("--steps", type=int), a.add_argument("--filter", default="")
    a.add_argument("--campaign", action="store_true")
    o = a.parse_args()
    worker = os.path.abspath(o.worker)
    steps = o.steps or (500 if o.campaign else 40)
    cut = steps * 17 // 40
    cells = [c for c in (campaign() if o.campaign else short_list()) if o.filter in " ".join(map(str, c[:4]))]
    print(f"{'workload':10} | {'world':8} | {'optim':5} | {'amp':4} | {'setting':18} | {'values':>8} | verdict", flush=True)
    bad = same_world(worker, cells, steps, cut)
    chains = [("digits-cnn", [4, 1, 4]), ("char-gpt", [4, 2, 0])]
    if o.campaign:
        chains = [(w, c) for w in WORKLOADS for c in ([4, 1, 4], [4, 2, 0], [2, 0, 2], [0, 4], [4, 2, 1, 4])]
    for workload, chain in chains if not o.filter or o.filter == "chains" else []:
        bad += other_worlds(worker, workload, chain, 36, 1e-3)
    sys.exit(1 if bad or not (cells or o.filter == "chains") else 0)


if __name__ == "__main__":
    main()
