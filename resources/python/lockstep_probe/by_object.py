"""Something known of an object, which is told by its identity and not kept alive."""

from __future__ import annotations

import weakref
from typing import Any


class ByObject:
    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}  # by id: a weak reference and what is known

    def get(self, item: Any, otherwise: Any) -> Any:
        return self._known[id(item)][1] if id(item) in self._known else otherwise

    def set(self, item: Any, value: Any) -> None:
        key = id(item)
        try:
            reference = weakref.ref(item, lambda _: self._known.pop(key, None))
        except TypeError:  # a list, say; another that lies at the same place later is taken for it
            reference = None
        self._known[key] = (reference, value)
