"""The gates of a project whose runs are a user's script: judged from what was recorded, nothing is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2]
CLI = os.environ.get("LOCKSTEP_CLI", str(SOURCE / "build/bin/lockstep-cli"))

# One process or several, on the same global batches; a part is every world-th sample, as DistributedSampler deals.
SCRIPT = """
import os, torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
if world > 1: dist.init_process_group("gloo")
torch.manual_seed(1)
data = TensorDataset(torch.randn(96, 12), torch.randint(0, 4, (96,)))
class Parts:
    epoch = 0
    def __iter__(self):
        order = torch.randperm(96, generator=torch.Generator().manual_seed(self.epoch)).tolist()
        for k in range(12): yield order[k * 8:(k + 1) * 8][rank::world]
    def __len__(self): return 12
bare = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 4))
model = nn.parallel.DistributedDataParallel(bare) if world > 1 else bare
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
parts = Parts()
loader = DataLoader(data, batch_sampler=parts)
for parts.epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
if rank == 0: torch.save({"model": model.state_dict()}, "last.pt")
if world > 1: dist.destroy_process_group()
"""


class ScriptGates(unittest.TestCase):
    def test_a_real_pair_walks_all_gates_to_the_report(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "train.py").write_text(SCRIPT)
            project = f"{folder}/p"

            def call(*arguments: str) -> "tuple[int, Any, str]":
                done = subprocess.run([CLI, "--json", *arguments], capture_output=True, text=True, timeout=120, cwd=folder)
                return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

            def gate(phase: str, *options: str) -> "tuple[int, Any]":
                code, document, errors = call("gate", project, phase, *options)
                self.assertIsNotNone(document, errors)
                return code, {check["id"]: check for check in document["checks"]} | {"verdict": document["verdict"]}

            call("init", project)
            launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
            self.assertEqual(call("probe", project, "--name", "one", "--", sys.executable, "train.py")[0], 0)
            # No engine's workload is judged instead of the half that is missing.
            code, _, errors = call("gate", project, "preflight")
            self.assertEqual(code, 3)
            self.assertIn("No run of the script with several ranks is recorded", errors)
            self.assertEqual(call("probe", project, "--name", "two", "--record", "tensor", "--", *launch, "train.py")[0], 0)
            # A part is another order of the same samples: no difference but in exact mode, which says so.
            self.assertEqual(call("compare", project, "one", "two", "--mode", "rel:1e-3")[0], 0)
            exact = subprocess.run([CLI, "compare", project, "one", "two"], capture_output=True, text=True, timeout=120)
            self.assertIn("the same samples in each of 24 steps, in another order", exact.stdout)

            # A repeat with other threads is the newest in one process and no reference.
            self.assertEqual(call("probe", project, "--name", "one-t2", "--threads", "2", "--", sys.executable, "train.py")[0], 0)
            self.assertEqual(gate("preflight")[0], 0)
            self.assertEqual(gate("data")[0], 0)

            code, gradients = gate("gradients")
            self.assertEqual((code, gradients["verdict"]), (3, "cannot_judge"))  # nobody recorded repeats
            for check in ("first_batch", "first_ten", "reduction", "ranks_equal", "collectives", "unused"):
                self.assertEqual(gradients[f"gradients.{check}"]["verdict"], "pass", check)
            self.assertEqual(gradients["gradients.twin"]["verdict"], "cannot_judge")
            self.assertIn("--threads 2 -- ", gradients["gradients.loss"]["fix"])
            self.assertEqual(gate("gradients", "--override", "one run is enough here")[0], 0)

            for phase in ("precision", "drills"):
                code, judged = gate(phase)
                self.assertEqual((code, judged["verdict"]), (3, "cannot_judge"), phase)
                self.assertEqual(gate(phase, "--override", "tried by hand")[0], 0, phase)
            _, runs, _ = call("runs", project, "--all")
            self.assertEqual(sorted(run["run"] for run in runs), ["one-01", "one-t2-01", "two-01"])  # no gate started one

            code, _, errors = call("report", project, "--md", f"{folder}/r.md")
            self.assertEqual(code, 0, errors)
            report = (Path(folder) / "r.md").read_text()
            self.assertIn("3 overridden with a written reason", report)
            self.assertIn("lockstep-cli probe", report)
            self.assertNotIn("--resume", report)


if __name__ == "__main__":
    unittest.main()
