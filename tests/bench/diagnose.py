"""./dev bench diagnose [--json] [--small] [--no-prove] [--only A3,B2] [--clean N] [--speed] [--simple]: plants each fault, diagnoses, counts.

Per case: a DDP run as it should be, the same run with one fault, `lockstep-cli diagnose` of the two. The case says which
cause is right and at which step the fault first acts. Beside it stands what simpler rules make of the same two runs.
"""
import argparse
import itertools
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from diagnose_cases import Case, SMALL, all_cases, clean_cases  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


class Project:
    def __init__(self, cli, folder):
        self.cli, self.folder, self.runs, self.pairs = cli, folder, {}, []
        self.call("init", folder, "--workload", "toy-mlp")

    def call(self, *arguments):
        done = subprocess.run([self.cli, *arguments, "--json"], capture_output=True, text=True)
        if not done.stdout.strip():
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def run(self, options):
        """-> run id; a run of the same options is made once"""
        key = tuple(options)
        if key not in self.runs:
            result = self.call("run", self.folder, *options)
            if result["state"] != "finished":
                raise RuntimeError(f"{' '.join(options)}: {result['first_failure']}")
            self.runs[key] = result["run"]
        return self.runs[key]

    def losses(self, run):
        """-> {step: mean over ranks}"""
        steps = {}
        for series in self.call("export", self.folder, run, "--series", "loss", "--rank", "all")["series"]:
            for step, value in zip(series["steps"], series["values"]):
                steps.setdefault(step, []).append(value)
        return {step: sum(values) / len(values) for step, values in steps.items()}

    def parameters(self, run):
        import torch
        folder = os.path.join(self.folder, "runs", run, "checkpoints")
        files = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return torch.load(os.path.join(folder, files[-1]), weights_only=True)["model"] if files else {}


def simple_rules(project, reference, suspect):
    """What others judge by. -> {rule: found}"""
    import torch
    a, b = project.losses(reference), project.losses(suspect)
    errors = [abs(b[s] - a[s]) / abs(a[s]) for s in a if s in b and a[s]]
    p, q = project.parameters(reference), project.parameters(suspect)
    close = all(k in q and torch.allclose(p[k], q[k], rtol=1e-5, atol=1e-8) for k in p if p[k].dtype.is_floating_point)
    return {"mean loss error > 1 %": bool(errors) and sum(errors) / len(errors) > 0.01,
            "loss error > 5 % at any step": any(e > 0.05 for e in errors),
            "parameters not allclose(1e-5, 1e-8)": not close}


def resumed_pair(project, case):
    """Two runs that go on from one checkpoint, the second with the fault. -> ids"""
    whole = project.run(case.options() + ["--checkpoint-every", str(case.resume_at)])
    start = os.path.join(project.folder, "runs", whole, "checkpoints", f"step_{case.resume_at:08d}.pt")
    onward = ["--mode", "ddp", "--world", str(case.world), "--resume", start, "--steps", str(case.steps), "--record", case.record]
    return whole, project.run(onward + ["--fault", case.fault_text()])


def judge(project, case, prove, simple, single=False):
    if case.resume_at:
        reference, suspect = resumed_pair(project, case)
    else:
        reference = project.run(case.options() if not single else case.single_options())
        suspect = project.run(case.options() + ["--fault", case.fault_text()])
    start = time.perf_counter()
    result = project.call("diagnose", project.folder, reference, suspect, *(["--prove"] if prove else []))
    seconds = time.perf_counter() - start
    above = [f for f in result["findings"] if f["confidence"] != "benign"]
    shown = above if not case.benign else result["findings"]
    causes = [f["causes"] for f in shown]
    first = shown[0] if shown else None
    equal = {r["fault"].split(",")[0] for r in result["replays"] if r["verdict"] == "equal"}
    proven = [f for f in shown if f["confidence"] == "proven"]
    project.pairs.append((reference, suspect))
    verdict = dict(case=case.name(), detected=bool(shown), seconds=seconds, benign_ok=not case.benign or not above,
                   step=first["step"] if first else None, first=bool(causes) and case.cause in causes[0],
                   top3=any(case.cause in c for c in causes[:3]), proven=any(case.cause in f["causes"] for f in proven),
                   wrong_proof=any(case.cause not in f["causes"] for f in proven), causes=causes[:5], equal=sorted(equal),
                   confidence=first["confidence"] if first else None)
    verdict["step_exact"] = first is not None and (case.first_step is None or first["step"] == case.first_step)
    if simple:
        verdict["simple"] = simple_rules(project, reference, suspect)
    return verdict


def share(items, key):
    return sum(bool(i[key]) for i in items) / len(items) if items else 1.0


def clean_campaign(project, count, quiet):
    """Runs that differ only as correct runs may. -> (pairs, those with a finding above benign)"""
    alarms, pairs = [], 0
    for name, a, b in itertools.islice(clean_cases(), count):
        result = project.call("diagnose", project.folder, project.run(a), project.run(b))
        pairs += 1
        above = [f for f in result["findings"] if f["confidence"] != "benign"]
        if above:
            alarms.append(name)
            if not quiet:
                print(f"false alarm  {name}: {[(f['cause'], f['step'], f['sentence']) for f in above][:3]}", flush=True)
    return pairs, alarms


def speed(project):
    """Seconds for a pair of 10,000 steps and 8 ranks that parts in the middle, without replay."""
    options = ["--mode", "twin", "--world", "8", "--steps", "10000", "--batch", "4"]
    a, b = project.run(options), project.run(options + ["--fault", "B2,k=3,step=5000"])
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        result = project.call("diagnose", project.folder, a, b)
        seconds.append(time.perf_counter() - start)
    assert result["findings"][0]["step"] == 5000, result["findings"]
    return sorted(seconds)[1]


