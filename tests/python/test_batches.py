"""What the probe makes of a batch, of the loss it ends in, and of the optimizers that step."""

from __future__ import annotations

import unittest

import torch
from lockstep_probe.facts import Micro
from lockstep_probe.losses import targets_behind
from lockstep_probe.measure import Measures
from lockstep_probe.samples import Batch, content_hashes
from lockstep_probe.script_facts import _groups, _outermost


def detection(counts: "list[int]", first: int = 0) -> tuple:
    """Images, and for each a mapping with as many boxes."""
    images = torch.stack([torch.full((3, 2), float(first + i)) for i in range(len(counts))])
    targets = [{"boxes": torch.arange(4.0 * count).view(count, 4) + first + i, "label": torch.tensor(i)} for i, count in enumerate(counts)]
    return images, targets


class Contents(unittest.TestCase):
    def setUp(self) -> None:
        self.measures = Measures(True)

    def hashes(self, data: object, size: int) -> "list[int]":
        return list(content_hashes(self.measures, data, size))

    def test_what_stands_in_a_sample_s_place_of_a_list_is_its_own_whatever_its_length(self) -> None:
        # Two boxes in a batch of two, and three boxes in a batch of three: as many rows as samples, and still one sample's.
        images, targets = detection([1, 3, 2])
        whole = self.hashes((images, targets), 3)
        self.assertEqual(whole[1:], self.hashes((images[1:], targets[1:]), 2))
        self.assertEqual(whole[:1], self.hashes((images[:1], targets[:1]), 1))
        targets[1]["boxes"][2, 3] += 1
        changed = self.hashes((images, targets), 3)
        self.assertNotEqual(changed[1], whole[1])
        self.assertEqual([changed[0], changed[2]], [whole[0], whole[2]])

    def test_images_of_uneven_sizes_are_samples(self) -> None:
        images = [torch.randn(3, 4), torch.randn(5, 4)]
        self.assertEqual(self.hashes([images], 2)[1], self.hashes([[images[1]]], 1)[0])

    def test_a_batch_of_as_many_tensors_as_samples_has_rows(self) -> None:
        x, y = torch.randn(2, 4), torch.arange(2)
        whole = self.hashes([x, y], 2)
        self.assertEqual(whole[:1], self.hashes([x[:1], y[:1]], 1))


class Losses(unittest.TestCase):
    def counts(self, rows: int, targets: torch.Tensor) -> int:
        loss = torch.nn.functional.cross_entropy(torch.randn(rows, 3, requires_grad=True)[: len(targets)], targets)
        micro = Micro(0.0, [], targets_behind(loss, rows), [Batch(None, size=rows)])
        micro.settle(loaders=False)
        return micro.counts()

    def test_a_loss_over_some_of_what_came_in_counts_those(self) -> None:
        self.assertEqual(self.counts(20, torch.zeros(6, dtype=torch.long)), 6)
        self.assertEqual(self.counts(6, torch.zeros(6, dtype=torch.long)), 6)
        self.assertEqual(self.counts(6, torch.tensor([0, -100, 1, 2, -100, 0])), 4)


    def test_losses_of_all_targets_that_the_script_adds_up_are_a_sum(self) -> None:
        logits, targets = torch.randn(4, 3, requires_grad=True), torch.tensor([0, -100, 1, 2])
        each = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
        for loss, summed in ((each.sum() / 3, True), (each.mean(), False)):
            found = targets_behind(loss, 4)
            self.assertEqual((found.counted, found.summed), (3, summed))


class Optimizers(unittest.TestCase):
    def test_an_optimizer_that_another_one_holds_has_no_groups_of_its_own(self) -> None:
        model = torch.nn.Linear(2, 2)
        outer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        outer.optim = torch.optim.SGD([model.weight], lr=0.1, momentum=0.5)
        beside = torch.optim.SGD([model.bias], lr=0.1)
        self.assertEqual(_outermost([outer, outer.optim, beside]), [outer, beside])
        self.assertEqual(_groups(_outermost([outer, outer.optim])), _groups([outer]))


if __name__ == "__main__":
    unittest.main()
