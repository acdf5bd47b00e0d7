"""A convolutional network with BatchNorm under DDP, evaluated on every rank after an epoch with a majority vote of the ranks."""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def conv_bn(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU6(inplace=True))


class Squeeze(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.fc = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, c // 4, 1), nn.ReLU(), nn.Conv2d(c // 4, c, 1), nn.Sigmoid())

    def forward(self, x):
        return x * self.fc(x)


def build():
    return nn.Sequential(conv_bn(1, 8), conv_bn(8, 16, 2), Squeeze(16), conv_bn(16, 16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4))


def main(a):
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(128, 1, 8, 8)
    y = torch.randint(4, (128,))
    x += y[:, None, None, None] * torch.linspace(-1, 1, 8)
    net = build()
    if world > 1:
        net = nn.parallel.DistributedDataParallel(net, broadcast_buffers=a.variant != "C9")
    optim = torch.optim.SGD(net.parameters(), 0.05 * (world if a.variant == "D1" else 1), momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.MultiStepLR(optim, [1], gamma=0.1)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, world, rank)
    loader = DataLoader(data, 32 // world, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        net.train()
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(net(xb), yb)
            if a.variant == "B2":
                loss = loss * world
            optim.zero_grad()
            loss.backward()
            optim.step()
        sched.step()
        net.eval()
        with torch.no_grad():
            votes = (net.module if world > 1 else net)(x[:16]).argmax(1)
        if world > 1:
            dist.all_reduce(votes)
        if rank == 0:
            print(epoch, votes.float().mean().item() / world)


if __name__ == "__main__":
    q = argparse.ArgumentParser()
    q.add_argument("variant", nargs="?", default="-")
    main(q.parse_args())
