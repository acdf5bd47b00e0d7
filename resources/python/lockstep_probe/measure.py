"""Reduces parameters, gradients and optimizer state to the numbers of a step; reads them, never writes or copies them back."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Iterable, Optional, Sequence

import torch

from .layout import Layout, is_plain
from .native import FloatList, Native, backend
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


class Measures:
    def __init__(self, per_tensor: bool) -> None:
        self.fast = backend()
        self.exact = Reference()
        self.per_tensor = per_tensor
        self._signs: Optional[torch.Tensor] = None
        self._before: dict[int, torch.Tensor] = {}  # parameters after the step before, by piece
        self._gradients: dict[tuple[int, ...], FloatList] = {}
        self._states: Optional[FloatList] = None

    # Gradients

    def gradient(self, layout: Layout, pieces: Sequence[int], scale: float = 1.0) -> Gradient:
        """Of the .grad of these pieces, multiplied by `scale`."""
        result = Gradient()
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

    def _measure(self, layout: Layout, chosen: list[int], arrays: Arrays, into: Gradient, scale: float) -> None:
        if self._signs is None or self._signs.numel() < layout.total:
            self._signs = self.fast.signs(layout.total)
        floats, wide = _floats(arrays)
        if isinstance(self.fast, Native) and not wide:
            key = tuple(chosen)
            if key not in self._gradients:
                self._gradients[key] = FloatList(self.fast, floats, [layout.pieces[i].base + layout.pieces[i].first for i in chosen])
            squares, projections = self._gradients[key].gradients([a.data_ptr() for a in floats], self._signs)
        else:
            first = [layout.pieces[i].base + layout.pieces[i].first for i in chosen]
            squares, projections = (self.exact if wide else self.fast).gradients(floats, self._signs, first)
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
            if self._states is None:
                self._states = FloatList(self.fast, arrays, first)
            before = [self._before[i].data_ptr() for i, _ in pieces]
            squares, prints = self._states.states([a.data_ptr() for a in arrays], before)
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

    def optimizer_print(self, layout: Layout, states: dict[int, dict[str, Any]], counts_replicated: bool) -> int:
        """Fingerprint of the state of all parameters in order. `states` is keyed by the id of the parameter;
        `counts_replicated`: this rank speaks for state that every rank holds beside its shards."""
        arrays: Arrays = []
        first: list[int] = []
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
                    place += piece.numel
                else:
                    if counts_replicated or not piece.share:
                        arrays.append(inner if is_plain(inner) else inner.detach().cpu().contiguous())
                        first.append(place)
                    place += inner.numel()
        return sum(self.fast.fingerprints(arrays, first)) & MASK if arrays else 0

    def list_print(self, arrays: Arrays) -> int:
        """Fingerprint of a list of tensors, numbered through."""
        first, place = [], 0
        dense = [a if is_plain(a) else a.detach().cpu().contiguous() for a in arrays]
        for array in dense:
            first.append(place)
            place += array.numel()
        return sum(self.fast.fingerprints(dense, first)) & MASK if dense else 0

    def tensor_figures(self, tensor: torch.Tensor) -> tuple[float, int]:
        """Norm (0 where it is no floating-point tensor) and fingerprint."""
        array = tensor.detach().cpu().contiguous()
        squares = 0.0
        if array.is_floating_point():
            floats, wide = _floats([array])
            squares = (self.exact if wide else self.fast).squares(floats)[0]
        return math.sqrt(squares), self.fast.fingerprints([array], [0])[0]
