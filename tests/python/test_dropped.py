"""Scripts that train one model after the other in one process, as folds and searches do."""

from __future__ import annotations

import unittest

from lockstep_probe import quantity as q
from probed import run
from stream_file import Recorded

HEAD = """
import gc, weakref
import torch
from torch import nn

torch.manual_seed(1)
alive = []

def make():
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2))
    alive.append(weakref.ref(model[0].weight))
    return model

def step(model, *optimizers):
    for optimizer in optimizers:
        optimizer.zero_grad()
    model(torch.randn(5, 4)).square().sum().backward()
    norm = sum(p.grad.double().square().sum() for p in model.parameters() if p.grad is not None).sqrt()
    print("norm", norm.item())
    for optimizer in optimizers:
        optimizer.step()

def living():
    gc.collect()
    print("alive", sum(reference() is not None for reference in alive))
"""


class Dropped(unittest.TestCase):
    def recorded(self, script: str, options: "tuple[str, ...]" = ()) -> "tuple[Recorded, list[float], list[int]]":
        """What was recorded, the gradient norms and the numbers of living models as the script saw them."""
        done = run(HEAD + script, options=options)[0]
        self.assertEqual(done.code, 0, done.output)
        self.assertEqual(done.recorded.notes(), [])
        lines = [line.split() for line in done.output.splitlines()]
        norms = [float(line[1]) for line in lines if line[:1] == ["norm"]]
        for number, norm in enumerate(norms, 1):
            self.assertAlmostEqual(done.recorded.real(number, q.GRAD_NORM), norm, places=9, msg=f"step {number}")
        return done.recorded, norms, [int(line[1]) for line in lines if line[:1] == ["alive"]]

    FOLDS = """
def fold(count):
    model = make()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.9)  # it and the optimizer hold each other
    for _ in range(count):
        step(model, optimizer)
        schedule.step()

for _ in range(4):
    fold(20)
    living()
"""

    def test_models_that_are_dropped_are_not_kept(self) -> None:
        r, norms, living = self.recorded(self.FOLDS)
        self.assertEqual(len(norms), 80)
        self.assertEqual(living, [1, 1, 1, 1])  # the one that trained last is still looked at
        updates = [r.real(number, q.UPDATE_NORM) for number in range(1, 81)]
        self.assertTrue(all(update > 0 for update in updates))

    def test_each_of_them_is_recorded_like_the_first(self) -> None:
        r = self.recorded(self.FOLDS, ("--record", "tensor"))[0]
        names = [{t["name"] for t in r.tensors if t["step"] == step} for step in (1, 20, 21, 80)]
        self.assertEqual(len(names[0]), 9)
        self.assertTrue(all(own == names[0] for own in names), names)

    def test_what_the_script_still_holds_stays(self) -> None:
        r, norms, living = self.recorded("""
kept = make()
of_kept = torch.optim.SGD(kept.parameters(), lr=0.1)
for _ in range(3):
    other = make()
    of_other = torch.optim.SGD(other.parameters(), lr=0.1)
    both = nn.Sequential(kept, nn.Linear(2, 4).requires_grad_(False), other)
    for _ in range(17):
        step(both, of_kept, of_other)
    del both, other, of_other
    living()
""")
        self.assertEqual((len(norms), living), (51, [2, 2, 2]))

    def test_a_model_in_every_step_is_no_burden(self) -> None:
        _, norms, living = self.recorded("""
for _ in range(20):
    model = make()
    step(model, torch.optim.SGD(model.parameters(), lr=0.1))
living()
""")
        self.assertEqual(len(norms), 20)
        self.assertLessEqual(living[0], 2)

    def test_an_optimizer_in_the_place_of_another_trains_its_own_parameters(self) -> None:
        r, norms, _ = self.recorded("""
model = make()
for turn in range(12):
    part = model[0] if turn % 2 else model[3]
    model.requires_grad_(False)
    part.requires_grad_()
    for p in model.parameters():
        p.grad = None
    optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
    step(model, optimizer)
    del optimizer
""")
        self.assertEqual(len(norms), 12)


if __name__ == "__main__":
    unittest.main()
