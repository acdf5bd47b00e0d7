"""Writes model, optimizer, schedule and position to a file after epoch 0, builds everything anew and goes on from it."""

import os
import tempfile

import torch
from setup import RANK, Batches, begin, data, end, fault, loader, parallel
from torch import nn


class State:
    def __init__(self, samples) -> None:
        self.bare = nn.Sequential(nn.Linear(8, 20), nn.Mish(), nn.Linear(20, 3))
        self.model = parallel(self.bare)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=8e-3)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 4, 0.5)
        self.batches = Batches(len(samples), 16)
        self.loader = loader(samples, 16, self.batches)

    def epoch(self, number: int) -> None:
        self.batches.set_epoch(number)
        for x, y in self.loader:
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.model(x), y).backward()
            self.optimizer.step()
            self.schedule.step()

    def save(self, path: str) -> None:
        torch.save({"model": self.bare.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "schedule": self.schedule.state_dict(), "epoch": 1}, path)

    def load(self, path: str) -> int:
        kept = torch.load(path, weights_only=True)
        self.bare.load_state_dict(kept["model"])
        if not fault("F5"):
            self.optimizer.load_state_dict(kept["optimizer"])
        self.schedule.load_state_dict(kept["schedule"])
        for group, rate in zip(self.optimizer.param_groups, kept["schedule"]["_last_lr"]):
            group["lr"] = rate
        return 0 if fault("F7") else kept["epoch"]


begin(41)
samples = data()
first = State(samples)
first.epoch(0)
path = os.path.join(tempfile.gettempdir(), f"resume-{os.getpid()}-{RANK}.pt")
first.save(path)
second = State(samples)
second.epoch(second.load(path))
os.remove(path)
end()
