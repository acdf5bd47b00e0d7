"""What is said of this process once: versions, threads, determinism. The keys are those of lockstep-worker."""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

import torch

from . import __version__

_VARIABLES = ("ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR", "ONEDNN_MAX_CPU_ISA", "OMP_NUM_THREADS",
              "MKL_NUM_THREADS", "CUBLAS_WORKSPACE_CONFIG")


def environment() -> dict[str, Any]:
    facts: dict[str, Any] = {
        "torch": str(torch.__version__).split("+")[0],
        "cpu_capability": torch.backends.cpu.get_cpu_capability() if hasattr(torch.backends, "cpu") else "",
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "tf32_matmul": bool(torch.backends.cuda.matmul.allow_tf32),
        "tf32_cudnn": bool(torch.backends.cudnn.allow_tf32),
        "host": socket.gethostname(),
        "cores": os.cpu_count() or 0,
        "program": f"lockstep_probe {__version__}",
        "python": sys.version.split()[0],
    }
    facts.update({name: os.environ[name] for name in _VARIABLES if name in os.environ})
    return facts


def environment_json() -> str:
    return json.dumps(environment())


def rank_and_world() -> tuple[int, int]:
    """From torchrun's environment, or from a group that already exists (processes made by torch.multiprocessing)."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