def strip(project):
    """Takes names and planted faults out of everything the project has recorded."""
    def bare(text):
        config = json.loads(text)
        config.update(faults=[], name="")
        return json.dumps(config)
    database = sqlite3.connect(os.path.join(project.folder, "lockstep.db"))
    for number, config in database.execute("SELECT number, config FROM run").fetchall():
        database.execute("UPDATE run SET config = ?, name = '' WHERE number = ?", (bare(config), number))
    database.commit()
    for run in os.listdir(os.path.join(project.folder, "runs")):
        path = os.path.join(project.folder, "runs", run, "run.db")
        if not os.path.exists(path):
            continue
        database = sqlite3.connect(path)
        for (config,) in database.execute("SELECT value FROM property WHERE key = 'config'").fetchall():
            database.execute("UPDATE property SET value = ? WHERE key = 'config'", (bare(config),))
        database.execute("DELETE FROM property WHERE key = 'name'")
        database.commit()
        database.close()


def blind(project, pairs):
    """-> pairs whose findings change once nothing in the store says what was planted"""
    before = [project.call("diagnose", project.folder, a, b)["findings"] for a, b in pairs]
    strip(project)
    after = [project.call("diagnose", project.folder, a, b)["findings"] for a, b in pairs]
    return sum(x != y for x, y in zip(before, after))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--json", action="store_true"), a.add_argument("--small", action="store_true")
    a.add_argument("--no-prove", action="store_true"), a.add_argument("--simple", action="store_true")
    a.add_argument("--only", default=""), a.add_argument("--limit", type=float, default=0, help="seconds, 0: all")
    a.add_argument("--worlds", default="2,4"), a.add_argument("--optimizers", default="sgd,adamw")
    a.add_argument("--workloads", default="toy-mlp,digits-cnn,char-gpt"), a.add_argument("--clean", type=int, default=-1)
    a.add_argument("--record", default="tensor"), a.add_argument("--speed", action="store_true")
    a.add_argument("--single", action="store_true", help="the reference is a single process")
    a.add_argument("--check", action="store_true", help="exit code 1 unless every figure is what it should be")
    a.add_argument("--cli", default=os.path.join(ROOT, "build", "bin", "lockstep-cli"))
    o = a.parse_args()
    begun = time.perf_counter()
    if o.small:
        cases = [Case(**c) for c in SMALL]
    else:
        cases = list(all_cases([int(w) for w in o.worlds.split(",")], o.optimizers.split(","), o.workloads.split(","), o.record))
    if o.only:
        cases = [c for c in cases if c.cause in o.only.split(",")]
    verdicts, broken, left = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        project = Project(o.cli, os.path.join(folder, "project"))
        for case in cases:
            if o.limit and time.perf_counter() - begun > o.limit:
                left += 1
                continue
            try:
                verdict = judge(project, case, not o.no_prove and (not o.small or case.prove), o.simple, o.single)
            except RuntimeError as error:
                broken.append(f"{case.name()}: {error}")
                if not o.json:
                    print(f"not run      {broken[-1]}", flush=True)
                continue
            verdict["asked_proof"] = not o.no_prove and (not o.small or case.prove) and case.provable
            verdicts.append(verdict)
            good = verdict["detected"] and verdict["step_exact"] and verdict["first"] and not verdict["wrong_proof"]
            if not o.json:
                print(f"{'ok          ' if good else 'LOOK        '} {case.name():46} {verdict['causes']} step {verdict['step']} "
                      f"(acts at {case.first_step}) {verdict['confidence']} equal {verdict['equal']} {verdict['seconds']:.1f} s", flush=True)
        told = speed(project) if o.speed else None
        pairs, alarms = clean_campaign(project, 2 if o.small and o.clean < 0 else max(0, o.clean if o.clean >= 0 else 10 ** 9), o.json)
        changed = blind(project, project.pairs)
    asked = [v for v in verdicts if v["asked_proof"]]
    figures = dict(cases=len(verdicts), not_run=len(broken), not_reached=left, detected=share(verdicts, "detected"),
                   step_exact=share(verdicts, "step_exact"), first=share(verdicts, "first"), top3=share(verdicts, "top3"),
                   proven=share(asked, "proven"), asked_proofs=len(asked), wrong_proofs=sum(v["wrong_proof"] for v in verdicts),
                   clean=pairs, false_alarms=len(alarms), changed_when_blind=changed, seconds=time.perf_counter() - begun)
    if told is not None:
        figures["seconds_10000_steps_8_ranks"] = told
    if o.simple and verdicts:
        for rule in verdicts[0]["simple"]:
            figures[f"missed by {rule}"] = sum(not v["simple"][rule] for v in verdicts)
    wrong = [key for key in ("detected", "step_exact", "first", "proven") if figures[key] < 1]
    wrong += [key for key in ("not_run", "wrong_proofs", "false_alarms", "changed_when_blind") if figures[key] > 0]
    if o.json:
        print(json.dumps({k: (round(v, 4) if isinstance(v, float) else v) for k, v in figures.items()}))
    else:
        print()
        for key, value in figures.items():
            print(f"{key:40} {value:.3f}" if isinstance(value, float) else f"{key:40} {value}")
    if o.check and wrong:
        sys.exit(f"Not as they should be: {', '.join(wrong)}")


main()
