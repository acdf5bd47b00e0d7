"""Trainers of frameworks, alone and with two processes, through lockstep-cli: what both recorded is compared.

LOCKSTEP_FRAMEWORKS names an interpreter that has them; without it the test's own is asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1] / "e2e" / "scripts" / "frameworks"
CLI = os.environ.get("LOCKSTEP_CLI", "")
PYTHON = os.environ.get("LOCKSTEP_FRAMEWORKS", sys.executable)


class Frameworks(unittest.TestCase):
    def call(self, *arguments: str) -> tuple[int, dict]:
        done = subprocess.run([CLI, "--json", *arguments], capture_output=True, text=True)
        return done.returncode, json.loads(done.stdout)

    def agree(self, package: str, one: list[str], two: list[str], steps: int, samples: int) -> None:
        found = subprocess.run([PYTHON, "-c", f"import importlib.util as i, sys; sys.exit(i.find_spec('{package}') is None)"])
        if not CLI or found.returncode != 0:
            self.skipTest(f"{PYTHON} has no {package}: pip install it there, or name another interpreter in LOCKSTEP_FRAMEWORKS")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([CLI, "init", folder], check=True, capture_output=True)
            for name, command in (("one", one), ("two", two)):
                code, run = self.call("probe", folder, "--name", name, "--world", "2" if name == "two" else "1", "--", PYTHON, *command)
                self.assertEqual((code, run["last_step"]), (0, steps), run)
                ids = self.call("export", folder, f"{name}-01", "--series", "samples")[1]["series"]
                self.assertEqual(sum(sum(series["values"]) for series in ids), samples, name)
            code, compared = self.call("compare", folder, "one-01", "two-01", "--mode", "rel:1e-3")
            self.assertEqual(compared["verdict"], "equal", compared["origin"])
            self.assertEqual(self.call("diagnose", folder, "one-01", "two-01")[1]["findings"], [])

    def test_lightning_starts_its_ranks_itself(self) -> None:
        script = str(SCRIPTS / "lightning_fit.py")
        self.agree("lightning", [script, "1"], [script, "2"], 12, 192)

    def test_the_trainer_of_hugging_face(self) -> None:
        script = str(SCRIPTS / "hugging_face.py")
        self.agree("transformers", [script], ["-m", "torch.distributed.run", "--nproc-per-node", "2", script], 8, 128)


if __name__ == "__main__":
    unittest.main()
