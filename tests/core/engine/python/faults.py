"""Plays every fault of the engine in a DDP run and in the twin: equal in every bit? Does it act, and in the right step?

faults.py WORKER [--world 2 4] [--optimizer sgd adamw] [--only B6 ...] [--campaign] [--table]
A case is a fault, a setting in which it can act, and the first step at which its run differs from the same run without
it (None: it has to stay equal). Compared are all recorded quantities, samples, tensors and events.
Without --campaign: the first case of each fault at world 2, some of them at world 4 too. --table prints the tables of
docs/faults.md, which is checked to have them.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import wire
from processes import launch
from twin import NOT_COMPARED

TOY = dict(workload="toy-mlp", batch=16, steps=6, dropout=0.2, bucket_mb=0.02)
EPOCHS = dict(TOY, batch=64)  # 8 steps per epoch at world 2, 4 at world 4
CNN = dict(workload="digits-cnn", batch=16, steps=4, bucket_mb=0.03)
TAIL = dict(CNN, batch=128)  # 1,797 samples do not divide by 2 or 4
GPT = dict(workload="char-gpt", batch=4, steps=3, bucket_mb=0.03, workload_options={"ragged": "1"})
OPTIMIZERS = {"sgd": dict(optimizer="sgd", lr=0.02, weight_decay=1e-3), "adamw": dict(optimizer="adamw", lr=1e-3, weight_decay=0.1)}
WORLD_MATTERS = ("A7", "B4", "B7", "B11", "C3", "C11", "C12", "D3", "D4", "E2")


def cases(world):
    """-> id, parameters, settings, first differing step"""
    per_epoch = -(-1000 // world) // 64 + 1
    tail = -(-1797 // world) // 128 + 1
    cut = tail if 1797 % world else None
    K2, K3, clip, log = dict(accumulate=2), dict(accumulate=3), dict(clip_norm=0.05), dict(log_every=1)
    # C4 lays the buckets out without the frozen parameters: from three ranks on other sums, so other last bits from step 1.
    freeze = dict(freeze="0.", freeze_until=3, find_unused=True)
    yield from [
        ("A1", {}, TOY, 1), ("A2", {}, TOY, 1), ("A3", {}, dict(EPOCHS, steps=per_epoch + 2), per_epoch + 1),
        ("A4", {}, TOY, 1), ("A5", {}, dict(TAIL, steps=tail, drop_last=True), cut), ("A6", {}, dict(TAIL, steps=tail), cut),
        ("A7", {}, TOY, 1), ("A8", {}, dict(EPOCHS, steps=per_epoch), per_epoch), ("A9", {}, TOY, 1), ("A10", {}, TOY, 1),
        ("B1", {}, dict(TOY, **K2), 1), ("B1", {}, GPT, 1), ("B2", {}, TOY, 1), ("B2", {"k": "3", "step": "3"}, GPT, 3),
        ("B3", {}, TOY, 1), ("B3", {"step": "2"}, dict(CNN, **K2), 2), ("B4", {}, TOY, 1), ("B4", {"share": "0.3"}, GPT, 1),
        ("B4", {}, dict(TAIL, steps=tail), 1), ("B5", {}, GPT, 1), ("B5", {}, dict(GPT, **K2), 1),
        ("B6", {}, dict(TOY, **K3), 1), ("B6", {}, dict(GPT, **K2), 1), ("B6", {"k": "2"}, TOY, 1),
        ("B7", {}, dict(TOY, **K3), 1), ("B7", {}, dict(CNN, **K2), 1), ("B8", {}, dict(CNN), 1), ("B8", {"step": "3"}, GPT, 3),
        ("B10", {}, dict(TOY, **log), 1), ("B11", {}, dict(TOY, **log), 1), ("B12", {}, dict(TOY, **K3), 1), ("B12", {}, CNN, 1),
        ("C1", {}, CNN, 1), ("C1", {}, dict(GPT, **K2), 1), ("C2", {}, CNN, 3), ("C2", {"step": "2"}, dict(TOY, **K2), 2),
        ("C3", {}, TOY, 1), ("C3", {"param": "fc1.weight"}, CNN, 1), ("C4", {}, dict(TOY, **freeze), 3 if world == 2 else 1),
        ("C4", {}, dict(CNN, freeze="conv1.", freeze_until=2, find_unused=True, accumulate=2), 2 if world == 2 else 1),
        ("C5", {}, dict(TOY, find_unused=True, **K2), 1), ("C5", {"param": "block1."}, dict(GPT, find_unused=True, **K2), 1),
        ("C6", {}, dict(CNN, **K2), 2), ("C7", {}, TOY, 0), ("C7", {}, CNN, 0), ("C8", {}, CNN, None), ("C9", {}, CNN, 2),
        ("C10", {}, TOY, 1), ("C10", {"param": "block0."}, GPT, 1), ("C11", {}, TOY, 1), ("C11", {"rank": "0", "step": "2", "p": "0.1"}, CNN, 2),
        ("C12", {}, dict(TOY, bucket_mb=0), 1 if world > 2 else None), ("D1", {}, TOY, 1), ("D1", {"k": "3"}, GPT, 1),
        ("D2", {}, dict(TOY, scheduler="cosine"), 2), ("D3", {}, dict(TOY, **clip), 1), ("D3", {}, dict(CNN, **clip, **K2), 1),
        ("D4", {}, dict(TOY, **clip), 1), ("D5", {}, dict(TOY, **clip), 1), ("D6", {}, TOY, 1), ("D6", {"step": "3"}, CNN, 3),
        ("D7", {}, TOY, 1), ("D8", {}, dict(CNN, amp="fp16", scaler_scale=1024.0), 2), ("D9", {}, dict(CNN, **clip), 1), ("D10", {}, dict(TOY, **K2), 1), ("E1", {}, CNN, 1), ("E1", {}, GPT, 1),
        ("E2", {}, TOY, 1), ("E2", {}, dict(CNN, **K2), 1), ("E3", {}, CNN, 1), ("E5", {}, TOY, None), ("E6", {}, TOY, 0),
        ("F2", {}, TOY, TOY["steps"]), ("F9", {}, dict(CNN, eval_every=2), 2), ("F9", {}, dict(GPT, eval_every=3), 3),
    ]
    view, half = dict(bucket_view=True), dict(amp="fp16", scaler_scale=1024.0)
    yield from [  # gradients that are views of buckets, other layouts, autocast
        ("B2", {}, dict(TOY, static_graph=True), 1), ("B6", {}, dict(GPT, amp="bf16", **K2), 1), ("B7", {}, dict(TOY, **view, **K3), 1),
        ("B7", {}, dict(CNN, **half, **K2), 1), ("B12", {}, dict(TOY, **view, **K2), 1), ("C3", {}, dict(TOY, find_unused=True), 1),
        ("C5", {}, dict(CNN, find_unused=True, **view, **K2), 1), ("C10", {}, dict(CNN, **view, **half), 1), ("C11", {}, dict(TOY, **view, **K2), 1),
        ("C12", {}, dict(CNN, **view), 1 if world > 2 else None), ("D3", {}, dict(TOY, **view, **clip), 1), ("D3", {}, dict(CNN, **half, **clip), 1),
        ("D6", {}, dict(CNN, **half), 1), ("D8", {"rank": "0", "step": "1"}, dict(GPT, **half), 1), ("D10", {}, dict(CNN, **view, **K2), 1),
        ("E1", {}, dict(CNN, amp="bf16", **K2), 1), ("E2", {}, dict(TOY, **view), 1), ("E2", {}, dict(GPT, reduction="ordered"), 1),
    ]
    at = dict(EPOCHS, steps=per_epoch + 4, resume=per_epoch + 2)  # in the middle of the second epoch
    yield from [("F1", {}, at, per_epoch + 2), ("F5", {}, at, per_epoch + 2), ("F6", {}, at, per_epoch + 2), ("F7", {}, at, per_epoch + 3)]


# Different faults, same bits: what docs/faults.md says of them under "Same bits". At world 2.
SAME = [
    (("B2", {}), ("B6", {}), dict(TOY, accumulate=2)), (("B2", {"k": "4"}), ("B6", {"k": "4"}), TOY),
    (("B3", {}), ("B2", {"k": "0.5"}), TOY),
    (("B8", {}), ("C1", {}), CNN), (("B8", {"step": "2"}), ("C1", {"step": "2"}), TOY), (("B8", {"step": "3"}), ("C2", {}), TOY),
    (("C2", {"step": "2"}), ("C6", {}), dict(CNN, accumulate=2)), (("C3", {"param": "2."}), ("C10", {"param": "2."}), TOY),
]


class Campaign:
    def __init__(self, worker, folder, world, optimizer, only, every):
        self.worker, self.folder, self.world, self.optimizer = worker, folder, world, optimizer
        self.jobs = {"ddp": [], "twin": []}
        self.saved, self.names = {}, {}
        self.cases = [c for c in cases(world) if not only or c[0] in only]
        if not every:
            first = {c[0]: c for c in reversed(self.cases)}
            self.cases = [c for c in self.cases if c is first[c[0]]]

    def add(self, mode, settings, faults=()):
        """Plans a run once; -> its name."""
        config = dict(settings, mode=mode, world=self.world, record="tensor", seed=7, sampler_seed=3, **OPTIMIZERS[self.optimizer],
                      faults=[{"id": i, "parameters": p} for i, p in faults])
        if "resume" in config:
            config["resume"] = self.checkpoint(settings)
        key = json.dumps(config, sort_keys=True)
        if key not in self.names:
            self.names[key] = name = f"{mode}{len(self.names)}"
            json.dump(config, open(os.path.join(self.folder, name + ".json"), "w"))
            self.jobs[mode].append(name)
        return self.names[key]

    def checkpoint(self, settings):
        cut = dict({k: v for k, v in settings.items() if k != "resume"}, steps=settings["resume"])
        run = self.add("ddp", cut)
        return os.path.join(self.folder, run, "checkpoints", f"step_{cut['steps']:08}.pt")

    def start(self, mode, world):
        def command(rank):
            args = [self.worker]
            for name in self.jobs[mode]:
                path = os.path.join(self.folder, name)
                args += ["--config", path + ".json", "--stream", f"{path}_r{rank}.bin", "--run-folder", path]
            return args

        launch(command, world)

    def read(self, name, rank, only=None):
        """{row: values}, one row per step, micro-batch, tensor and event."""
        rows = {}
        for kind, payload in wire.frames(os.path.join(self.folder, f"{name}_r{rank}.bin")):
            if kind == wire.STEP:
                r, step, values = wire.step_record(payload)
                row, values = ("step", r, step), {q: v for q, v in values.items() if q[0] not in NOT_COMPARED}
            elif kind == wire.SAMPLES:
                r, step, micro, *values = wire.samples_record(payload)
                row = ("samples", r, step, micro)
            elif kind == wire.TENSOR:
                r, step, name_, values = wire.tensor_record(payload)
                row = ("tensor", r, step, name_)
            elif kind == wire.EVENT:
                r, step, what, detail = wire.event_record(payload)
                detail = {k: v for k, v in json.loads(detail).items() if k not in ("path", "bytes")}
                row, values = ("event", r, step, what, len([1 for x in rows if x[:4] == ("event", r, step, what)])), detail
            else:
                continue
            if only is None or r == only:
                rows[row] = values
        return rows


def differences(a, b):
    return sorted((row for row in set(a) | set(b) if a.get(row) != b.get(row)), key=lambda row: (row[2], row[1], row))


def judge(c, fault, parameters, settings, expected):
    """-> verdict of the twin, verdict of the first step"""
    faulty = [(fault, parameters)]
    run, clean, twin = c.add("ddp", settings, faulty), c.add("ddp", settings), c.add("twin", settings, faulty)
    first, unlike, rows = None, [], 0
    for rank in range(c.world):
        mine = c.read(run, rank)
        rows += len(mine)
        for row in differences(mine, c.read(clean, rank))[:1]:
            first = row if first is None or row[2] < first[2] else first
        # One process has one stream of events: rank 0's.
        same = lambda all_: {row: v for row, v in all_.items() if row[0] != "event" or (rank == 0 and row[3] != "checkpoint")}
        unlike += differences(same(mine), same(c.read(twin, 0, rank)))[:2]
    step = None if first is None else first[2]
    return rows, unlike, step == expected, first


def judge_same(c):
    """-> how many pairs of SAME are not the same bits"""
    bad = 0
    for one, other, settings in SAME:
        a, b = c.add("twin", settings, [one]), c.add("twin", settings, [other])
        unlike = differences(c.read(a, 0), c.read(b, 0))
        bad += bool(unlike)
        print(f"{one} and {other}: {'the same bits' if not unlike else f'DIFFER: {unlike[0]}'}", flush=True)
    return bad


def refusals(worker):
    """Faults that cannot be played: the run ends before it begins and says what is missing. -> how many do not"""
    wrong = [(("B6", {}), "--accumulate 2 or more"), (("C9", {}), "buffers"), (("C3", {"step": "1"}), "no such parameter"), (("F9", {}), "needs --eval-every"),
             (("F9", {}), "--world does not divide", dict(eval_every=1, world=211)),
             (("B2", {"k": "x"}), "not a number"), (("B99", {}), "can play A1, A2")]
    # Numbers that would change nothing, or that nobody can mean.
    wrong += [((fault, {name: text}), f"{fault} cannot take {name}={text}") for fault, name, text in (
        ("C11", "rank", "2"), ("C11", "rank", "-1"), ("C11", "p", "nan"), ("C11", "p", "2"), ("C11", "step", "0"),
        ("B2", "k", "nan"), ("B2", "k", "-1"), ("B2", "k", "1"), ("B2", "step", "1.5"), ("B4", "share", "-1"),
        ("B4", "share", "inf"), ("C3", "param", "nowhere"), ("drill-slow", "ms", "nan"), ("drill-slow", "every", "-1"),
        ("drill-hang", "rank", "7"), ("drill-hang", "place", "3"))]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for k, ((fault, parameters), _, *more) in enumerate(wrong):
            path = os.path.join(folder, f"{k}.json")
            json.dump(dict(TOY, **{"mode": "twin", "world": 2, **dict(*more)}, faults=[{"id": fault, "parameters": parameters}]), open(path, "w"))
            running.append(subprocess.Popen([worker, "--config", path], stderr=subprocess.PIPE, text=True))
        for process, (case, word, *_) in zip(running, wrong):
            said = process.communicate(timeout=120)[1]
            if process.returncode != 3 or word not in said:
                bad += 1
                print(f"{case} ended with {process.returncode} and said: {said}", flush=True)
    print(f"{len(wrong) - bad} of {len(wrong)} that cannot be played are refused", flush=True)
    return bad


def campaign(worker, world, optimizer, only, every):
    with tempfile.TemporaryDirectory() as folder:
        c = Campaign(worker, folder, world, optimizer, only, every)
        for fault, parameters, settings, _ in c.cases:
            for mode in ("ddp", "twin"):
                c.add(mode, settings, [(fault, parameters)])
            c.add("ddp", settings)
        same = SAME if world == 2 and not only else []
        for one, other, settings in same:
            c.add("twin", settings, [one]), c.add("twin", settings, [other])
        c.start("ddp", world)
        c.start("twin", 1)
        bad = judge_same(c) if same else 0
        for case in c.cases:
            rows, unlike, as_expected, first = judge(c, *case)
            parameters = "".join(f",{k}={v}" for k, v in case[1].items())
            bad += bool(unlike) or not as_expected
            print(f"{case[0] + parameters:26} | {case[2]['workload']:10} | {world:5} | {optimizer:5} | {rows:5} | "
                  f"{'DIFFERS' if unlike else 'equal':7} | {'as expected' if as_expected else 'UNEXPECTED':11} | {first}", flush=True)
            for row in unlike[:3]:
                print("      twin:", row, flush=True)
        return len(c.cases), bad


def tables(catalogue):
    """The tables of docs/faults.md, a dict by the heading they stand under."""
    text = {}
    for f in catalogue["faults"]:
        rows = text.setdefault(f["family"], ["| id | what goes wrong | parameters, needs | what the records show | where it happened |",
                                             "|---|---|---|---|---|"])
        given = "; ".join([f"`{p.split(':')[0]}`{p.split(':', 1)[1]}" for p in f["parameters"]] + [f"needs `{n}`" for n in f["needs"]])
        rows.append(f"| {f['id']} | **{f['title']}**: {f['sentence']} | {given} | {f['signs']} | {f['sources']} |")
    rows = text["left out"] = ["| id | what goes wrong | reason |", "|---|---|---|"]
    rows += [f"| {f['id']} | {f['title']} | {f['reason']} |" for f in catalogue["left_out"]]
    return {heading: "\n".join(rows) for heading, rows in text.items()}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("worker"), a.add_argument("--world", type=int, nargs="+", default=[]), a.add_argument("--optimizer", nargs="+", default=["sgd"])
    a.add_argument("--only", nargs="+", default=[]), a.add_argument("--campaign", action="store_true")
    a.add_argument("--table", action="store_true")
    o = a.parse_args()
    catalogue = json.loads(subprocess.check_output([o.worker, "--catalogue"]))
    catalogue["faults"] = [f for f in catalogue["faults"] if f["family"]]  # without the drills
    if o.table:
        return print("\n\n".join(f"## {heading}\n{table}" for heading, table in tables(catalogue).items()))
    known = {f["id"] for f in catalogue["faults"]}
    played = {c[0] for c in cases(2)} | {"E4"}  # E4 differs from itself on purpose
    if known != played:
        sys.exit(f"without a case: {sorted(known - played)}; unknown to the engine: {sorted(played - known)}")
    page = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "docs", "faults.md")).read()
    stale = [heading for heading, table in tables(catalogue).items() if table not in page]
    if stale:
        sys.exit(f"docs/faults.md is behind the engine under: {stale}. faults.py WORKER --table prints what it should say.")
    plan = [(w, p, o.only, True) for w in o.world for p in o.optimizer]
    if o.campaign:
        plan = [(w, p, o.only, True) for w in (2, 3, 4) for p in OPTIMIZERS]
    elif not o.world:
        plan = [(2, "sgd", o.only, False), (4, "adamw", o.only or WORLD_MATTERS, False)]
    print(f"{'fault':26} | {'workload':10} | world | optim | {'rows':>5} | {'twin':7} | {'first step':11} | first difference")
    results = [campaign(os.path.abspath(o.worker), *p) for p in plan]
    total, bad = sum(r[0] for r in results), sum(r[1] for r in results) + refusals(o.worker)
    print(f"{total} cases of {len(known)} faults, {bad} bad")
    sys.exit(1 if bad or not total else 0)


if __name__ == "__main__":
    main()
