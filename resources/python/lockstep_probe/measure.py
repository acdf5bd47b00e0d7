"""Reduces parameters, gradients and optimizer state to the numbers of a step; reads them, never writes or copies them back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Optional, Sequence

import torch

from .gradient_sums import Sums, in_order, totals
from .layout import Layout, is_plain
from .native import Native, backend
from .optimizer_state import OptimizerPrint
from .prepared import GradientList, PrintList, StateList
from .reference import MASK, Reference

Arrays = list[torch.Tensor]


@dataclass
class State:
    """The parameters after a step."""

    fingerprint: int  # of all
    pieces: Sequence[int]
    squares: Sequence[float]  # squared norm of the change since the last call, by piece
    moved: float  # their sum
    complete: bool  # every piece was there at the last call
    prints: dict[int, int] = field(default_factory=dict)  # by piece from its own first element; only per tensor

    def updates(self) -> dict[int, float]:
        """Squares by piece."""
        return dict(zip(self.pieces, self.squares))


def _floats(arrays: Arrays) -> tuple[Arrays, bool]:
    """As float32, which holds every narrower type exactly; True if one is float64 and needs the reference."""
    if all(a.dtype == torch.float32 for a in arrays):
        return arrays, False
    wide = any(a.dtype == torch.float64 for a in arrays)
    return [a if a.dtype in (torch.float32, torch.float64) else a.detach().float() for a in arrays], wide


def numbered(arrays: Sequence[torch.Tensor]) -> list[int]:
    """The index of the first element of each, all numbered through."""
    return list(accumulate((a.numel() for a in arrays[:-1]), initial=0)) if arrays else []


class Measures:
    def __init__(self, per_tensor: bool) -> None:
        self.fast = backend()
        self.exact = Reference()
        self.per_tensor = per_tensor
        self._signs: Optional[torch.Tensor] = None  # of all elements
        self._before: dict[int, torch.Tensor] = {}  # parameters after the step before, by piece
        self._gradients: dict[tuple[int, ...], GradientList] = {}  # by piece
        self._states: Optional[tuple[int, list[int], StateList]] = None  # for so many pieces in all, which of them
        self._buffers: Optional[PrintList] = None
        self._optimizer = OptimizerPrint(self.fast)

    # Gradients

    def gradient(self, layout: Layout, pieces: Sequence[int], scale: float = 1.0) -> Optional[Sums]:
        """Of the .grad of these pieces, multiplied by `scale`; None where they have none."""
        known = self._gradients.get(tuple(pieces))
        if known is not None and not self.per_tensor and (sums := known.measure_owned()) is not None:
            return sums if scale == 1.0 else sums.scaled(scale)
        chosen, arrays = [], []
        for i in sorted(pieces):
            piece = layout.pieces[i]
            grad = piece.tensor.grad
            if grad is not None and piece.count:
                chosen.append(i)
                arrays.append(piece.of(grad))
        if not chosen:
            return None
        sums = self._sums(layout, tuple(pieces), chosen, arrays)
        if self.per_tensor:
            sums = sums._replace(prints=self.fast.fingerprints(arrays, [layout.pieces[i].first for i in chosen]))
        return sums if scale == 1.0 else sums.scaled(scale)

    def _sums(self, layout: Layout, asked: tuple[int, ...], chosen: list[int], arrays: Arrays) -> Sums:
        if self._signs is None or self._signs.numel() < layout.total:
            self._signs = self.fast.signs(layout.total)
            self._gradients.clear()
        floats, wide = _floats(arrays)
        first = [layout.pieces[i].base + layout.pieces[i].first for i in chosen]
        if isinstance(self.fast, Native) and not wide:
            own = len(chosen) == len(asked) and all(layout.pieces[i].whole and is_plain(layout.pieces[i].tensor) and
                                                    layout.pieces[i].tensor.dtype == torch.float32 for i in chosen)
            owners = [layout.pieces[i].tensor for i in chosen] if own else []
            known = GradientList(self.fast, chosen, owners, [a.numel() for a in floats], first, self._signs)
            if own:
                self._gradients[asked] = known
            return known.measure(floats)
        squares, projections = (self.exact if wide else self.fast).gradients(floats, self._signs, first)
        return Sums(chosen, squares, projections, totals(squares, projections))

    def let_go(self) -> None:
        """Holds no tensor of the script until it is asked to measure one again."""
        self._gradients.clear()
        self._states = self._buffers = None
        self._optimizer.let_go()

    def forget(self, pieces: "set[int]") -> None:
        for i in pieces:
            self._before.pop(i, None)

    # State after a step

    def remember(self, layout: Layout) -> None:
        """Pieces that are new, as they are before their first step."""
        pieces = [(i, p) for i, p in enumerate(layout.pieces) if p.count and i not in self._before]
        floats, _ = _floats([p.of(p.tensor) for _, p in pieces])
        self._before.update((i, array.detach().clone()) for (i, _), array in zip(pieces, floats))
        self._states = None

    def state(self, layout: Layout) -> State:
        if self._states and self._states[0] == len(layout.pieces) and self._states[2].unmoved() and not self.per_tensor:
            _, numbers, prepared = self._states
            squares, moved, fingerprint = prepared.measure()
            return State(fingerprint, numbers, squares, moved, True)
        pieces = [(i, p) for i, p in enumerate(layout.pieces) if p.count]
        numbers = [i for i, _ in pieces]
        arrays = [p.of(p.tensor) for _, p in pieces]
        floats, wide = _floats(arrays)
        new = [i for i, _ in pieces if i not in self._before]
        if new:
            self._states = None
            with torch.no_grad():
                self._before.update((i, array.detach().clone()) for (i, _), array in zip(pieces, floats) if i in set(new))
        first = [p.base + p.first for _, p in pieces]
        if isinstance(self.fast, Native) and floats is arrays and not wide:
            prepared = StateList(self.fast, arrays, [self._before[i] for i, _ in pieces], first)
            squares, moved, fingerprint = prepared.measure()
            # Only what lies in memory as the parameter itself can be measured there again.
            lasting = all(a is p.tensor and is_plain(a) for a, (_, p) in zip(arrays, pieces))
            self._states = (len(layout.pieces), numbers, prepared) if lasting else None
        else:
            squares = (self.exact if wide else self.fast).updates(floats, [self._before[i] for i, _ in pieces])
            moved, fingerprint = in_order(squares), sum(self.fast.fingerprints(arrays, first)) & MASK
        state = State(fingerprint, numbers, squares, moved, not new)
        if self.per_tensor:
            own = self.fast.fingerprints(arrays, [p.first for _, p in pieces])
            state.prints = dict(zip(numbers, own))
        return state

    def parameter_print(self, layout: Layout) -> int:
        """Fingerprint of all parameters, as in State."""
        pieces = [p for p in layout.pieces if p.count]
        return sum(self.fast.fingerprints([p.of(p.tensor) for p in pieces], [p.base + p.first for p in pieces])) & MASK

    def norms(self, layout: Layout) -> dict[int, float]:
        """Squared norm of each piece."""
        pieces = [(i, p) for i, p in enumerate(layout.pieces) if p.count]
        arrays, wide = _floats([p.of(p.tensor) for _, p in pieces])
        return dict(zip((i for i, _ in pieces), (self.exact if wide else self.fast).squares(arrays)))

    def optimizer_print(self, layout: Layout, optimizers: Sequence[torch.optim.Optimizer], counts_replicated: bool) -> int:
        """Fingerprint of the state of all parameters in order; `counts_replicated`: this rank speaks for state that every rank
        holds beside its shards."""
        return self._optimizer.measure(layout, optimizers, counts_replicated)

    def buffers_print(self, arrays: Arrays) -> int:
        """As list_print, of the same buffers in every step."""
        if self._buffers is not None and self._buffers.holds(arrays):
            return self._buffers.measure()
        lasting = isinstance(self.fast, Native) and bool(arrays) and all(map(is_plain, arrays))
        self._buffers = PrintList(self.fast, arrays, numbered(arrays)) if lasting else None
        return self.list_print(arrays)

    def list_print(self, arrays: Arrays) -> int:
        """Fingerprint of a list of tensors, numbered through."""
        dense = [a if is_plain(a) else a.detach().cpu().contiguous() for a in arrays]
        return sum(self.fast.fingerprints(dense, numbered(dense))) & MASK if dense else 0

    def tensor_figures(self, tensor: torch.Tensor) -> tuple[float, int]:
        """Norm (0 where it is no floating-point tensor) and fingerprint."""
        array = tensor.detach().cpu().contiguous()
        squares = 0.0
        if array.is_floating_point():
            floats, wide = _floats([array])
            squares = (self.exact if wide else self.fast).squares(floats)[0]
        return math.sqrt(squares), self.fast.fingerprints([array], [0])[0]
