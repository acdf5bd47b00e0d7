"""The frame stream between this rank and the host: the format of core/wire/frame.h and codec.h, version 1."""

from __future__ import annotations

import struct
from array import array
from typing import Sequence

MAGIC = b"LOCKSTP\n"
VERSION = 1
HEADER = MAGIC + struct.pack("<I", VERSION)

HELLO, STEP, SAMPLES, TENSOR, EVENT, HEARTBEAT, GOODBYE = range(1, 8)

# Stages of a heartbeat.
STAGE_START, STAGE_DATA, STAGE_FORWARD, STAGE_BACKWARD, STAGE_REDUCTION, STAGE_OPTIMIZER, STAGE_CHECKPOINT, STAGE_END = range(8)

# TensorRecord::Has
HAS_LOCAL, HAS_REDUCED, HAS_UPDATE, HAS_STATE = 1, 2, 4, 8
HAS_SHARE = 16  # only a part of the tensor is here; the host joins the parts and removes the mark


def frame(kind: int, payload: bytes) -> bytes:
    return struct.pack("<IHH", len(payload), kind, 0) + payload


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return struct.pack("<I", len(data)) + data


def hello(rank: int, world: int, pid: int, token: str, host: str, environment: str, config: str) -> bytes:
    return frame(HELLO, struct.pack("<iiq", rank, world, pid) + _text(token) + _text(host) + _text(environment) + _text(config))


class StepValues:
    """Values of one step, in the order in which they are added."""

    def __init__(self) -> None:
        self._format: list[str] = []
        self._fields: list[float | int] = []

    def real(self, quantity: int, value: float, index: int = 0) -> None:
        self._format.append("HHd")
        self._fields += (quantity, index, value)

    def reals(self, quantity: int, values: Sequence[float], index: int) -> None:
        """Under this index and those that follow."""
        for place, value in enumerate(values, index):
            self._format.append("HHd")
            self._fields += (quantity, place, value)

    def integer(self, quantity: int, value: int, index: int = 0) -> None:
        self._format.append("HHq")
        self._fields += (quantity, index, value)

    def bits(self, quantity: int, value: int, index: int = 0) -> None:
        self._format.append("HHQ")
        self._fields += (quantity, index, value)

    def __len__(self) -> int:
        return len(self._format)

    def pack(self) -> bytes:
        return struct.pack("<I" + "".join(self._format), len(self._format), *self._fields)


def step(rank: int, number: int, values: StepValues) -> bytes:
    return frame(STEP, struct.pack("<iq", rank, number) + values.pack())


def samples(rank: int, number: int, micro: int, epoch: int, ids: "array[int]", hashes: "array[int]") -> bytes:
    """Of 64-bit words, whose bytes are little-endian as on every machine that torch runs on."""
    return frame(SAMPLES, b"".join((struct.pack("<iqiqI", rank, number, micro, epoch, len(ids)), ids.tobytes(),
                                    struct.pack("<I", len(hashes)), hashes.tobytes())))


def tensor(rank: int, number: int, name: str, buffer: bool, has: int, local_norm: float = 0.0, local_print: int = 0,
           reduced_norm: float = 0.0, reduced_print: int = 0, update_norm: float = 0.0, state_norm: float = 0.0,
           state_print: int = 0) -> bytes:
    return frame(
        TENSOR,
        struct.pack("<iq", rank, number) + _text(name)
        + struct.pack("<BIdQdQddQ", buffer, has, local_norm, local_print, reduced_norm, reduced_print, update_norm,
                      state_norm, state_print),
    )


def event(rank: int, number: int, kind: str, monotonic_ns: int, detail: str) -> bytes:
    return frame(EVENT, struct.pack("<iq", rank, number) + _text(kind) + struct.pack("<q", monotonic_ns) + _text(detail))


def heartbeat(rank: int, number: int, stage: int, monotonic_ns: int) -> bytes:
    return frame(HEARTBEAT, struct.pack("<iqBq", rank, number, stage, monotonic_ns))


def goodbye(rank: int, number: int, exit_code: int, secondary: bool, monotonic_ns: int, kind: str, sentence: str) -> bytes:
    return frame(
        GOODBYE,
        struct.pack("<iqiBq", rank, number, exit_code, secondary, monotonic_ns) + _text(kind) + _text(sentence),
    )
