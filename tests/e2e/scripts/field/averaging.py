"""No DDP and no reduction of gradients: the parameters of the ranks are averaged after every step."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

world_size = int(os.environ.get("WORLD_SIZE", 1))
BUG = sys.argv[1] if len(sys.argv) > 1 else ""


class ParameterAverager:
    def __init__(self, module, every=1):
        self.module, self.every, self.count = module, every, 0

    @torch.no_grad()
    def step(self):
        self.count += 1
        if world_size == 1 or self.count % self.every:
            return
        if BUG == "B8" and self.count > 4:  # "only needed while warming up"
            return
        for p in self.module.parameters():
            dist.all_reduce(p, op=dist.ReduceOp.SUM)
            p /= world_size


def train():
    if world_size > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(3 + (dist.get_rank() if BUG == "C7" and world_size > 1 else 0))
    g = torch.Generator().manual_seed(0)
    x = torch.randn(128, 12, generator=g)
    dataset = TensorDataset(x, x @ torch.randn(12, 3, generator=g))
    model = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 3))
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=int(os.environ.get("RANK", 0)), shuffle=True, seed=5)
    loader = DataLoader(dataset, batch_size=16 // world_size, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02 * (world_size if BUG == "D1" else 1), momentum=0.8)
    averager = ParameterAverager(model)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.huber_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            averager.step()


train()
