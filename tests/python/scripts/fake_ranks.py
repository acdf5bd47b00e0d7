"""Ranks without torch, for tests of the host: they speak the probe's stream and end as they are told.

    fake_ranks.py lockstep_probe ok raise ...     one word per rank
"""

import json
import os
import signal
import socket
import sys
import time

from lockstep_probe import quantity, wire

WORDS = sys.argv[2:]


def values(step: int, rank: int) -> wire.StepValues:
    out = wire.StepValues()
    out.bits(quantity.PARAM_FINGERPRINT, 1000 + step)
    if step:
        out.real(quantity.LOSS, 1.0 / step + rank)
    return out


def rank_main(rank: int, act: str) -> int:
    if act == "never":
        return 0
    host, _, port = os.environ["LOCKSTEP_CONNECT"].rpartition(":")
    connection = socket.create_connection((host, int(port)))
    world = 3 if act == "liar" else len(WORDS)
    connection.sendall(wire.HEADER + wire.hello(rank, world, os.getpid(), os.environ["LOCKSTEP_TOKEN"], "test", '{"torch":"none"}',
                                                "{}"))
    for step in range(6):
        connection.sendall(wire.step(rank, step, values(step, rank)))
    if rank == 0:
        detail = {"mode": "fsdp", "batch": 7, "workload_options": {"sampler": "RandomSampler"}}
        connection.sendall(wire.event(rank, 1, "config", time.monotonic_ns(), json.dumps(detail)))
        connection.sendall(wire.event(rank, 1, "note", time.monotonic_ns(), json.dumps({"sentence": "Something to know."})))
    time.sleep(0.3)  # a commit
    if act == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "hang":
        print("hanging", flush=True)
        connection.recv(1)  # until the host is gone
        return 143
    kind, code, secondary, text = "finished", 0, False, ""
    if act == "raise":
        kind, code, text = "error", 1, f"Rank {rank} failed in step 6. ValueError: no more data. Read the log in the run's folder."
    elif act == "echo":
        time.sleep(0.1)
        kind, code, secondary, text = "error", 1, True, "Connection closed by peer"
    connection.sendall(wire.goodbye(rank, 6 if code else 5, code, secondary, time.monotonic_ns(), kind, text))
    connection.close()
    return code


if WORDS == ["refuse"]:
    print("no such option", flush=True)
    sys.exit(3)
children = []
for number, word in enumerate(WORDS):
    child = os.fork()
    if child == 0:
        os._exit(rank_main(number, word))
    children.append(child)
sys.exit(max(abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) for child in children))
