"""Sends frames from a thread of its own, with a heartbeat while training goes on. The training thread only appends bytes."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from typing import BinaryIO, Callable, Optional

from . import wire

FLUSH_SECONDS = 0.04
BEAT_SECONDS = 0.5
# A host that does not read for so long makes the training wait: better than to fill the memory.
MOST_BUFFERED = 64 << 20


class Sink:
    """Where the bytes go: the host's socket or a file."""

    def __init__(self, connection: Optional[socket.socket] = None, file: Optional[BinaryIO] = None) -> None:
        self._socket = connection
        self._file = file

    @staticmethod
    def connect(address: str) -> "Sink":
        host, _, port = address.rpartition(":")
        connection = socket.create_connection((host, int(port)), timeout=10)
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Sink(connection=connection)

    @staticmethod
    def open(path: str) -> "Sink":
        # Without a buffer, whose lock a forked DataLoader worker would inherit in a locked state and wait for on closing.
        return Sink(file=open(path, "wb", buffering=0))  # noqa: SIM115: closed with the sink

    def write(self, data: bytes) -> None:
        if self._socket is not None:
            self._socket.sendall(data)
        elif self._file is not None:
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) :]

    def peer_gone(self) -> bool:
        if self._socket is None:
            return False
        try:
            return self._socket.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def close(self) -> None:
        """Also called in a forked child: closes its copy, the parent's stays open."""
        if self._socket is not None:
            self._socket.close()
        if self._file is not None:
            self._file.close()


class Stream:
    """Keeps what is sent until open(): who this process is may be known only later."""

    def __init__(self, host_gone: Callable[[str], None]) -> None:
        self._sink = Sink()
        self._rank = 0
        self._host_gone = host_gone
        self._lock = threading.Lock()
        self._buffer = bytearray()
        self._wake = threading.Event()
        self._stop = False
        self._dead = False
        self.step = 0
        self.stage = wire.STAGE_START
        self._thread = threading.Thread(target=self._run, name="lockstep-probe", daemon=True)
        self._owner = os.getpid()
        os.register_at_fork(after_in_child=self._abandon)

    @property
    def abandoned(self) -> bool:
        return os.getpid() != self._owner

    @property
    def is_open(self) -> bool:
        return self._thread.ident is not None

    def open(self, sink: Sink, rank: int, hello: bytes) -> None:
        self._sink = sink
        self._rank = rank
        with self._lock:
            self._buffer[:0] = wire.HEADER + hello
        self._thread.start()

    def send(self, data: bytes) -> None:
        if self._dead:
            return
        while len(self._buffer) > MOST_BUFFERED and not self._dead:
            time.sleep(0.001)
        with self._lock:
            self._buffer += data

    def finish(self) -> None:
        """Everything that was sent has left when this returns."""
        if self._dead or os.getpid() != self._owner:
            return
        self._stop = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        self._sink.close()
        self._dead = True

    def _abandon(self) -> None:
        # A forked DataLoader worker must neither speak for this rank nor keep its connection open.
        if not self._dead:
            self._dead = True
            self._sink.close()

    def _run(self) -> None:
        last_beat = time.monotonic()
        stopping = False
        while not stopping:
            stopping = self._wake.wait(FLUSH_SECONDS) and self._stop
            now = time.monotonic()
            if now - last_beat >= BEAT_SECONDS:
                last_beat = now
                self.send(wire.heartbeat(self._rank, self.step, self.stage, time.monotonic_ns()))
            problem = self._flush()
            if problem and not self._dead:
                self._dead = True
                self._host_gone(problem)
                return

    def _flush(self) -> str:
        with self._lock:
            data, self._buffer = self._buffer, bytearray()
        try:
            if data:
                self._sink.write(bytes(data))
            return "the recording host closed the connection" if self._sink.peer_gone() else ""
        except OSError as error:
            return str(error)


def say(text: str) -> None:
    print(f"lockstep_probe: {text}", file=sys.stderr, flush=True)
