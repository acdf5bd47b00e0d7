"""The probe's measures against the definitions of core/base, written out here in plain Python integers and floats."""

from __future__ import annotations

import math
import os
import re
import struct
import unittest
from pathlib import Path

import torch
from lockstep_probe import native, quantity
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


class Measures(unittest.TestCase):
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
                    self.assertEqual(projections[0][k], lanes(signed), (measures.name, count, k))

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
            whole, part = [0] * 6, [0] * 2
            measures.rows(batch, 6, 9, whole)
            measures.rows(batch[2:4].contiguous(), 2, 9, part)
            self.assertEqual(whole[2:4], part, measures.name)
            self.assertEqual(whole[0], fingerprint(struct.pack("<4f", *batch[0].tolist()), 4, 9))

    def test_nan_and_infinity_go_through(self) -> None:
        array = torch.tensor([1.0, float("nan"), float("inf")])
        for measures in backends():
            self.assertTrue(math.isnan(measures.squares([array])[0]), measures.name)


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
