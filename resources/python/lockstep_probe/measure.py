"""Reduces parameters, gradients and optimizer state to the numbers of a step; reads them, never writes or copies them back."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from typing import Optional, Sequence

import torch

from .layout import Layout, is_plain
from .native import Native, backend
from .optimizer_state import OptimizerPrint
from .prepared import GradientList, PrintList, StateList
from .reference import MASK, PROJECTIONS, Reference

Arrays = list[torch.Tensor]


def in_order(values: Sequence[float]) -> float:
    """One after the other: sum() compensates its rounding from Python 3.12 on."""
    return reduce(operator.add, values, 0.0)


class Gradient:
    """Sums of squares and projections per piece; pieces without a gradient are absent."""

    def __init__(self) -> None:
        self.squares: dict[int, float] = {}
        self.projections: dict[int, tuple[float, ...]] = {}
        self.prints: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self.squares)

    def add(self, other: "Gradient") -> None:
        self.squares.update(other.squares)
        self.projections.update(other.projections)
        self.prints.update(other.prints)

    def take(self, other: "Gradient", pieces: Sequence[int]) -> None:
        """Moves the named pieces of `other` here."""
        if not self.squares and len(other.squares) == len(pieces) and all(i in other.squares for i in pieces):
            self.squares, other.squares = other.squares, self.squares
            self.projections, other.projections = other.projections, self.projections
            self.prints, other.prints = other.prints, self.prints
            return
        for i in pieces:
            if i in other.squares:
                self.squares[i] = other.squares.pop(i)
                self.projections[i] = other.projections.pop(i)
                if i in other.prints:
                    self.prints[i] = other.prints.pop(i)

    # Sums over the pieces in list order.

    def norm(self) -> float:
        return math.sqrt(in_order([self.squares[i] for i in sorted(self.squares)]))

    def projection(self) -> list[float]:
        if not self.projections:
            return [0.0] * PROJECTIONS
        return [in_order(values) for values in zip(*[self.projections[i] for i in sorted(self.projections)])]


@dataclass
class State:
    """The parameters after a step."""

    fingerprint: int  # of all
    updates: dict[int, float]  # squared norm of the change since the last call, by piece
    complete: bool  # every piece was there at the last call
    prints: dict[int, int] = field(default_factory=dict)  # by piece from its own first element; only per tensor


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
        self._signs: Optional[torch.Tensor] = None
        self._before: dict[int, torch.Tensor] = {}  # parameters after the step before, by piece
        self._gradients: dict[tuple[int, ...], GradientList] = {}  # by piece
        self._states: Optional[tuple[int, list[int], StateList]] = None  # for so many pieces, which, ready to measure
        self._buffers: Optional[PrintList] = None
        self._optimizer = OptimizerPrint(self.fast)

    # Gradients

    def gradient(self, layout: Layout, pieces: Sequence[int], scale: float = 1.0) -> Gradient:
        """Of the .grad of these pieces, multiplied by `scale`."""
        result = Gradient()
        known = self._gradients.get(tuple(pieces))
        if known is not None and (gradients := known.gradients()) is not None:
            self._keep(layout, known.chosen, gradients, known.measure(gradients, self._signs_of(layout)), result, scale)
            return result
        chosen, arrays = [], []
        for i in pieces:
            piece = layout.pieces[i]
            grad = piece.tensor.grad
            if grad is not None and piece.count:
                chosen.append(i)
                arrays.append(piece.of(grad))
        if chosen:
            self._measure(layout, chosen, arrays, result, scale)
        return result

    def _signs_of(self, layout: Layout) -> torch.Tensor:
        if self._signs is None or self._signs.numel() < layout.total:
            self._signs = self.fast.signs(layout.total)
        return self._signs

    def _measure(self, layout: Layout, chosen: list[int], arrays: Arrays, into: Gradient, scale: float) -> None:
        signs = self._signs_of(layout)
        floats, wide = _floats(arrays)
        first = [layout.pieces[i].base + layout.pieces[i].first for i in chosen]
        if isinstance(self.fast, Native) and not wide:
            key = tuple(chosen)
            if key not in self._gradients:
                owners = [layout.pieces[i].tensor for i in chosen] if all(layout.pieces[i].whole for i in chosen) else []
                self._gradients[key] = GradientList(self.fast, chosen, owners, [a.numel() for a in floats], first)
            figures = self._gradients[key].measure(floats, signs)
        else:
            figures = (self.exact if wide else self.fast).gradients(floats, signs, first)
        self._keep(layout, chosen, arrays, figures, into, scale)

    def _keep(self, layout: Layout, chosen: list[int], arrays: Arrays, figures: tuple[list[float], list[tuple[float, ...]]],
              into: Gradient, scale: float) -> None:
        squares, projections = figures
        if scale != 1.0:
            squares = [s * scale * scale for s in squares]
            projections = [tuple(v * scale for v in p) for p in projections]
        into.squares.update(zip(chosen, squares))
        into.projections.update(zip(chosen, projections))
        if self.per_tensor:
            starts = [layout.pieces[i].first for i in chosen]
            into.prints.update(zip(chosen, self.fast.fingerprints(arrays, starts)))

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
            squares, prints = prepared.measure()
            return State(sum(prints) & MASK, dict(zip(numbers, squares)), True)
        pieces = [(i, p) for i, p in enumerate(layout.pieces) if p.count]
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
            squares, prints = prepared.measure()
            # Only what lies in memory as the parameter itself can be measured there again.
            lasting = all(a is p.tensor and is_plain(a) for a, (_, p) in zip(arrays, pieces))
            self._states = (len(layout.pieces), [i for i, _ in pieces], prepared) if lasting else None
        else:
            squares = (self.exact if wide else self.fast).updates(floats, [self._before[i] for i, _ in pieces])
            prints = self.fast.fingerprints(arrays, first)
        state = State(sum(prints) & MASK, dict(zip((i for i, _ in pieces), squares)), not new)
        if self.per_tensor:
            own = self.fast.fingerprints(arrays, [p.first for _, p in pieces])
            state.prints = dict(zip((i for i, _ in pieces), own))
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
            return sum(self._buffers.prints()) & MASK
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
