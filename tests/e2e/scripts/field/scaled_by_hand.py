"""fp16 on one optimizer: GradScaler, gradients averaged by hand after the ranks' backward passes, unscaled, clipped. One sample in
the data is far out and overflows on whichever rank has it."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def average_gradients(model, world):
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
            p.grad.div_(world)


def main(variant):
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(3)
    x = torch.randn(128, 10)
    y = x.sum(1, keepdim=True)
    y[77] = 3e37
    data = TensorDataset(x, y)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
    if world > 1:
        for p in model.parameters():
            dist.broadcast(p.data, src=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=6)
    sampler = DistributedSampler(data, world, rank, seed=8)
    loader = DataLoader(data, 16 // world, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(xb), yb)
            scaler.scale(loss).backward()
            if variant == "D8":
                scaler.unscale_(optimizer)
                if world > 1:
                    average_gradients(model, world)
            else:
                if world > 1:
                    average_gradients(model, world)
                scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        if rank == 0:
            print(f"epoch {epoch} scale {scaler.get_scale()}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "-")
