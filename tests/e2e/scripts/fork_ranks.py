"""Starts the ranks of one script as forks of a process that has torch loaded: three times faster to start than torchrun.

    python fork_ranks.py lockstep_probe WORLD script.py [arguments]

With LOCKSTEP_FORKS=PATH in the environment the forks are made by a server that listens there (`serve`), which has torch
loaded once for all scripts; this process then only waits for them.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys


def run(world: int, arguments: list[str], environment: dict[str, str]) -> int:
    """In forks of this process, which has torch loaded. The largest exit code of the ranks."""
    import torch

    # Held here, as torchrun does: a port that is only looked up may be taken before a rank opens it.
    store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False) if world > 1 else None
    children = []
    for rank in range(world):
        pid = os.fork()
        if pid:
            children.append(pid)
            continue
        code = 1
        try:
            os.environ.clear()
            os.environ.update(environment)
            if store is not None:
                os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), LOCAL_WORLD_SIZE=str(world),
                                  MASTER_ADDR="127.0.0.1", MASTER_PORT=str(store.port), GLOO_SOCKET_IFNAME="lo",
                                  TORCHELASTIC_USE_AGENT_STORE="True", TORCHELASTIC_RESTART_COUNT="0")
            from lockstep_probe.__main__ import main as probe

            probe(arguments)
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:  # noqa: BLE001: the fork ends here, whatever it is
            import traceback

            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return max(abs(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])) for pid in children)


def load() -> None:
    import torch  # noqa: F401
    import torch._dynamo  # noqa: F401: what the first optimizer step would load


class Server:
    """A fork of this process that makes the forks of scripts until the `with` ends."""

    def __init__(self, path: str, packages: str) -> None:
        """`packages`: the folder of lockstep_probe, for scripts whose PYTHONPATH comes too late."""
        self.path = path
        self._packages = packages
        self._pid = 0

    def __enter__(self) -> "Server":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen()
        self._pid = os.fork()
        if self._pid == 0:
            sys.path.append(self._packages)
            load()
            while True:
                connection, _ = listener.accept()
                self._serve(connection)
        listener.close()
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)

    def _serve(self, connection: socket.socket) -> None:
        # The client's own output goes with the request, so that what the script prints comes out there.
        data, handles, _, _ = socket.recv_fds(connection, 1 << 20, 2)
        request = json.loads(data)
        own = [os.dup(1), os.dup(2)]
        for target, handle in zip((1, 2), handles):
            os.dup2(handle, target)
            os.close(handle)
        code = run(request["world"], request["arguments"], request["environment"])
        for target, handle in zip((1, 2), own):
            os.dup2(handle, target)
            os.close(handle)
        connection.sendall(bytes([min(code, 255)]))
        connection.close()


def main() -> int:
    world, arguments = int(sys.argv[2]), sys.argv[3:]
    path = os.environ.get("LOCKSTEP_FORKS")
    if not path:
        load()
        return run(world, arguments, dict(os.environ))
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    request = {"world": world, "arguments": arguments, "environment": dict(os.environ)}
    socket.send_fds(connection, [json.dumps(request).encode()], [1, 2])
    answer = connection.recv(1)
    return answer[0] if answer else 1


if __name__ == "__main__":
    sys.exit(main())
