"""Lists of tensors that are measured in every step through the native library: what stays as it is is made ready once.

A list stands for the very tensors it was made of. Where one of them was replaced, moved in memory or is no longer contiguous, it
says so, and the caller measures the long way and makes a new one.
"""

from __future__ import annotations

import ctypes
import operator
from typing import Optional, Sequence

import torch

from .gradient_sums import Sums
from .native import Native
from .reference import PROJECTIONS

_address = torch.Tensor.data_ptr
_contiguous = torch.Tensor.is_contiguous
_numel = torch.Tensor.numel
_PLAIN = {torch.Tensor}


class _Prepared:
    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self._tensors = list(tensors)
        self._addresses = list(map(_address, self._tensors))
        self._n = ctypes.c_uint64(len(self._tensors))
        self._pointers = (ctypes.c_void_p * len(self._tensors))(*self._addresses)
        self._numels = list(map(_numel, self._tensors))
        self._counts = (ctypes.c_uint64 * len(self._tensors))(*self._numels)

    def holds(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether it was made of these, and their memory is where it was."""
        return len(tensors) == len(self._tensors) and all(map(operator.is_, tensors, self._tensors)) and self._unmoved()

    def _unmoved(self) -> bool:
        return list(map(_address, self._tensors)) == self._addresses and list(map(_numel, self._tensors)) == self._numels and \
            all(map(_contiguous, self._tensors))


class PrintList(_Prepared):
    """Fingerprints of plain arrays; `first` are the indices of their first elements."""

    def __init__(self, native: Native, tensors: Sequence[torch.Tensor], first: Sequence[int]) -> None:
        super().__init__(tensors)
        n = len(self._tensors)
        self._call = native.library.lockstep_fingerprints
        self._sizes = (ctypes.c_uint32 * n)(*[t.element_size() for t in self._tensors])
        self._first = (ctypes.c_uint64 * n)(*first)
        self._out = (ctypes.c_uint64 * n)()

    def measure(self) -> int:
        """Their sum, modulo 2^64."""
        return self._call(self._n, self._pointers, self._counts, self._sizes, self._first, self._out)


class StateList(_Prepared):
    """Parameters after a step against copies of those before, which take their values."""

    def __init__(self, native: Native, after: Sequence[torch.Tensor], before: Sequence[torch.Tensor], first: Sequence[int]) -> None:
        super().__init__(after)
        n = len(self._tensors)
        self._call = native.library.lockstep_states
        self._before = (ctypes.c_void_p * n)(*map(_address, before))
        self._first = (ctypes.c_uint64 * n)(*first)
        self._squares = (ctypes.c_double * n)()
        self._prints = (ctypes.c_uint64 * n)()
        self._moved = ctypes.c_double()
        self._to_moved = ctypes.byref(self._moved)

    def unmoved(self) -> bool:
        return self._unmoved()

    def measure(self) -> tuple[list[float], float, int]:
        """Squares of the updates, their sum, and that of the fingerprints."""
        fingerprint = self._call(self._n, self._pointers, self._before, self._counts, self._first, self._squares, self._prints,
                                 self._to_moved)
        return self._squares[:], self._moved.value, fingerprint


class GradientList:
    """The gradients of parameters that stay the same; they themselves may be new in every step."""

    def __init__(self, native: Native, pieces: Sequence[int], owners: Sequence[torch.Tensor], counts: Sequence[int],
                 first: Sequence[int], signs: torch.Tensor) -> None:
        """`owners`: the parameters, where their gradients are measured as they are; else empty."""
        n = len(pieces)
        self._pieces = list(pieces)
        self._owners = list(owners)
        self._bytes = [4 * count for count in counts]
        self._call = native.library.lockstep_gradients
        self._n = ctypes.c_uint64(n)
        self._pointers = (ctypes.c_void_p * n)()
        self._counts = (ctypes.c_uint64 * n)(*counts)
        self._first = (ctypes.c_uint64 * n)(*first)
        self._keep_signs = signs
        self._signs = ctypes.c_void_p(signs.data_ptr())
        self._squares = (ctypes.c_double * n)()
        self._projections = (ctypes.c_double * (n * PROJECTIONS))()
        self._totals = (ctypes.c_double * (1 + PROJECTIONS))()

    def measure_owned(self) -> Optional[Sums]:
        """None where a gradient is absent or cannot be read as it is."""
        if not self._owners:
            return None
        gradients = [owner.grad for owner in self._owners]
        try:
            # A gradient has the format of its parameter; its class, layout and size are the script's.
            if {*map(type, gradients)} != _PLAIN or [gradient.nbytes for gradient in gradients] != self._bytes or \
                    not all(map(_contiguous, gradients)):
                return None
            self._pointers[:] = list(map(_address, gradients))
        except (TypeError, RuntimeError):  # None; sparse
            return None
        return self._measure()

    def measure(self, gradients: Sequence[torch.Tensor]) -> Sums:
        """Of float32 arrays."""
        self._pointers[:] = list(map(_address, gradients))
        return self._measure()

    def _measure(self) -> Sums:
        self._call(self._n, self._pointers, self._counts, self._signs, self._first, self._squares, self._projections, self._totals)
        return Sums(self._pieces, self._squares[:], self._projections[:], self._totals[:])
