"""Runs scripts with the probe and without, each in a fork of this process, which has torch loaded already."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

# Loaded here once for all forks; the second is what the first optimizer step would load.
import torch  # noqa: F401
import torch._dynamo  # noqa: F401

import stream_file

SCRIPTS = Path(__file__).resolve().parent / "scripts"


@dataclass
class Outcome:
    code: int
    output: str
    recorded: Optional[stream_file.Recorded] = None


def run(script: "str | Path", *, probe: bool = True, world: int = 1, options: "tuple[str, ...]" = (), arguments: "tuple[str, ...]" = (),
        environment: "Optional[dict[str, str]]" = None) -> list[Outcome]:
    """One outcome per rank. `script` is a path or the text of a script."""
    with tempfile.TemporaryDirectory() as folder:
        path = script
        if not isinstance(script, Path):
            path = Path(folder) / "script.py"
            path.write_text(textwrap.dedent(script))
        # Held here, as torchrun does: a port that is only looked up may be taken before a rank opens it.
        store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False) if world > 1 else None
        children = []
        for rank in range(world):
            variables = dict(environment or {}, OMP_NUM_THREADS="1")
            if store is not None:
                variables.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1",
                                 MASTER_PORT=str(store.port), GLOO_SOCKET_IFNAME="lo", TORCHELASTIC_USE_AGENT_STORE="True",
                                 TORCHELASTIC_RESTART_COUNT="0")
            children.append(_start([str(path), *arguments], folder, rank, variables, options if probe else None))
        return [_wait(pid, folder, rank, probe) for rank, pid in enumerate(children)]


def _start(command: list[str], folder: str, rank: int, variables: "dict[str, str]", options: "Optional[tuple[str, ...]]") -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.environ.update(variables)
        output = os.open(f"{folder}/out{rank}", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = open(1, "w", buffering=1, closefd=False)
        sys.stderr = open(2, "w", buffering=1, closefd=False)
        sys.path.insert(0, "")
        if options is None:
            sys.argv = command
            runpy.run_path(command[0], run_name="__main__")
        else:
            from lockstep_probe.__main__ import main

            main([*options, "--stream", f"{folder}/stream{rank}", *command])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _wait(pid: int, folder: str, rank: int, probe: bool) -> Outcome:
    _, status = os.waitpid(pid, 0)
    output = Path(f"{folder}/out{rank}")
    recorded = stream_file.read(f"{folder}/stream{rank}") if probe and os.path.exists(f"{folder}/stream{rank}") else None
    return Outcome(os.waitstatus_to_exitcode(status), output.read_text() if output.exists() else "", recorded)
