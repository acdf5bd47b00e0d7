"""Lists of tensors that are measured in every step through the native library: what stays as it is is made ready once.

A list stands for the very tensors it was made of. Where one of them was replaced, moved in memory or is no longer contiguous, it
says so, and the caller measures the long way and makes a new one.
"""

from __future__ import annotations

import ctypes
import operator
from typing import Optional, Sequence

import torch

from .native import Native
from .reference import PROJECTIONS

_address = torch.Tensor.data_ptr
_contiguous = torch.Tensor.is_contiguous
_numel = torch.Tensor.numel
_PLAIN_FLOAT = {(torch.float32, torch.strided, True)}


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

    def prints(self) -> list[int]:
        self._call(self._n, self._pointers, self._counts, self._sizes, self._first, self._out)
        return self._out[:]


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

    def unmoved(self) -> bool:
        return self._unmoved()

    def measure(self) -> tuple[list[float], list[int]]:
        """Squares of the updates, fingerprints."""
        self._call(self._n, self._pointers, self._before, self._counts, self._first, self._squares, self._prints)
        return self._squares[:], self._prints[:]


class GradientList:
    """The gradients of parameters that stay the same; they themselves may be new in every step."""

    def __init__(self, native: Native, chosen: Sequence[int], owners: Sequence[torch.Tensor], counts: Sequence[int],
                 first: Sequence[int]) -> None:
        """`owners`: the parameters, where their gradients are measured as they are; else empty."""
        n = len(chosen)
        self.chosen = list(chosen)
        self._owners = list(owners)
        self._call = native.library.lockstep_gradients
        self._n = ctypes.c_uint64(n)
        self._array = ctypes.c_void_p * n
        self._numels = list(counts)
        self._counts = (ctypes.c_uint64 * n)(*counts)
        self._first = (ctypes.c_uint64 * n)(*first)
        self._squares = (ctypes.c_double * n)()
        self._sums = (ctypes.c_double * (n * PROJECTIONS))()

    def gradients(self) -> Optional[list[torch.Tensor]]:
        """None where one is absent or cannot be read as it is."""
        gradients = [owner.grad for owner in self._owners]
        try:
            if {(g.dtype, g.layout, g.is_cpu) for g in gradients} == _PLAIN_FLOAT and all(map(_contiguous, gradients)) and \
                    {*map(type, gradients)} == {torch.Tensor} and list(map(_numel, gradients)) == self._numels:
                return gradients
        except AttributeError:  # None
            pass
        return None

    def measure(self, gradients: Sequence[torch.Tensor], signs: torch.Tensor) -> tuple[list[float], list[tuple[float, ...]]]:
        self._call(self._n, self._array(*map(_address, gradients)), self._counts, ctypes.c_void_p(signs.data_ptr()), self._first,
                   self._squares, self._sums)
        flat = iter(self._sums[:])
        return self._squares[:], list(zip(*[flat] * PROJECTIONS))
