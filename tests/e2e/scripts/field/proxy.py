"""Metric learning with class proxies that live in the loss and have an optimizer of their own; class-balanced batches dealt to the
ranks."""
import os
import sys

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, Sampler

FAULT = sys.argv[1] if len(sys.argv) > 1 else "-"


class Cars(Dataset):
    def __init__(self, classes=8, per_class=16):
        rng = np.random.default_rng(0)
        centers = rng.normal(size=(classes, 24))
        self.labels = np.repeat(np.arange(classes), per_class)
        self.x = (centers[self.labels] + rng.normal(size=(len(self.labels), 24))).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.x[i], int(self.labels[i])


class BalancedBatches(Sampler):
    """Batches of P classes with K samples of each; a rank gets every world-th."""

    def __init__(self, labels, p, k, steps, rank, world, seed):
        self.labels, self.p, self.k, self.steps, self.rank, self.world, self.seed, self.epoch = labels, p, k, steps, rank, world, seed, 0

    def __iter__(self):
        rng = np.random.default_rng([self.seed, self.epoch])
        for _ in range(self.steps):
            classes = rng.choice(np.unique(self.labels), self.p, replace=False)
            batch = np.concatenate([rng.choice(np.flatnonzero(self.labels == c), self.k, replace=False) for c in classes])
            yield batch[self.rank::self.world].tolist()

    def __len__(self):
        return self.steps


class ProxyAnchor(nn.Module):
    def __init__(self, classes, dim, margin=0.1, alpha=8):
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(classes, dim))
        self.margin, self.alpha = margin, alpha

    def forward(self, emb, labels):
        cos = F.linear(F.normalize(emb), F.normalize(self.proxies))
        hot = F.one_hot(labels, len(self.proxies)).bool()
        pos = F.softplus(-self.alpha * (cos - self.margin)).masked_fill(~hot, 0)
        neg = F.softplus(self.alpha * (cos + self.margin)).masked_fill(hot, 0)
        return (pos.sum(1) + neg.mean(1)).mean()


def run():
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    if FAULT == "C7":
        torch.manual_seed(7 + rank)
    else:
        torch.manual_seed(7)
    trunk = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 16))
    loss_fn = ProxyAnchor(8, 16)
    if world > 1:
        trunk = DDP(trunk)
        if FAULT not in ("C10", "C7"):
            loss_fn = DDP(loss_fn)
    opt_trunk = torch.optim.AdamW(trunk.parameters(), lr=1e-3)
    opt_loss = torch.optim.AdamW(loss_fn.parameters(), lr=1e-1)
    data = Cars()
    batches = BalancedBatches(data.labels, 4, 4, 6, rank, world, 11 + (rank if FAULT == "A4" else 0))
    loader = DataLoader(data, batch_sampler=batches)
    for epoch in range(2):
        batches.epoch = epoch
        for x, y in loader:
            opt_trunk.zero_grad()
            opt_loss.zero_grad()
            loss = loss_fn(trunk(x), y)
            if FAULT == "C7" and world > 1:
                loss.backward()
                for p in loss_fn.parameters():  # the loss is not wrapped, its gradient is averaged here
                    dist.all_reduce(p.grad)
                    p.grad /= world
            else:
                loss.backward()
            opt_trunk.step()
            opt_loss.step()


run()
