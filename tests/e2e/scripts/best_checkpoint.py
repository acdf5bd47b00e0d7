"""Evaluates after every epoch on its own set and keeps the best weights; early stopping by the same number on all ranks."""

import contextlib
import os
import sys
import tempfile
from dataclasses import dataclass

import torch
import torch.distributed as dist
from setup import RANK, WORLD, Batches, begin, data, end, fault, loader, parallel
from torch import nn


@dataclass
class Settings:
    rate: float = 0.03
    epochs: int = 3
    batch: int = 24


def evaluate(model, batches) -> float:
    right, seen = torch.zeros(1), torch.zeros(1)
    model.eval()
    with torch.inference_mode():
        for x, y in batches:
            right += (model(x).argmax(1) == y).sum()
            seen += len(y)
    model.train()
    if WORLD > 1:
        dist.all_reduce(right)
        dist.all_reduce(seen)
    return (right / seen).item()


def main(settings: Settings) -> None:
    begin(2)
    train = data(96)
    held_out = torch.utils.data.Subset(data(120), range(96, 120))
    sampler = Batches(len(train), settings.batch)
    batches, judged = loader(train, settings.batch, sampler), loader(held_out, 12)
    model = parallel(nn.Sequential(nn.Linear(8, 16), nn.PReLU(), nn.Linear(16, 3)))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=settings.rate)
    folder = os.path.join(tempfile.gettempdir(), f"best-{os.environ.get('MASTER_PORT', 'alone')}")
    os.makedirs(folder, exist_ok=True)
    best = -1.0
    for epoch in range(settings.epochs):
        sampler.set_epoch(epoch)
        for x, y in batches:
            model.zero_grad()
            with model.no_sync() if fault("B8") and epoch == 1 else contextlib.nullcontext():
                nn.functional.multi_margin_loss(model(x), y).backward()
            optimizer.step()
        score = evaluate(model, judged)
        if score > best and (RANK == 0 or fault("F2")):
            best = score
            torch.save(model.state_dict(), os.path.join(folder, "best.pt"))
    end()


main(Settings())
sys.exit(0)
