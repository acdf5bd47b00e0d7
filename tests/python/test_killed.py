"""A script that is killed at any moment: what was committed before is there afterwards, bit for bit, and no step has a hole.
LOCKSTEP_KILL_MOMENTS=N tries N moments instead of two."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

CLI = os.environ["LOCKSTEP_CLI"]
SCRIPT = """
import os, torch
open("pid", "w").write(str(os.getpid()))
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
while True:
    optimizer.zero_grad()
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
"""


class Killed(unittest.TestCase):
    def losses(self, project: str) -> "list[tuple[int, str]]":
        done = subprocess.run([CLI, "export", project, "r", "--series", "loss", "--json"], capture_output=True, text=True)
        series: "list[dict[str, Any]]" = json.loads(done.stdout)["series"] if done.returncode == 0 else []
        return list(zip(series[0]["steps"], series[0]["hex"])) if series else []

    def test_nothing_that_was_committed_is_lost(self) -> None:
        for moment in range(int(os.environ.get("LOCKSTEP_KILL_MOMENTS", "2"))):
            with tempfile.TemporaryDirectory() as folder:
                project = f"{folder}/project"
                Path(f"{folder}/train.py").write_text(SCRIPT)
                subprocess.run([CLI, "init", project], check=True, capture_output=True)
                run = subprocess.Popen([CLI, "--json", "probe", project, "--name", "r", "--", sys.executable, "train.py"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
                before: "list[tuple[int, str]]" = []
                for _ in range(600):
                    if before := self.losses(project):
                        break
                    time.sleep(0.05)
                time.sleep(random.Random(moment).random())
                before = self.losses(project)
                os.kill(int(Path(f"{folder}/pid").read_text()), signal.SIGKILL)
                answer = json.loads(run.communicate()[0])
                after = self.losses(project)
                self.assertGreater(len(before), 0)
                self.assertEqual(after[: len(before)], before)
                self.assertEqual([step for step, _ in after], list(range(1, len(after) + 1)))
                self.assertEqual(answer["state"], "failed")
                self.assertIn("Signal 9", answer["first_failure"]["sentence"])


if __name__ == "__main__":
    unittest.main()
