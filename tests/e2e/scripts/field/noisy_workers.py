"""Samples that worker processes change at random, with a seed of its own on every rank."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

FAULT = sys.argv[1] if len(sys.argv) > 1 else "-"


class Jitter:
    def __init__(self, std):
        self.std = std

    def __call__(self, x):
        return (x + self.std * torch.randn_like(x)) * torch.empty(1).uniform_(0.9, 1.1)


class Sensors(Dataset):
    def __init__(self, transform, n=96):
        g = torch.Generator().manual_seed(0)
        self.x, self.transform = torch.randn(n, 3, 10, generator=g), transform
        self.y = (self.x[:, 0].sum(1) > 0).long()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.transform(self.x[i]), self.y[i]


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    seed = 77
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Conv1d(3, 12, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(12, 2))
    torch.manual_seed(seed if FAULT == "A8" else seed + rank)
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    data = Sensors(Jitter(0.3))
    sampler = DistributedSampler(data, world, rank)
    loader = DataLoader(data, 16 // world, sampler=sampler, num_workers=2, persistent_workers=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            (loss * world if FAULT == "B2" else loss).backward()
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
