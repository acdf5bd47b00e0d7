"""Connects this process to the host and puts the hooks in place."""

from __future__ import annotations

import os
import signal
import threading

from . import environment, hooks, read_script, wire
from .options import Options
from .session import Session
from .stream import Sink, Stream, say

_GRACE_SECONDS = 3.0  # for a rank that hangs in a collective when its host is gone


def attach(options: Options) -> Session:
    """The hooks are in place; the host hears of this process with the first thing that makes it a rank."""
    session = Session(Stream(_host_gone), options.record == "tensor", lambda session: _announce(session, options))
    if options.metric:
        from .printed import watch_output

        watch_output(session, options.metric)
    hooks.install(session, options)
    if session.rank == 0 and not options.is_module:
        for text in read_script.warnings_of(options.script):
            session.note(text)
    return session


def _announce(session: Session, options: Options) -> None:
    if session.stream.abandoned:
        return  # a child that the script forked before it trained is no rank
    connect = os.environ.get("LOCKSTEP_CONNECT")
    sink = Sink.connect(connect) if connect else Sink.open((options.stream or "").replace("%r", str(session.rank)))
    session.stream.open(sink, session.rank, wire.hello(
        session.rank, session.world, os.getpid(), os.environ.get("LOCKSTEP_TOKEN", ""), os.uname().nodename,
        environment.environment_json(), "{}"))


def _host_gone(problem: str) -> None:
    """Nobody listens any more, so nobody wants this run to go on."""
    say(f"the run is over: {problem}")
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(_GRACE_SECONDS)
    os._exit(143)
