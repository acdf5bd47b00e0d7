"""Processes that become ranks: by init_process_group, and those that torch.multiprocessing starts for the script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable

import torch
import torch.multiprocessing

from .patching import wrap, wrap_everywhere

if TYPE_CHECKING:
    from ..options import Options
    from ..session import Session


class Spawned:
    """Takes the place of the function that the new process is to run, and records what it trains. Goes there by pickle."""

    def __init__(self, work: Callable[..., Any], options: "Options") -> None:
        self.work = work
        self.options = options

    def __call__(self, *arguments: Any) -> None:
        from .. import attach, recorded

        session = attach.attach(self.options)
        recorded.run_recorded(session, lambda: self.work(*arguments))


def install(session: "Session", options: "Options") -> None:
    def initialised(original: Any) -> Any:
        def init_process_group(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            session.announce()
            return result

        return init_process_group

    def started(original: Any) -> Any:
        def start_processes(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            session.is_launcher = True
            return original(Spawned(fn, options), *args, **kwargs)

        return start_processes

    if torch.distributed.is_available():
        wrap(torch.distributed, "init_process_group", initialised)
    # spawn() calls start_processes, which it finds in its own module; there is a function of the module's name, too.
    wrap_everywhere([sys.modules["torch.multiprocessing.spawn"], torch.multiprocessing], "start_processes", started)
