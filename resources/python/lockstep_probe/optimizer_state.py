"""Fingerprint of what the optimizers keep for their parameters."""

from __future__ import annotations

import operator
from typing import Any, Optional, Sequence

import torch

from .layout import Layout, is_plain
from .native import Native
from .prepared import PrintList
from .reference import MASK, Reference


class _Kept:
    """Where the states of the last step lie: if nothing was added, dropped or replaced they are there again."""

    def __init__(self, native: Native, pieces: int, optimizers: Sequence[torch.optim.Optimizer],
                 taken: Sequence[tuple[dict[str, Any], str]], first: Sequence[int]) -> None:
        self._pieces = pieces
        self._states = [optimizer.state for optimizer in optimizers]
        self._of_parameters = [state for states in self._states for state in states.values()]
        self._sizes = list(map(len, self._of_parameters))
        self._taken = list(taken)
        self._list = PrintList(native, [state[key] for state, key in taken], first)

    def measure(self, pieces: int, optimizers: Sequence[torch.optim.Optimizer]) -> Optional[int]:
        states = [optimizer.state for optimizer in optimizers]
        if pieces != self._pieces or len(states) != len(self._states) or not all(map(operator.is_, states, self._states)):
            return None
        own = [state for states in self._states for state in states.values()]
        if len(own) != len(self._of_parameters) or not all(map(operator.is_, own, self._of_parameters)) or \
                list(map(len, own)) != self._sizes:
            return None
        if not self._list.holds([state.get(key) for state, key in self._taken]):
            return None
        return self._list.measure()


class OptimizerPrint:
    def __init__(self, fast: "Native | Reference") -> None:
        self._fast = fast
        self._kept: Optional[_Kept] = None

    def let_go(self) -> None:
        self._kept = None

    def measure(self, layout: Layout, optimizers: Sequence[torch.optim.Optimizer], counts_replicated: bool) -> int:
        if self._kept is not None and (known := self._kept.measure(len(layout.pieces), optimizers)) is not None:
            return known
        self._kept = None
        states = {id(p): state for optimizer in optimizers for p, state in optimizer.state.items()
                  if isinstance(p, torch.Tensor) and isinstance(state, dict)}
        arrays: list[torch.Tensor] = []
        first: list[int] = []
        taken: list[tuple[dict[str, Any], str]] = []
        place = 0
        for piece in layout.pieces:
            state = states.get(id(piece.tensor))
            if not state:
                continue
            local = getattr(piece.tensor, "_local_tensor", piece.tensor) if piece.share else piece.tensor
            for key, value in state.items():
                if not isinstance(value, torch.Tensor):
                    continue
                inner = getattr(value, "_local_tensor", value) if piece.share else value
                if key != "step" and inner.shape == local.shape:
                    if piece.count:
                        arrays.append(piece.of(value))
                        first.append(place + piece.first)
                        taken.append((state, key))
                    place += piece.numel
                else:
                    if counts_replicated or not piece.share:
                        arrays.append(inner if is_plain(inner) else inner.detach().cpu().contiguous())
                        first.append(place)
                        taken.append((state, key))
                    place += inner.numel()
        if not arrays:
            return 0
        lasting = isinstance(self._fast, Native) and not layout.sharded and \
            all(array is state[key] and is_plain(array) for array, (state, key) in zip(arrays, taken))
        if lasting and isinstance(self._fast, Native) and \
                all(isinstance(state, dict) for optimizer in optimizers for state in optimizer.state.values()):
            self._kept = _Kept(self._fast, len(layout.pieces), optimizers, taken, first)
        return sum(self._fast.fingerprints(arrays, first)) & MASK
