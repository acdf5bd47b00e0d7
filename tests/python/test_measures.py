"""The probe's measures against the definitions of core/base, written out here in plain Python integers and floats."""

from __future__ import annotations

import math
import os
import re
import struct
import unittest
from array import array
from pathlib import Path

import torch
from lockstep_probe import native, quantity
from lockstep_probe.gradient_sums import Gradient
from lockstep_probe.layout import Layout
from lockstep_probe.measure import Measures
from lockstep_probe.reference import Reference

SOURCE = Path(__file__).resolve().parents[2]
MASK = (1 << 64) - 1


def mix(index: int, bits: int) -> int:
    z = (bits + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fingerprint(data: bytes, size: int, first: int = 0) -> int:
    words = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    return sum(mix(first + i, word) for i, word in enumerate(words)) & MASK


def lanes(values: "list[float]") -> float:
    lane = [0.0] * 16
    for i, value in enumerate(values):
        lane[i % 16] += value
    half = 8
    while half:
        for i in range(half):
            lane[i] += lane[i + half]
        half //= 2
    return lane[0]


def backends() -> list:
    found = native.load()
    return [Reference()] + ([found] if found else [])


class Arithmetic(unittest.TestCase):
    def setUp(self) -> None:
        self.generator = torch.Generator().manual_seed(1)

    def random(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=self.generator)

    def test_the_library_is_built(self) -> None:
        if os.environ.get("LOCKSTEP_MEASURE") == "":
            self.skipTest("told to go without it")
        self.assertIsNotNone(native.load(), "liblockstep_measure.so: build it with ./dev build")

    def test_fingerprints_have_the_defined_bits_for_every_element_size(self) -> None:
        for dtype in (torch.uint8, torch.bool, torch.int16, torch.bfloat16, torch.float32, torch.int64, torch.float64):
            array = (self.random(3, 11) * 9).to(dtype)
            raw = array.view(torch.uint8).flatten().tolist() if dtype != torch.bool else array.flatten().tolist()
            expected = fingerprint(bytes(int(b) for b in raw), array.element_size(), 5)
            for measures in backends():
                self.assertEqual(measures.fingerprints([array], [5]), [expected], (measures.name, dtype))

    def test_gradient_sums_are_added_in_sixteen_lanes(self) -> None:
        for count in (1, 15, 16, 17, 1000):
            array = self.random(count)
            values = array.double().tolist()
            for measures in backends():
                signs = measures.signs(count + 3)
                squares, projections = measures.gradients([array], signs, [3])
                self.assertEqual(squares, [lanes([v * v for v in values])], measures.name)
                for k in range(4):
                    signed = [-v if mix(3 + i, 0x4C6F636B73746570) >> k & 1 else v for i, v in enumerate(values)]
                    self.assertEqual(projections[k], lanes(signed), (measures.name, count, k))

    def test_an_update_is_measured_and_remembered(self) -> None:
        before, after = self.random(7, 5), self.random(7, 5)
        expected = lanes([(b - a) ** 2 for a, b in zip(before.double().flatten().tolist(), after.double().flatten().tolist())])
        for measures in backends():
            kept = before.clone()
            self.assertEqual(measures.updates([after], [kept]), [expected], measures.name)
            self.assertTrue(torch.equal(kept, after))

    def test_rows_hash_alike_in_any_batch(self) -> None:
        batch = self.random(6, 4)
        for measures in backends():
            whole, part = array("Q", [0] * 6), array("Q", [0] * 2)
            measures.rows(batch, 9, whole)
            measures.rows(batch[2:4].contiguous(), 9, part)
            self.assertEqual(whole[2:4], part, measures.name)
            self.assertEqual(whole[0], fingerprint(struct.pack("<4f", *batch[0].tolist()), 4, 9))

    def test_words_are_numbered_through(self) -> None:
        words = array("q", [5, -1, 1 << 40])
        for measures in backends():
            self.assertEqual(measures.words_print(words), fingerprint(struct.pack("<3q", *words), 8), measures.name)
            self.assertEqual(measures.words_print(array("Q")), 0, measures.name)
            self.assertEqual(measures.fingerprint(torch.tensor([3, 4], dtype=torch.uint8)), fingerprint(bytes([3, 4]), 1))

    def test_nan_and_infinity_go_through(self) -> None:
        array = torch.tensor([1.0, float("nan"), float("inf")])
        for measures in backends():
            self.assertTrue(math.isnan(measures.squares([array])[0]), measures.name)


class Gradients(unittest.TestCase):
    """A gradient that is measured in one go, in parts, or again: the same sums."""

    def setUp(self) -> None:
        generator = torch.Generator().manual_seed(2)
        self.model = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.Linear(5, 3))
        for parameter in self.model.parameters():
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        self.layout = Layout()
        self.layout.add_model(self.model)

    def expected(self, pieces: "list[int]", scale: float = 1.0) -> float:
        grads = [p.grad.double().flatten().tolist() for p in self.model.parameters()]
        total = 0.0
        for i in sorted(pieces):
            total += lanes([v * v for v in grads[i]]) * scale * scale
        return math.sqrt(total)

    def test_one_measure_and_parts_give_the_same(self) -> None:
        for measures in (Measures(False), Measures(True)):
            whole, parts = Gradient(), Gradient()
            whole.add(measures.gradient(self.layout, [3, 0, 2, 1]))
            for i in (2, 0, 3, 1):
                parts.add(measures.gradient(self.layout, [i]))
            self.assertEqual(whole.norm(), self.expected([0, 1, 2, 3]))
            self.assertEqual(whole.norm(), parts.norm())
            self.assertEqual(list(whole.projection()), list(parts.projection()))
            self.assertEqual(whole.squares, parts.squares)
            self.assertEqual(whole.prints, parts.prints)

    def test_pieces_are_moved_from_one_gradient_to_another(self) -> None:
        measures = Measures(False)
        for wanted in ([0, 1, 2, 3], [1, 3], [3, 1, 2, 0, 9]):
            source, taken = Gradient(), Gradient()
            source.add(measures.gradient(self.layout, [0, 1, 2, 3]))
            taken.take(source, wanted)
            own = [i for i in range(4) if i in wanted]
            self.assertEqual(taken.norm(), self.expected(own))
            self.assertEqual(source.without([0, 1, 2, 3]), own)
            self.assertEqual(bool(source), len(own) < 4)

    def test_a_factor_is_taken_into_each_piece(self) -> None:
        gradient = Gradient()
        gradient.add(Measures(False).gradient(self.layout, [0, 1, 2, 3], 1 / 3))
        self.assertEqual(gradient.norm(), self.expected([0, 1, 2, 3], 1 / 3))

    def test_what_lies_ready_is_not_used_for_gradients_of_another_kind(self) -> None:
        measures = Measures(False)
        pieces = [0, 1, 2, 3]
        weight = self.model[0].weight
        measures.gradient(self.layout, pieces)
        changes = {
            "transposed": lambda: setattr(weight, "grad", torch.randn(7, 5).t()),
            "sparse": lambda: setattr(weight, "grad", torch.eye(5, 7).to_sparse()),
            "double": lambda: setattr(weight.grad, "data", torch.randn(5, 7, dtype=torch.float64)),
            "as before": lambda: setattr(weight, "grad", torch.randn(5, 7)),
        }
        for name, change in changes.items():
            weight.grad = torch.zeros(5, 7)
            change()
            gradient = Gradient()
            gradient.add(measures.gradient(self.layout, pieces))
            dense = weight.grad.to_dense() if weight.grad.is_sparse else weight.grad
            self.assertEqual(gradient.squares[0], lanes([v * v for v in dense.double().flatten().tolist()]), name)
        weight.grad = None
        gradient = Gradient()
        gradient.add(measures.gradient(self.layout, pieces))
        self.assertEqual(sorted(gradient.squares), [1, 2, 3])


class Quantities(unittest.TestCase):
    def test_the_numbers_are_those_of_the_header(self) -> None:
        header = (SOURCE / "core/base/quantity.h").read_text()
        listing = header[header.index("enum class Quantity") : header.index("};", header.index("enum class Quantity"))]
        listing = re.sub(r"//.*", "", listing)
        numbers = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", listing)}
        ours = {name: value for name, value in vars(quantity).items() if name.isupper() and name != "SHARE"}
        as_header = {"".join(part.capitalize() for part in name.split("_")): value for name, value in ours.items()}
        for name, value in as_header.items():
            self.assertEqual(numbers.get(name), value, name)


if __name__ == "__main__":
    unittest.main()
