"""python -m lockstep_probe train.py ..."""

from __future__ import annotations

import os
import sys
import time
from typing import Optional

from . import failure, launch, wire
from .options import Options, parse


def main(arguments: "list[str]") -> None:
    options = parse(arguments)
    connect = os.environ.get("LOCKSTEP_CONNECT")
    if options.record == "off" or not (connect or options.stream):
        launch.run_script(options)
        return

    from . import attach  # torch comes in here

    session = attach.attach(options, connect)
    code, kind, text, secondary = 0, "finished", "", False
    error: Optional[BaseException] = None
    try:
        launch.run_script(options)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if code:
            kind, text = "error", f"Rank {session.rank} ended itself with exit code {code} after step {max(0, session.step)}."
        error = end
    except KeyboardInterrupt as end:
        code, kind, error = 130, "stopped", end
    except BaseException as end:
        code, kind, error = 1, "error", end
        text, secondary = failure.sentence(end, session.rank, session.step), failure.is_echo(end)
        failure.write_error_file(text, end)
    session.end(well=kind == "finished")
    at = session.step + 1 if kind == "error" and session.step >= 0 else session.step  # the step in which it failed
    session.stream.send(wire.goodbye(session.rank, at, code, secondary, time.monotonic_ns(), kind, text))
    session.stream.finish()
    if error is not None:
        if secondary:
            time.sleep(failure.ECHO_SECONDS)
        raise error.with_traceback(_without_ours(error))


def _without_ours(error: BaseException):  # noqa: ANN202: a traceback
    """The script's own part of the traceback, as without the probe."""
    trace = error.__traceback__
    while trace is not None and "lockstep_probe" in trace.tb_frame.f_code.co_filename and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


if __name__ == "__main__":
    main(sys.argv[1:])
