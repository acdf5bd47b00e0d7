"""The probe changes nothing: results, gradients, optimizer state and generators have the same bits with and without it."""

from __future__ import annotations

import unittest

import torch
from probed import SCRIPTS, run


SCALES_HERE = hasattr(torch.amp, "GradScaler")  # torch before 2.3 scales on a GPU only


class Numerics(unittest.TestCase):
    def assert_same(self, world: int) -> None:
        without = run(SCRIPTS / "many_loops.py", probe=False, world=world)
        watched = run(SCRIPTS / "many_loops.py", world=world, options=("--record", "tensor"))
        for rank in range(world):
            self.assertEqual(without[rank].code, 0, without[rank].output)
            self.assertEqual(watched[rank].code, 0, watched[rank].output)
            self.assertEqual(without[rank].output, watched[rank].output)
            self.assertEqual(watched[rank].output.count("rank "), 7 if SCALES_HERE else 6)
            # With two ranks each takes half of the batches of the loops that have a sampler.
            steps = {1: 33, 2: 21}[world] - (0 if SCALES_HERE else {1: 6, 2: 3}[world])
            self.assertEqual(max(watched[rank].recorded.steps), steps, watched[rank].recorded.notes())

    def test_one_process(self) -> None:
        self.assert_same(1)

    def test_two_ranks(self) -> None:
        self.assert_same(2)


if __name__ == "__main__":
    unittest.main()
