"""Batches of a DataLoader with the sample ids they were made from.

The iterator asks its sampler for the ids of a batch before it delivers the batch, with worker processes several batches
ahead; both happen in the training process and in the same order.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections import deque
from typing import TYPE_CHECKING, Any, Optional
from weakref import WeakKeyDictionary, ref

import torch
from torch.utils.data import DataLoader, Subset
from torch.utils.data import dataloader as implementation

from ..by_object import ByObject
from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session

_IDS = "_lockstep_ids"


class Epochs:
    """Which turn through its data a loader is on. Scripts that make a new loader for every epoch go on counting where the
    last one over the same dataset ended or was given up; loaders of an evaluation count for themselves."""

    def __init__(self) -> None:
        self._of: "WeakKeyDictionary[Any, int]" = WeakKeyDictionary()
        self._earlier = ByObject()  # by dataset: loaders and their turn
        self._done = ByObject()  # by dataset: the last turn that ended

    def begin(self, loader: Any) -> None:
        turn = self._of.get(loader)
        if turn is None and torch.is_grad_enabled():
            given_up = [last for reference, last in self._earlier.get(loader.dataset, ()) if reference() is None]
            turn = max([*given_up, self._done.get(loader.dataset, -1)])
        turn = (-1 if turn is None else turn) + 1
        self._of[loader] = turn
        if torch.is_grad_enabled():
            others = [entry for entry in self._earlier.get(loader.dataset, ()) if entry[0]() is not loader]
            self._earlier.set(loader.dataset, [*others[-8:], (ref(loader), turn)])

    def ended(self, loader: Any) -> None:
        if torch.is_grad_enabled():
            self._done.set(loader.dataset, self._of.get(loader, 0))

    def of(self, loader: Any) -> int:
        return self._of.get(loader, 0)


def install(session: "Session") -> None:
    epochs = Epochs()
    loaders: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()
    base = implementation._BaseDataLoaderIter

    def iterated(original: Any) -> Any:
        def __iter__(self: Any) -> Any:
            iterator = original(self)
            epochs.begin(self)
            caller = sys._getframe(1)  # of an object like accelerate's loaders, which fetch the next batch before they give one
            holder = caller.f_locals.get("self") if caller.f_code.co_name == "__iter__" else None
            session.epoch_begins(self, holder is not None and holder is not self)
            if isinstance(iterator, base):
                loaders[iterator] = self
            return iterator

        return __iter__

    def indexed(original: Any) -> Any:
        def _next_index(self: Any) -> Any:
            index = original(self)
            self.__dict__.setdefault(_IDS, deque()).append(index)
            return index

        return _next_index

    def reset(original: Any) -> Any:
        def _reset(self: Any, *args: Any, **kwargs: Any) -> Any:
            self.__dict__.pop(_IDS, None)  # persistent workers: the iterator begins its next epoch
            return original(self, *args, **kwargs)

        return _reset

    def delivered(original: Any) -> Any:
        def __next__(self: Any) -> Any:
            begin = time.perf_counter()
            loader = loaders.get(self)
            try:
                data = original(self)
            except StopIteration:
                if loader is not None:
                    epochs.ended(loader)
                    session.epoch_ended(loader, epochs.of(loader), getattr(self, "_base_seed", None))
                raise
            queue = self.__dict__.get(_IDS)
            index = queue.popleft() if queue else None
            if loader is not None:
                session.fetched(loader, data, lambda: _ids(loader, index), epochs.of(loader), time.perf_counter() - begin)
            return data

        return __next__

    wrap(DataLoader, "__iter__", iterated)
    wrap(base, "_next_index", indexed)
    wrap(base, "_reset", reset)
    wrap(base, "__next__", delivered)


def _ids(loader: Any, index: Any) -> "Optional[array[int]]":
    """None where the batch was not made from numbered samples, or where its order is not kept."""
    if index is None or loader._dataset_kind != implementation._DatasetKind.Map or not getattr(loader, "in_order", True):
        return None
    items = index if isinstance(index, (list, tuple)) else [index]
    try:
        numbers = array("q", items)
    except (TypeError, ValueError, OverflowError):  # not numbers, or larger ones than there are samples
        return None
    dataset = loader.dataset
    while type(dataset) is Subset:
        try:
            numbers = array("q", [int(dataset.indices[number]) for number in numbers])
        except (TypeError, IndexError, OverflowError):
            return numbers
        dataset = dataset.dataset
    return numbers
