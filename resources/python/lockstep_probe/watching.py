"""What every place that listens to the script has in common: it may fail, and the script goes on."""

from __future__ import annotations

import functools
import os
import traceback
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from .session import Session


def watching(method: Callable[..., None]) -> Callable[..., None]:
    """A mistake of the probe must not end the script: it ends the recording, with a note that says so."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> None:
        session: "Session" = getattr(self, "_s", self)  # of the session, or of one of its parts
        if not session.active:
            return
        try:
            method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001: whatever it is
            session.active = False
            session.note("The probe met something it cannot record and stopped recording; the script goes on. "
                      f"{type(error).__name__}: {error}")
            if os.environ.get("LOCKSTEP_PROBE_DEBUG"):
                traceback.print_exc()

    return guarded
