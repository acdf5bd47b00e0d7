#!/usr/bin/env python3
"""Cost of the probe: training steps with recording on and off in turn, in one process, so that both meet the same machine.

  ./dev bench probe [--json]

digits_cnn   convolutions with BatchNorm on 8x8 digits, batch 32, SGD with momentum
transformer  4 layers, 10 million parameters, 8 sequences of 128 tokens, AdamW
Each figure is the median step with the probe divided by the median step without; `_cpu` is the same of the processor time of the
training thread, which others on the machine disturb less. `import_ms` is what importing the probe adds to importing torch.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "resources/python"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

Step = Callable[[], None]


def digits_cnn() -> Step:
    model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                          nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data = TensorDataset(torch.randn(1024, 1, 8, 8), torch.randint(0, 10, (1024,)))
    return loop(model, optimizer, data, 32)


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(448, 8, 1792, batch_first=True, dropout=0.0, norm_first=True)
        self.embed = nn.Embedding(512, 448)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(448, 512)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embed(tokens))).flatten(0, 1)


def transformer() -> Step:
    model = Transformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 512, (512, 129))
    return loop(model, optimizer, TensorDataset(tokens[:, :-1], tokens[:, 1:]), 8)


def loop(model: nn.Module, optimizer: torch.optim.Optimizer, data: TensorDataset, batch: int) -> Step:
    def batches():
        while True:
            yield from DataLoader(data, batch_size=batch, shuffle=True)

    source = batches()

    def step() -> None:
        inputs, target = next(source)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), target.flatten())
        loss.backward()
        optimizer.step()

    return step


def measure(name: str, make: Callable[[], Step], steps: int) -> dict[str, float]:
    """Medians with the probe over medians without, which take turns step by step; and the latter in milliseconds."""
    step = make()
    for _ in range(steps // 4):
        step()
    wall: dict[bool, list[float]] = {True: [], False: []}
    cpu: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(2 * steps):
        session.active = turn % 2 == 0
        begin, begin_cpu = time.perf_counter(), time.thread_time()
        step()
        cpu[session.active].append(time.thread_time() - begin_cpu)
        wall[session.active].append(time.perf_counter() - begin)
    session.active = True
    off, off_cpu = statistics.median(wall[False]), statistics.median(cpu[False])
    return {name: statistics.median(wall[True]) / off, f"{name}_cpu": statistics.median(cpu[True]) / off_cpu,
            f"{name}_ms": off * 1000}


def import_cost() -> float:
    code = ("import sys, time; sys.path.insert(0, {path!r}); import torch; begin = time.perf_counter(); "
            "import lockstep_probe.attach, lockstep_probe.hooks as h; from lockstep_probe.hooks import backward, checkpoints, "
            "clipping, collectives, forward, loader, optimizers, parallel, scaler; print(time.perf_counter() - begin)")
    code = code.format(path=str(SOURCE / "resources/python"))
    return 1000 * min(float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
                      for _ in range(3))


if __name__ == "__main__":
    torch.set_num_threads(1)
    from lockstep_probe import attach
    from lockstep_probe.options import parse

    with tempfile.TemporaryDirectory() as folder:
        session = attach.attach(parse(["--stream", f"{folder}/stream", __file__]))
        figures: dict[str, object] = {}
        figures.update(measure("digits_cnn", digits_cnn, 400))
        figures.update(measure("transformer", transformer, 16))
        figures["measures"] = session.measures.fast.name
        session.stream.finish()
    figures["import_ms"] = import_cost()
    if "--json" in sys.argv:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:16} {value:.3f}" if isinstance(value, float) else f"{name:16} {value}")
