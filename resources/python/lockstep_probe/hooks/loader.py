"""Batches of a DataLoader with the sample ids they were made from.

The iterator asks its sampler for the ids of a batch before it delivers the batch, with worker processes several batches
ahead; both happen in the training process and in the same order.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Optional
from weakref import WeakKeyDictionary

from torch.utils.data import DataLoader, Subset
from torch.utils.data import dataloader as implementation

from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session

_IDS = "_lockstep_ids"


def install(session: "Session") -> None:
    epochs: "WeakKeyDictionary[Any, int]" = WeakKeyDictionary()
    loaders: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()
    base = implementation._BaseDataLoaderIter

    def iterated(original: Any) -> Any:
        def __iter__(self: Any) -> Any:
            iterator = original(self)
            epochs[self] = epochs.get(self, -1) + 1
            session.epoch_begins(self)
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
                    session.epoch_ended(loader, epochs.get(loader, 0))
                raise
            queue = self.__dict__.get(_IDS)
            index = queue.popleft() if queue else None
            if loader is not None:
                session.fetched(loader, data, lambda: _ids(loader, index), epochs.get(loader, 0), time.perf_counter() - begin)
            return data

        return __next__

    wrap(DataLoader, "__iter__", iterated)
    wrap(base, "_next_index", indexed)
    wrap(base, "_reset", reset)
    wrap(base, "__next__", delivered)


def _ids(loader: Any, index: Any) -> Optional[list[int]]:
    """None where the batch was not made from numbered samples, or where its order is not kept."""
    if index is None or loader._dataset_kind != implementation._DatasetKind.Map or not getattr(loader, "in_order", True):
        return None
    items = index if isinstance(index, (list, tuple)) else [index]
    try:
        numbers = [int(item) for item in items]
    except (TypeError, ValueError):
        return None
    dataset = loader.dataset
    while type(dataset) is Subset:
        try:
            numbers = [int(dataset.indices[number]) for number in numbers]
        except (TypeError, IndexError):
            return numbers
        dataset = dataset.dataset
    return numbers
