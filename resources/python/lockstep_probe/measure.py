"""Reduces parameters, gradients and optimizer state to the numbers of a step; reads them, never writes or copies them back."""

from __future__ import annotations

import math
from typing import Any, Iterable, Optional, Sequence

import torch

from .layout import Layout, Piece
from .native import backend
from .reference import MASK, PROJECTIONS, Reference

Arrays = list[torch.Tensor]


class Gradient:
    """Sums of squares and projections per piece; pieces without a gradient are absent."""

    def __init__(self) -> None:
        self.squares: dict[int, float] = {}
        self.projections: dict[int, tuple[float, ...]] = {}
        self.prints: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self.squares)

    def take(self, other: "Gradient", pieces: Iterable[int]) -> None:
        """Moves the named pieces of `other` here."""
        for i in pieces:
            if i in other.squares:
                self.squares[i] = other.squares.pop(i)
                self.projections[i] = other.projections.pop(i)
                if i in other.prints:
                    self.prints[i] = other.prints.pop(i)

    def squared_norm(self) -> float:
        return sum((self.squares[i] for i in sorted(self.squares)), 0.0)

    def norm(self) -> float:
        return math.sqrt(self.squared_norm())

    def projection(self) -> list[float]:
        sums = [0.0] * PROJECTIONS
        for i in sorted(self.projections):
            for k, value in enumerate(self.projections[i]):
                sums[k] += value
        return sums


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

    # Gradients

    def gradient(self, layout: Layout, pieces: Iterable[int], scale: float = 1.0) -> Gradient:
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

    def _measure(self, layout: Layout, chosen: Sequence[int], arrays: Arrays, into: Gradient, scale: float) -> None:
        if self._signs is None or self._signs.numel() < layout.total:
            self._signs = self.fast.signs(layout.total)
        first = [layout.pieces[i].base + layout.pieces[i].first for i in chosen]
        floats, wide = _floats(arrays)
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

    def update(self, layout: Layout) -> tuple[dict[int, float], bool]:
        """Squares of the update since the last call by piece; False on the first call for any of them."""
        pieces = [(i, p) for i, p in enumerate(layout.pieces) if p.count]
        now, wide = _floats([p.of(p.tensor) for _, p in pieces])
        complete = True
        with torch.no_grad():
            for (i, _), array in zip(pieces, now):
                if i not in self._before:
                    complete = False
                    self._before[i] = array.detach().clone()
        before = [self._before[i] for i, _ in pieces]
        squares = (self.exact if wide else self.fast).updates(now, before)
        return dict(zip((i for i, _ in pieces), squares)), complete

    def parameter_prints(self, layout: Layout) -> tuple[int, dict[int, int]]:
        """Fingerprint of all parameters, and by piece from its own first element (only per tensor)."""
        pieces = [(i, p) for i, p in enumerate(layout.pieces) if p.count]
        arrays = [p.of(p.tensor) for _, p in pieces]
        total = sum(self.fast.fingerprints(arrays, [p.base + p.first for _, p in pieces])) & MASK
        if not self.per_tensor:
            return total, {}
        own = self.fast.fingerprints(arrays, [p.first for _, p in pieces])
        return total, dict(zip((i for i, _ in pieces), own))

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
            local = getattr(piece.tensor, "_local_tensor", piece.tensor)
            for key, value in state.items():
                if not isinstance(value, torch.Tensor):
                    continue
                inner = getattr(value, "_local_tensor", value)
                if key != "step" and inner.shape == local.shape:
                    if piece.count:
                        arrays.append(piece.of(value))
                        first.append(place + piece.first)
                    place += piece.numel
                else:
                    if counts_replicated or not piece.share:
                        arrays.append(inner.detach().cpu().contiguous())
                        first.append(place)
                    place += inner.numel()
        return sum(self.fast.fingerprints(arrays, first)) & MASK if arrays else 0

    def list_print(self, arrays: Arrays) -> int:
        """Fingerprint of a list of tensors, numbered through."""
        first, place = [], 0
        dense = [a if a.is_cpu and a.is_contiguous() else a.detach().cpu().contiguous() for a in arrays]
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
