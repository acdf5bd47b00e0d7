"""Starts one process per rank with torchrun's environment and waits for all of them."""
import os
import socket
import subprocess
import sys


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(rank, world, port, **extra):
    return dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(world), RANK=str(rank),
                LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(world), OMP_NUM_THREADS="1", **extra)


def launch(command, world, timeout=600):
    """command(rank) -> list of arguments. Raises with the stderr of the failing rank."""
    port = free_port()
    procs = [subprocess.Popen(command(r), env=environment(r, world, port), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) for r in range(world)]
    results = []
    try:
        for p in procs:
            results.append(p.communicate(timeout=timeout))
    finally:
        for p in procs:
            p.kill()
    for r, (p, (out, err)) in enumerate(zip(procs, results)):
        if p.returncode != 0:
            sys.exit(f"{command(r)[0]} rank {r} of {world} ended with {p.returncode}:\n{err[-3000:]}")
    return results
