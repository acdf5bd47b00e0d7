#!/usr/bin/env python3
"""Runs the example scripts through `lockstep-cli probe`, alone and with two ranks, checks where the two part, and whether the
diagnosis says why.

  run_scripts.py [--cli build/bin/lockstep-cli] [--python .venv/bin/python] [--all] [--record step|tensor] [--keep DIR] [--json] [NAME...]

Without --all (or LOCKSTEP_SCRIPTS=all in the environment) only four cases run. Prints one line per case and the figures
of all, and ends with exit code 1 if one was not as expected. --keep DIR leaves the project there; a second call with the same
DIR asks the diagnosis again without training again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from case import Case
from cases import CASES
from fork_ranks import Server

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
# What both ways of running have and what does not depend on the order of sums beyond the tolerance.
SERIES = ("samples,tokens,sample_ids,sample_content,loss,lr,grad_norm,grad_norm_clipped,update_norm,scaler_scale,step_skipped,"
          "micro_steps,param_fingerprint")
TOLERANCE = "rel:1e-3"
QUICK = ("plain", "plain-C1", "token_lm-B5", "gan-B2")  # of the default test run


class Project:
    def __init__(self, cli: str, python: str, folder: str, forks: Optional[str], record: str, everything: bool) -> None:
        self.cli, self.python, self.folder = cli, python, folder
        self.record, self.everything = record, everything
        self.environment = dict(os.environ, LOCKSTEP_FORKS=forks) if forks else dict(os.environ)
        self.made: dict[str, str] = {}
        if os.path.exists(os.path.join(folder, "lockstep.db")):
            _, runs = self.call("runs", folder)
            self.made = {run["name"]: run["run"] for run in runs if run["state"] == "finished"}
        else:
            self.call("init", folder)

    def call(self, *arguments: str) -> tuple[int, Any]:
        done = subprocess.run([self.cli, "--json", *arguments], capture_output=True, text=True, env=self.environment)
        try:
            return done.returncode, json.loads(done.stdout)
        except json.JSONDecodeError:
            raise SystemExit(f"lockstep-cli {' '.join(arguments)}: {done.stdout}{done.stderr}") from None

    def run(self, case: Case, world: int) -> str:
        """The run's id; a script in one process is run once for all its cases."""
        name = (f"{case.script}-single" if world == 1 else f"{case.name}-w{world}").replace("/", "-")
        if name not in self.made:
            script = str(HERE / f"{case.script}.py")
            fault = "-" if world == 1 else case.fault or "-"
            if world > 1 and case == CASES[0] and self.everything:  # one the way a user would
                command = [str(Path(self.python).parent / "torchrun"), "--nproc-per-node", str(world), script, fault]
            else:
                command = [self.python, str(HERE / "fork_ranks.py"), "lockstep_probe", str(world), script, fault]
            code, run = self.call("probe", self.folder, "--name", name, "--world", str(world), "--record", self.record,
                                  *case.options, "--", *command)
            if code != 0:
                raise SystemExit(f"{name}: {run['first_failure']}")
            self.made[name] = run["run"]
        return self.made[name]

    def first_difference(self, a: str, b: str) -> tuple[str, Optional[dict[str, Any]], dict[str, int]]:
        _, found = self.call("compare", self.folder, a, b, "--mode", TOLERANCE, "--series", SERIES)
        return found["verdict"], found["origin"], found["compared"]

    def ranks_part(self, run: str) -> Optional[int]:
        _, exported = self.call("export", self.folder, run, "--series", "param_fingerprint")
        ranks = [dict(zip(s["steps"], s["hex"])) for s in exported["series"]]
        return next((step for step in sorted(ranks[0]) if len({rank.get(step) for rank in ranks}) > 1), None)

    def findings(self, a: str, b: str) -> list[dict[str, Any]]:
        return self.call("diagnose", self.folder, a, b)[1]["findings"]


