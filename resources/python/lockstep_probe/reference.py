"""The measures of core/base/fingerprint.h and projection.h in plain torch, bit for bit; used where the library is missing.

Arrays are contiguous CPU tensors of any shape, taken in row-major order.
"""

from __future__ import annotations

from array import array
from typing import Sequence

import torch

LANES = 16
PROJECTIONS = 4
MASK = (1 << 64) - 1
SEED = 0x4C6F636B73746570  # "Lockstep"
BLOCK = 1 << 16  # elements worked on at a time: the temporaries stay in the cache

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


_GAMMA = _signed(0x9E3779B97F4A7C15)
_FIRST = _signed(0xBF58476D1CE4E5B9)
_SECOND = _signed(0x94D049BB133111EB)


def _shifted(words: torch.Tensor, bits: int) -> torch.Tensor:
    return (words >> bits) & ((1 << (64 - bits)) - 1)


def _mix(index: torch.Tensor, bits: torch.Tensor | int) -> torch.Tensor:
    z = (index + 1) * _GAMMA + bits
    z = (z ^ _shifted(z, 30)) * _FIRST
    z = (z ^ _shifted(z, 27)) * _SECOND
    return z ^ _shifted(z, 31)


def _words(array: torch.Tensor) -> torch.Tensor:
    flat = array.detach().reshape(-1)
    if flat.dtype == torch.bool:
        return flat.view(torch.uint8)
    size = flat.element_size()
    if size == 16:
        return torch.view_as_real(flat).reshape(-1).view(torch.int64)
    return flat.view(_BITS[size])


def _fingerprint(words: torch.Tensor, first: int) -> int:
    total = 0
    for begin in range(0, words.numel(), BLOCK):
        block = words[begin : begin + BLOCK]
        bits = block.to(torch.int64)
        width = 8 * block.element_size()
        if width in (16, 32):
            bits = bits & ((1 << width) - 1)
        index = torch.arange(first + begin, first + begin + block.numel(), dtype=torch.int64)
        total += int(_mix(index, bits).sum())
    return total & MASK


class Reference:
    name = "torch"

    def signs(self, count: int) -> torch.Tensor:
        signs = torch.empty(count, dtype=torch.uint8)
        for begin in range(0, count, BLOCK):
            index = torch.arange(begin, min(count, begin + BLOCK), dtype=torch.int64)
            signs[begin : begin + BLOCK] = (_mix(index, SEED) & (2**PROJECTIONS - 1)).to(torch.uint8)
        return signs

    def fingerprints(self, arrays: Sequence[torch.Tensor], first: Sequence[int]) -> list[int]:
        return [_fingerprint(_words(array), index) for array, index in zip(arrays, first)]

    def fingerprint(self, tensor: torch.Tensor) -> int:
        return _fingerprint(_words(tensor), 0)

    def words_print(self, words: "array[int]") -> int:
        """Fingerprint of 64-bit words."""
        return _fingerprint(torch.frombuffer(words, dtype=torch.int64), 0) if words else 0

    def rows(self, tensor: torch.Tensor, first: int, out: "array[int]") -> None:
        """Adds to each of `out` the fingerprint of a row."""
        words = _words(tensor).reshape(len(out), -1)
        for row in range(len(out)):
            out[row] = (out[row] + _fingerprint(words[row], first)) & MASK

    def gradients(self, arrays: Sequence[torch.Tensor], signs: torch.Tensor,
                  first: Sequence[int]) -> tuple[list[float], list[float]]:
        """Squares, and the projections of each array, one array after the other."""
        squares: list[float] = []
        projections: list[float] = []
        for array, index in zip(arrays, first):
            values = array.detach().reshape(-1).double()
            own = signs[index : index + values.numel()]
            squares.append(_lanes(values * values))
            projections += [_lanes(torch.where((own >> k) & 1 == 1, -values, values)) for k in range(PROJECTIONS)]
        return squares, projections

    def squares(self, arrays: Sequence[torch.Tensor]) -> list[float]:
        return [_lanes(array.detach().reshape(-1).double().square()) for array in arrays]

    def updates(self, after: Sequence[torch.Tensor], before: Sequence[torch.Tensor]) -> list[float]:
        sums = []
        for new, old in zip(after, before):
            sums.append(_lanes((new.detach().double() - old.double()).square().reshape(-1)))
            old.copy_(new.detach())
        return sums


def _lanes(values: torch.Tensor) -> float:
    """The sum in 16 lanes: each adds one after the other (a cumulative sum does), then they are added pairwise."""
    count = values.numel()
    padded = torch.zeros((count + LANES - 1) // LANES * LANES, dtype=torch.float64)
    padded[:count] = values
    if count == 0:
        return 0.0
    # A lane that has no element in the last row must not add anything: -0.0 + 0.0 would change a sign, which a sum of
    # squares does not have and a projection keeps by starting from 0.0 as the definition does.
    lane = torch.cumsum(padded.view(-1, LANES), dim=0)[-1] + 0.0
    half = LANES // 2
    while half > 0:
        lane = lane[:half] + lane[half : 2 * half]
        half //= 2
    return float(lane[0])
