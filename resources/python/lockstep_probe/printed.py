"""The loss the script prints for people, found by a pattern in its output."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .session import Session


class _Watched:
    """Stands for sys.stdout; everything but the look at the text is the stream's own."""

    def __init__(self, stream: Any, session: "Session", pattern: "re.Pattern[str]") -> None:
        self._stream = stream
        self._session = session
        self._pattern = pattern

    def write(self, text: str) -> int:
        found = self._pattern.search(text)
        if found:
            try:
                self._session.printed(float(found.group(1)))
            except (ValueError, IndexError):
                pass
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def watch_output(session: "Session", pattern: str) -> None:
    compiled = re.compile(pattern)
    sys.stdout = _Watched(sys.stdout, session, compiled)  # type: ignore[assignment]