@dataclass
class Verdict:
    case: Case
    found: str  # where the runs part
    problems: list[str] = field(default_factory=list)  # with the records
    causes: list[list[str]] = field(default_factory=list)  # by finding, the first first
    alarm: bool = False  # a finding above benign
    first: bool = False  # the first finding is the right cause
    in_three: bool = False
    step: bool = False  # it stands at the right step

    @property
    def good(self) -> bool:
        return not self.problems and (self.first and self.step if self.case.cause else not self.alarm)

    def line(self) -> str:
        named = ", ".join(" or ".join(causes) for causes in self.causes[:3]) or "-"
        wrong = list(self.problems)
        if self.case.cause and not self.first:
            wrong.append(f"the cause is {self.case.cause}")
        elif self.case.cause and not self.step:
            wrong.append("the finding stands at another step")
        elif not self.case.cause and self.alarm:
            wrong.append("an alarm although nothing is wrong")
        return f"{self.case.name:24} parts: {self.found:28} diagnosis: {named:20}" + \
            ("   NOT AS EXPECTED: " + "; ".join(wrong) if wrong else "")


def judge(project: Project, case: Case) -> Verdict:
    single, several = project.run(case, 1), project.run(case, 2)
    verdict, origin, compared = project.first_difference(single, several)
    part = project.ranks_part(several)
    found = f"{origin['quantity']} at step {origin['step']}" if origin else "nothing"
    judged = Verdict(case, found)
    if case.ranks_part != part:
        judged.problems.append(f"ranks part at {part} instead of {case.ranks_part}")
    if origin and origin["a"] != origin["a"] and origin["b"] != origin["b"]:
        pass  # a step that overflowed in both: NaN differs from everything, and hides what comes after it
    elif case.quantity is None:
        if verdict != "equal" or sum(compared.values()) < 20:
            judged.problems.append(f"{verdict} although no series differs")
    elif not origin:
        judged.problems.append(f"{verdict}: the fault was not seen")
    elif origin["step"] != case.step or origin["quantity"] != case.quantity:
        judged.problems.append(f"not at {case.quantity} at step {case.step}")
    findings = project.findings(single, several)
    right = [bool(set(finding["causes"]) & set(case.causes)) for finding in findings]
    judged.causes = [finding["causes"] for finding in findings]
    judged.alarm = any(finding["confidence"] != "benign" for finding in findings)
    judged.first, judged.in_three = any(right[:1]), any(right[:3])
    wanted = case.shown_at if case.shown_at is not None else case.step
    judged.step = judged.first and (wanted is None or findings[0]["step"] == wanted)
    return judged


def figures(verdicts: list[Verdict]) -> dict[str, Any]:
    planted = [v for v in verdicts if v.case.cause]
    clean = [v for v in verdicts if not v.case.cause]
    return {"scripts": len(verdicts), "parts_as_expected": sum(not v.problems for v in verdicts), "planted": len(planted),
            "detected": sum(bool(v.causes) for v in planted), "first_step_exact": sum(v.step for v in planted),
            "right_cause_first": sum(v.first for v in planted), "in_the_first_three": sum(v.in_three for v in planted),
            "clean": len(clean), "alarms_on_clean": sum(v.alarm for v in clean)}


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--cli", default=str(SOURCE / "build/bin/lockstep-cli"))
    options.add_argument("--python", default=str(SOURCE / ".venv/bin/python"))
    options.add_argument("--all", action="store_true", default=os.environ.get("LOCKSTEP_SCRIPTS") == "all")
    options.add_argument("--record", choices=("step", "tensor"), default="tensor")
    options.add_argument("--keep", metavar="DIR")
    options.add_argument("--json", action="store_true")
    options.add_argument("names", nargs="*")
    given = options.parse_args()
    chosen = [c for c in CASES if c.name in given.names or c.script in given.names] if given.names else \
        [c for c in CASES if given.all or c.name in QUICK]
    verdicts = []
    with tempfile.TemporaryDirectory() as folder, Server(f"{folder}/forks", str(SOURCE / "resources/python")):
        project = Project(given.cli, given.python, given.keep or f"{folder}/project", f"{folder}/forks", given.record, given.all)
        for case in chosen:
            verdicts.append(judge(project, case))
            if not given.json:
                print(verdicts[-1].line(), flush=True)
    told = figures(verdicts)
    if given.json:
        print(json.dumps(told))
    else:
        print("\n" + "\n".join(f"{key.replace('_', ' '):24} {value}" for key, value in told.items()))
    return 0 if all(v.good for v in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
