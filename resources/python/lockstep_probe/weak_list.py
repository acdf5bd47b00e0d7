"""A list that does not keep its members alive: what the script drops, the probe forgets. The order is that of adding."""

from __future__ import annotations

import weakref
from typing import Any, Iterator


class WeakList:
    def __init__(self) -> None:
        self._references: list[Any] = []

    def add(self, item: Any) -> None:
        for reference in self._references:
            if reference() is item:
                return
        self._references.append(weakref.ref(item, self._references.remove))

    def __iter__(self) -> Iterator[Any]:
        for reference in tuple(self._references):
            item = reference()
            if item is not None:
                yield item

    def __len__(self) -> int:
        return len(self._references)
