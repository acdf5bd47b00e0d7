"""Runs something with its end recorded: the last words of a rank."""

from __future__ import annotations

import os
import threading
import time
from typing import Callable, Optional

from . import failure, wire
from .session import Session


def run_recorded(session: Session, work: Callable[[], None]) -> None:
    """Exceptions go on as they came, once they are reported."""
    code, kind, text, secondary = 0, "finished", "", False
    error: Optional[BaseException] = None
    leave = os._exit
    os._exit = lambda status: _leave(session, leave, status)  # type: ignore[assignment]
    try:
        work()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if code:
            kind, text = "error", _ended_itself(session, code)
        error = end
    except KeyboardInterrupt as end:
        code, kind, error = 130, "stopped", end
    except BaseException as end:
        code, kind, error = 1, "error", end
        text, secondary = failure.sentence(end, session.rank, session.step), failure.is_echo(end)
        failure.write_error_file(text, end)
    finally:
        os._exit = leave
    _last_words(session, code, kind, text, secondary)
    if error is not None:
        if secondary:
            time.sleep(failure.ECHO_SECONDS)
        raise error.with_traceback(_without_ours(error))


def _last_words(session: Session, code: int, kind: str, text: str, secondary: bool) -> None:
    session.end(well=kind == "finished")
    session.announce()
    if session.stream.is_open:
        at = session.step + 1 if kind == "error" and session.step >= 0 else session.step  # the step in which it failed
        session.stream.send(wire.goodbye(session.rank, at, code, secondary, time.monotonic_ns(), kind, text))
        session.stream.finish()


def _leave(session: Session, leave: Callable[[int], None], status: int) -> None:
    """os._exit runs nothing any more. A thread that calls it may do so because the training hangs: that is left alone."""
    if not session.stream.abandoned and threading.current_thread() is threading.main_thread():
        _last_words(session, status, "error" if status else "finished", _ended_itself(session, status) if status else "", False)
    leave(status)


def _ended_itself(session: Session, code: int) -> str:
    return f"Rank {session.rank} ended itself with exit code {code} after step {max(0, session.step)}."


def _without_ours(error: BaseException):  # noqa: ANN202: a traceback
    """The script's own part of the traceback, as without the probe."""
    trace = error.__traceback__
    while trace is not None and "lockstep_probe" in trace.tb_frame.f_code.co_filename and trace.tb_next is not None:
        trace = trace.tb_next
    return trace
