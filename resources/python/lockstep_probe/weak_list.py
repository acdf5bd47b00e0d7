"""A list that does not keep its members alive: what the script drops, the probe forgets. The order is that of adding."""

from __future__ import annotations

import weakref
from typing import Any, Iterator


class WeakList:
    def __init__(self) -> None:
        self._references: list[Any] = []

    def add(self, item: Any) -> None:
        if not any(reference() is item for reference in self._references):
            self._references.append(weakref.ref(item))

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self._references):
            item = reference()
            if item is None:
                self._references.remove(reference)
            else:
                yield item

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return any(True for _ in self)
