"""Reads a stream file that the probe wrote (--stream), for tests: core/wire/frame.h and codec.h in Python."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

MAGIC = b"LOCKSTP\n\x01\x00\x00\x00"


@dataclass
class Recorded:
    hello: dict[str, Any] = field(default_factory=dict)
    steps: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)  # step -> (quantity, index) -> bits
    samples: list[dict[str, Any]] = field(default_factory=list)
    tensors: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    goodbye: dict[str, Any] = field(default_factory=dict)

    def real(self, step: int, quantity: int, index: int = 0) -> float:
        return struct.unpack("<d", struct.pack("<Q", self.steps[step][(quantity, index)]))[0]

    def integer(self, step: int, quantity: int, index: int = 0) -> int:
        return self.steps[step][(quantity, index)]

    def notes(self) -> list[str]:
        return [e["detail"]["sentence"] for e in self.events if e["kind"] == "note"]

    def config(self) -> dict[str, Any]:
        return next((e["detail"] for e in self.events if e["kind"] == "config"), {})


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> Any:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def text(self) -> str:
        size = self.take("I")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def list(self, form: str) -> list[int]:
        count = self.take("I")
        values = struct.unpack_from(f"<{count}{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{count}{form}")
        return list(values)


def read(path: str) -> Recorded:
    with open(path, "rb") as file:
        data = file.read()
    assert data[:12] == MAGIC, "not a Lockstep stream"
    out, at = Recorded(), 12
    while at < len(data):
        length, kind, flags = struct.unpack_from("<IHH", data, at)
        _take(out, kind, _Bytes(data[at + 8 : at + 8 + length]))
        at += 8 + length
    return out


def _take(out: Recorded, kind: int, b: _Bytes) -> None:
    if kind == 1:
        rank, world, pid = b.take("iiq")
        out.hello = {"rank": rank, "world": world, "pid": pid, "token": b.text(), "host": b.text(),
                     "environment": json.loads(b.text())}
    elif kind == 2:
        _, step = b.take("iq")
        values = out.steps.setdefault(step, {})
        for _ in range(b.take("I")):
            quantity, index, bits = b.take("HHQ")
            assert (quantity, index) not in values, f"quantity {quantity} twice in step {step}"
            values[(quantity, index)] = bits
    elif kind == 3:
        rank, step, micro, epoch = b.take("iqiq")
        out.samples.append({"step": step, "micro": micro, "epoch": epoch, "ids": b.list("q"), "hashes": b.list("Q")})
    elif kind == 4:
        rank, step = b.take("iq")
        name = b.text()
        fields = b.take("BIdQdQddQ")
        out.tensors.append({"step": step, "name": name, "buffer": bool(fields[0]), "has": fields[1], "local": fields[2],
                            "reduced": fields[4], "update": fields[6], "norm": fields[7], "print": fields[8]})
    elif kind == 5:
        _, step = b.take("iq")
        out.events.append({"step": step, "kind": b.text(), "ns": b.take("q"), "detail": json.loads(b.text())})
    elif kind == 7:
        rank, step, code, secondary, _ = b.take("iqiBq")
        out.goodbye = {"rank": rank, "step": step, "code": code, "secondary": bool(secondary), "kind": b.text(),
                       "sentence": b.text()}
