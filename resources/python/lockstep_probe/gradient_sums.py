"""A gradient reduced to sums: squares and projections of its pieces, and what they add up to."""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import Iterable, NamedTuple, Optional, Sequence

from .reference import PROJECTIONS


def in_order(values: Iterable[float]) -> float:
    """One after the other: sum() compensates its rounding from Python 3.12 on."""
    return reduce(operator.add, values, 0.0)


class Sums(NamedTuple):
    """Of some pieces, measured in one go; the pieces in ascending order."""

    pieces: Sequence[int]
    squares: Sequence[float]  # by piece
    projections: Sequence[float]  # PROJECTIONS of each piece, one piece after the other
    totals: Sequence[float]  # of the squares, and of each projection, added in the order of the pieces
    prints: Sequence[int] = ()  # by piece; only per tensor

    def scaled(self, factor: float) -> "Sums":
        squares = [s * factor * factor for s in self.squares]
        projections = [p * factor for p in self.projections]
        return Sums(self.pieces, squares, projections, totals(squares, projections), self.prints)


def totals(squares: Sequence[float], projections: Sequence[float]) -> list[float]:
    return [in_order(squares), *(in_order(projections[k::PROJECTIONS]) for k in range(PROJECTIONS))]


class Gradient:
    """What is known of a gradient by now. Pieces without a gradient are absent."""

    def __init__(self) -> None:
        self._sums: Optional[Sums] = None  # all of it; None: nothing, or what is in the dictionaries
        self._squares: dict[int, float] = {}
        self._projections: dict[int, Sequence[float]] = {}
        self._prints: dict[int, int] = {}

    def __bool__(self) -> bool:
        return self._sums is not None or bool(self._squares)

    def __contains__(self, piece: int) -> bool:
        return piece in self.squares

    @property
    def squares(self) -> dict[int, float]:
        """By piece."""
        self._spread()
        return self._squares

    @property
    def prints(self) -> dict[int, int]:
        """By piece."""
        self._spread()
        return self._prints

    def without(self, pieces: Sequence[int]) -> list[int]:
        """Those that are not here."""
        return [i for i in pieces if i not in self.squares] if self else list(pieces)

    def add(self, sums: Optional[Sums]) -> None:
        if sums is None:
            return
        if not self:
            self._sums = sums
            return
        self._spread()
        self._put(sums)

    def take(self, other: "Gradient", pieces: Sequence[int]) -> None:
        """Moves the named pieces of `other` here."""
        if not other:
            return
        if not self and other._sums is not None and set(pieces).issuperset(other._sums.pieces):
            self._sums, other._sums = other._sums, None
            return
        self._spread()
        other._spread()
        for i in pieces:
            if i in other._squares:
                self._squares[i] = other._squares.pop(i)
                self._projections[i] = other._projections.pop(i)
                if i in other._prints:
                    self._prints[i] = other._prints.pop(i)

    def norm(self) -> float:
        if self._sums is not None:
            return math.sqrt(self._sums.totals[0])
        return math.sqrt(in_order([self._squares[i] for i in sorted(self._squares)]))

    def projection(self) -> Sequence[float]:
        if self._sums is not None:
            return self._sums.totals[1:]
        if not self._projections:
            return [0.0] * PROJECTIONS
        return [in_order(values) for values in zip(*[self._projections[i] for i in sorted(self._projections)])]

    def _spread(self) -> None:
        if self._sums is not None:
            sums, self._sums = self._sums, None
            self._put(sums)

    def _put(self, sums: Sums) -> None:
        flat = iter(sums.projections)
        self._squares.update(zip(sums.pieces, sums.squares))
        self._projections.update(zip(sums.pieces, zip(*[flat] * PROJECTIONS)))
        self._prints.update(zip(sums.pieces, sums.prints))
