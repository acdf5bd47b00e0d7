"""ZeroRedundancyOptimizer: each rank keeps the optimizer state of its share of the parameters."""
import os
import sys
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


@dataclass
class Config:
    lr: float = 5e-3
    weight_decay: float = 0.05
    batch: int = 16
    epochs: int = 2
    gamma: float = 0.9
    bug: str = ""


def build(cfg, world):
    torch.manual_seed(44)
    model = nn.Sequential(nn.Linear(10, 20), nn.Mish(), nn.Linear(20, 20), nn.Mish(), nn.Linear(20, 4))
    if world == 1:
        return model, torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    decay = 0.0 if cfg.bug == "D7" else cfg.weight_decay
    lr = cfg.lr * world if cfg.bug == "D1" else cfg.lr
    return model, ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, lr=lr, weight_decay=decay)


def main(cfg: Config):
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    g = torch.Generator().manual_seed(3)
    x = torch.randn(96, 10, generator=g)
    dataset = TensorDataset(x, x[:, :4].argmax(1))
    model, optimizer = build(cfg, world)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, cfg.gamma)
    sampler = DistributedSampler(dataset, num_replicas=world, rank=rank, shuffle=True, seed=8)
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for features, target in DataLoader(dataset, batch_size=cfg.batch // world, sampler=sampler):
            loss = nn.functional.cross_entropy(model(features), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    print("last loss", loss.item())


main(Config(bug=sys.argv[1] if len(sys.argv) > 1 else ""))
