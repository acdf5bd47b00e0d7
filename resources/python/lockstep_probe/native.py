"""The same measures through liblockstep_measure.so (resources/python/native), built beside lockstep-cli."""

from __future__ import annotations

import ctypes
import os
from array import array
from pathlib import Path
from typing import Optional, Sequence

import torch

from .reference import PROJECTIONS, Reference

VERSION = 3
_LIBRARY = "liblockstep_measure.so"

_u64, _u32, _address = ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p


class Native:
    name = "native"

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.lockstep_signs.argtypes = [_address, _u64]
        library.lockstep_fingerprint.argtypes = [_address, _u64, _u32, _u64]
        library.lockstep_rows.argtypes = [_address, _u64, _u64, _u32, _u64, _address]
        for function in (library.lockstep_fingerprint, library.lockstep_fingerprints, library.lockstep_states):
            function.restype = _u64

    def signs(self, count: int) -> torch.Tensor:
        signs = torch.empty(count, dtype=torch.uint8)
        self.library.lockstep_signs(signs.data_ptr(), count)
        return signs

    def fingerprint(self, tensor: torch.Tensor) -> int:
        return self.library.lockstep_fingerprint(tensor.data_ptr(), tensor.numel(), tensor.element_size(), 0)

    def fingerprints(self, arrays: Sequence[torch.Tensor], first: Sequence[int]) -> list[int]:
        n = len(arrays)
        out = (_u64 * n)()
        sizes = (_u32 * n)(*[a.element_size() for a in arrays])
        self.library.lockstep_fingerprints(_u64(n), _pointers(arrays), _counts(arrays), sizes, (_u64 * n)(*first), out)
        return list(out)

    def words_print(self, words: "array[int]") -> int:
        address, count = words.buffer_info()
        return self.library.lockstep_fingerprint(address, count, 8, 0)

    def rows(self, tensor: torch.Tensor, first: int, out: "array[int]") -> None:
        rows = len(out)
        self.library.lockstep_rows(tensor.data_ptr(), rows, tensor.numel() // rows, tensor.element_size(), first,
                                   out.buffer_info()[0])

    def gradients(self, arrays: Sequence[torch.Tensor], signs: torch.Tensor,
                  first: Sequence[int]) -> tuple[list[float], list[float]]:
        n = len(arrays)
        squares = (ctypes.c_double * n)()
        projections = (ctypes.c_double * (n * PROJECTIONS))()
        self.library.lockstep_gradients(_u64(n), _pointers(arrays), _counts(arrays), _address(signs.data_ptr()),
                                         (_u64 * n)(*first), squares, projections, (ctypes.c_double * (1 + PROJECTIONS))())
        return squares[:], projections[:]

    def squares(self, arrays: Sequence[torch.Tensor]) -> list[float]:
        out = (ctypes.c_double * len(arrays))()
        self.library.lockstep_squares(_u64(len(arrays)), _pointers(arrays), _counts(arrays), out)
        return list(out)

    def updates(self, after: Sequence[torch.Tensor], before: Sequence[torch.Tensor]) -> list[float]:
        out = (ctypes.c_double * len(after))()
        self.library.lockstep_updates(_u64(len(after)), _pointers(after), _pointers(before), _counts(after), out)
        return list(out)


def _pointers(arrays: Sequence[torch.Tensor]) -> ctypes.Array:
    return (_address * len(arrays))(*[a.data_ptr() for a in arrays])


def _counts(arrays: Sequence[torch.Tensor]) -> ctypes.Array:
    return (_u64 * len(arrays))(*[a.numel() for a in arrays])


def _candidates() -> list[Path]:
    named = os.environ.get("LOCKSTEP_MEASURE")
    if named is not None:
        return [Path(named)] if named else []
    here = Path(__file__).resolve().parent
    # Beside the package, or in the build of the checkout the package lies in.
    return [here / _LIBRARY, here.parents[2] / "build" / "bin" / _LIBRARY]


def load() -> Optional[Native]:
    for path in _candidates():
        try:
            library = ctypes.CDLL(str(path))
            if library.lockstep_measure_version() == VERSION:
                return Native(library)
        except (OSError, AttributeError):
            continue
    return None


def backend() -> "Native | Reference":
    """LOCKSTEP_MEASURE names the library; an empty value means: without it."""
    return load() or Reference()
