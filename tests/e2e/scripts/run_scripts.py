#!/usr/bin/env python3
"""Runs the example scripts through `lockstep-cli probe`, alone and with two ranks, and checks where the two part.

  run_scripts.py [--cli build/bin/lockstep-cli] [--python .venv/bin/python] [--all] [NAME...]

Without --all (or LOCKSTEP_SCRIPTS=all in the environment) only two cases run. Prints one line per case and ends with
exit code 1 if one was not as expected.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional

from cases import CASES, Case

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
# What both ways of running have and what does not depend on the order of sums beyond the tolerance.
SERIES = ("samples,tokens,sample_ids,sample_content,loss,lr,grad_norm,grad_norm_clipped,update_norm,scaler_scale,step_skipped,"
          "micro_steps,param_fingerprint")
TOLERANCE = "rel:1e-3"
QUICK = ("plain", "plain-B2")


class Project:
    def __init__(self, cli: str, python: str, folder: str) -> None:
        self.cli, self.python, self.folder = cli, python, folder
        self.made: dict[str, str] = {}
        self.call("init", folder)

    def call(self, *arguments: str) -> tuple[int, Any]:
        done = subprocess.run([self.cli, "--json", *arguments], capture_output=True, text=True)
        try:
            return done.returncode, json.loads(done.stdout)
        except json.JSONDecodeError:
            raise SystemExit(f"lockstep-cli {' '.join(arguments)}: {done.stdout}{done.stderr}") from None

    def run(self, case: Case, world: int) -> str:
        """The run's id; a script in one process is run once for all its cases."""
        name = f"{case.script}-single" if world == 1 else f"{case.name}-w{world}"
        if name not in self.made:
            script = str(HERE / f"{case.script}.py")
            if world == 1:
                command = [self.python, script]
            elif case == CASES[0]:  # one the way a user would
                command = [str(Path(self.python).parent / "torchrun"), "--nproc-per-node", str(world), script, "-"]
            else:
                command = [self.python, str(HERE / "fork_ranks.py"), "lockstep_probe", str(world), script, case.fault or "-"]
            code, run = self.call("probe", self.folder, "--name", name, "--world", str(world), "--record", "tensor", "--",
                                  *command)
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

    def cause(self, a: str, b: str) -> str:
        """The two causes the diagnosis names first; "?" where this build has none."""
        done = subprocess.run([self.cli, "diagnose", self.folder, a, b, "--json"], capture_output=True, text=True)
        try:
            findings = json.loads(done.stdout)["findings"]
        except (json.JSONDecodeError, KeyError):
            return "?"
        return " ".join(finding["cause"] for finding in findings[:2])


def judge(project: Project, case: Case) -> tuple[bool, str]:
    single, several = project.run(case, 1), project.run(case, 2)
    verdict, origin, compared = project.first_difference(single, several)
    part = project.ranks_part(several)
    found = f"{origin['quantity']} at step {origin['step']}" if origin else "nothing"
    problems = []
    if case.ranks_part != part:
        problems.append(f"ranks part at {part} instead of {case.ranks_part}")
    if case.quantity is None:
        if verdict != "equal" or sum(compared.values()) < 20:
            problems.append(f"{verdict}, {found}, although nothing is wrong")
    elif not origin:
        problems.append(f"{verdict}: the fault was not seen")
    elif origin["step"] != case.step or origin["quantity"] != case.quantity:
        problems.append(f"{found} instead of {case.quantity} at step {case.step}")
    cause = project.cause(single, several)
    line = f"{case.name:22} first difference: {found:28} cause: {cause or '-':8} expected {case.cause or '-'}"
    return not problems, line + ("   NOT AS EXPECTED: " + "; ".join(problems) if problems else "")


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--cli", default=str(SOURCE / "build/bin/lockstep-cli"))
    options.add_argument("--python", default=str(SOURCE / ".venv/bin/python"))
    options.add_argument("--all", action="store_true", default=os.environ.get("LOCKSTEP_SCRIPTS") == "all")
    options.add_argument("names", nargs="*")
    given = options.parse_args()
    chosen = [c for c in CASES if c.name in given.names or c.script in given.names] if given.names else \
        [c for c in CASES if given.all or c.name in QUICK]
    good = 0
    with tempfile.TemporaryDirectory() as folder:
        project = Project(given.cli, given.python, f"{folder}/project")
        for case in chosen:
            well, line = judge(project, case)
            good += well
            print(line, flush=True)
    print(f"{good} of {len(chosen)} scripts as expected")
    return 0 if good == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
