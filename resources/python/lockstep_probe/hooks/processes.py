"""Processes that become ranks: by init_process_group, those that torch.multiprocessing starts for the script, and those that the
script starts as itself, with a rank of their own in the environment, as Lightning's trainer does."""

from __future__ import annotations

import os
import subprocess
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


def _finds_probe(environment: Any) -> bool:
    """Whether a process with this environment can import the probe: it is installed, or the path to it was handed on."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    own, other = (paths.split(os.pathsep) for paths in (os.environ.get("PYTHONPATH", ""), environment.get("PYTHONPATH", "")))
    return folder not in map(os.path.abspath, filter(None, own)) or folder in map(os.path.abspath, filter(None, other))


def as_rank(command: Any, environment: Any, options: "Options") -> Any:
    """The command under the probe, where it is this script again with a rank of its own; else as it is."""
    if not isinstance(command, (list, tuple)) or len(command) < 2 or not all(isinstance(part, (str, os.PathLike)) for part in command):
        return command
    parts = [os.fspath(part) for part in command]
    ranked = environment is not None and any(environment.get(name) not in (None, os.environ.get(name))
                                             for name in ("LOCAL_RANK", "RANK"))
    of_file = not options.is_module and os.path.abspath(parts[1]) == os.path.abspath(options.script)
    of_module = options.is_module and parts[1:3] == ["-m", options.script]
    if not ranked or not _finds_probe(environment) or not (of_file or of_module) or not os.path.basename(parts[0]).startswith("python"):
        return command
    return [parts[0], "-m", "lockstep_probe", *options.repeated(), *parts[1:]]


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

    def opened(original: Any) -> Any:
        def init(self: Any, args: Any, *others: Any, **kwargs: Any) -> None:
            environment = kwargs.get("env", others[9] if len(others) > 9 else None)
            original(self, as_rank(args, environment, options), *others, **kwargs)

        return init

    wrap(subprocess.Popen, "__init__", opened)
    if torch.distributed.is_available():
        wrap(torch.distributed, "init_process_group", initialised)
    # spawn() calls start_processes, which it finds in its own module; there is a function of the module's name, too.
    wrap_everywhere([sys.modules["torch.multiprocessing.spawn"], torch.multiprocessing], "start_processes", started)
