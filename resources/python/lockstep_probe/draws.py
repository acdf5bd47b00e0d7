"""Whether the script draws random numbers from numpy's or Python's own generator between getting a batch and training on it, as
mixup and augmentations do: the first steps tell."""

from __future__ import annotations

import pickle
import random
import sys
import zlib
from typing import Any, Callable

WATCHED_STEPS = 3


def _numpy_state() -> bytes:
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "random"):
        return b""
    try:
        return pickle.dumps(numpy.random.get_state(legacy=False))
    except Exception:  # a generator of the script's own need not give its state
        return b""


def _python_state() -> bytes:
    return str(random.getstate()).encode()


_GENERATORS: dict[str, Callable[[], bytes]] = {"numpy": _numpy_state, "python": _python_state}


class Draws:
    def __init__(self) -> None:
        self._before: dict[str, bytes] = {}
        self._drawn: dict[str, bytes] = {}  # by generator: its state before the first draw of a step

    def batch_came(self) -> None:
        self._before = {name: state() for name, state in _GENERATORS.items()}

    def backward_comes(self) -> None:
        for name, before in self._before.items():
            if _GENERATORS[name]() != before:
                self._drawn.setdefault(name, before)
        self._before = {}

    def told(self) -> dict[str, Any]:
        """By generator that was drawn from in the step: a sum over its state before, equal where two ranks draw alike."""
        drawn, self._drawn = self._drawn, {}
        return {name: f"{zlib.crc32(state):08x}" for name, state in drawn.items()}
