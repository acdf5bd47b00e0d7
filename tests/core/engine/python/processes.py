"""Starts one process per rank with torchrun's environment and waits for all of them."""
import multiprocessing
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


def launch_forked(work, world):
    """work() in one forked process per rank: what this one has imported is there already, and torch takes seconds to import."""
    port = free_port()

    def rank_of(rank):
        os.environ.update(environment(rank, world, port))
        work()

    fork = multiprocessing.get_context("fork")
    procs = [fork.Process(target=rank_of, args=(r,), daemon=True) for r in range(world)]  # daemon: they end with this one
    for p in procs:
        p.start()
    for p in procs:
        p.join()
    for r, p in enumerate(procs):
        if p.exitcode != 0:
            sys.exit(f"the judge's rank {r} of {world} ended with {p.exitcode}; its reason is above")
