"""The same measures through liblockstep_measure.so (resources/python/native), built beside lockstep-cli."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Optional, Sequence

import torch

from .reference import PROJECTIONS, Reference

VERSION = 2
_ONE, _ZERO, _WORD = ctypes.c_uint64(1), ctypes.c_uint64(0), ctypes.c_uint32(8)
_LIBRARY = "liblockstep_measure.so"


class Native:
    name = "native"

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.library.lockstep_signs.argtypes = [ctypes.c_void_p, ctypes.c_uint64]

    def signs(self, count: int) -> torch.Tensor:
        signs = torch.empty(count, dtype=torch.uint8)
        self.library.lockstep_signs(signs.data_ptr(), count)
        return signs

    def fingerprints(self, arrays: Sequence[torch.Tensor], first: Sequence[int]) -> list[int]:
        n = len(arrays)
        out = (ctypes.c_uint64 * n)()
        sizes = (ctypes.c_uint32 * n)(*[a.element_size() for a in arrays])
        self.library.lockstep_fingerprints(ctypes.c_uint64(n), _pointers(arrays), _counts(arrays), sizes,
                                            (ctypes.c_uint64 * n)(*first), out)
        return list(out)

    def words_print(self, words: bytes) -> int:
        out = ctypes.c_uint64()
        self.library.lockstep_fingerprints(_ONE, ctypes.byref(ctypes.c_char_p(words)), ctypes.byref(ctypes.c_uint64(len(words) // 8)),
                                            ctypes.byref(_WORD), ctypes.byref(_ZERO), ctypes.byref(out))
        return out.value

    def rows(self, array: torch.Tensor, rows: int, first: int, out: list[int]) -> None:
        sums = (ctypes.c_uint64 * rows)(*out)
        size = array.element_size()
        self.library.lockstep_rows(ctypes.c_void_p(array.data_ptr()), ctypes.c_uint64(rows),
                                    ctypes.c_uint64(array.numel() // rows), ctypes.c_uint32(size), ctypes.c_uint64(first), sums)
        out[:] = sums

    def gradients(self, arrays: Sequence[torch.Tensor], signs: torch.Tensor,
                  first: Sequence[int]) -> tuple[list[float], list[tuple[float, ...]]]:
        n = len(arrays)
        squares = (ctypes.c_double * n)()
        sums = (ctypes.c_double * (n * PROJECTIONS))()
        self.library.lockstep_gradients(ctypes.c_uint64(n), _pointers(arrays), _counts(arrays),
                                         ctypes.c_void_p(signs.data_ptr()), (ctypes.c_uint64 * n)(*first), squares, sums)
        flat = list(sums)
        return list(squares), [tuple(flat[i : i + PROJECTIONS]) for i in range(0, len(flat), PROJECTIONS)]

    def squares(self, arrays: Sequence[torch.Tensor]) -> list[float]:
        out = (ctypes.c_double * len(arrays))()
        self.library.lockstep_squares(ctypes.c_uint64(len(arrays)), _pointers(arrays), _counts(arrays), out)
        return list(out)

    def updates(self, after: Sequence[torch.Tensor], before: Sequence[torch.Tensor]) -> list[float]:
        out = (ctypes.c_double * len(after))()
        self.library.lockstep_updates(ctypes.c_uint64(len(after)), _pointers(after), _pointers(before), _counts(after), out)
        return list(out)


def _pointers(arrays: Sequence[torch.Tensor]) -> ctypes.Array:
    return (ctypes.c_void_p * len(arrays))(*[a.data_ptr() for a in arrays])


def _counts(arrays: Sequence[torch.Tensor]) -> ctypes.Array:
    return (ctypes.c_uint64 * len(arrays))(*[a.numel() for a in arrays])


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
