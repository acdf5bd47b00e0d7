"""Why a script ended, in one sentence, and whether that only echoes the end of another rank."""

from __future__ import annotations

import json
import os
import time
import traceback

# As in core/host/root_cause.cpp: the texts by which gloo and the TCP store report that a peer vanished.
_ECHOES = ("Connection closed by peer", "Connection reset by peer", "Broken pipe", "Application timeout caused pair closure",
           "Timed out waiting", "Gloo connectFullMesh failed", "failed to pass monitoredBarrier", "wait timeout after",
           "Socket Timeout")

# torchrun takes the earliest whole second for the root cause: an echo must not come in the same one.
ECHO_SECONDS = 2.0


def is_echo(error: BaseException) -> bool:
    text = str(error)
    return any(echo in text for echo in _ECHOES)


def sentence(error: BaseException, rank: int, step: int) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "lockstep_probe" not in f.filename]
    own = [f for f in frames if f"{os.sep}site-packages{os.sep}" not in f.filename] or frames
    place = f", in {os.path.basename(own[-1].filename)} line {own[-1].lineno}" if own else ""
    text = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
    when = "before its first step" if step < 0 else f"in step {step + 1}"
    return f"Rank {rank} failed {when}. {what}{place}. Read the log in the run's folder."


def write_error_file(text: str, error: BaseException) -> None:
    """What torchrun reads to name the rank that failed first; a script that has written its own keeps it."""
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path or (os.path.exists(path) and os.path.getsize(path)):
        return
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    document = {"message": {"message": text, "extraInfo": {"py_callstack": stack, "timestamp": str(int(time.time()))}}}
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
    except OSError:
        pass  # torchrun then shows the exit code alone
