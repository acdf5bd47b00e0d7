"""Replaces a function by one that calls it."""

from __future__ import annotations

import functools
from typing import Any, Callable

Wrapper = Callable[..., Any]


def wrap(owner: Any, name: str, make: Callable[[Wrapper], Wrapper]) -> bool:
    """`make(original)` takes the place of owner.name and keeps its name, text and signature. False: there is none."""
    original = getattr(owner, name, None)
    if original is None:
        return False
    setattr(owner, name, functools.wraps(original)(make(original)))
    return True


def wrap_everywhere(owners: list[Any], name: str, make: Callable[[Wrapper], Wrapper]) -> None:
    """The same function under several owners: wrapped once, so that one call is seen once."""
    original = getattr(owners[0], name, None)
    if original is None:
        return
    wrapped = functools.wraps(original)(make(original))
    for owner in owners:
        if getattr(owner, name, None) is original:
            setattr(owner, name, wrapped)
