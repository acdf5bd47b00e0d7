"""FullyShardedDataParallel around the whole model, clipped with a small norm."""
import functools
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

WORLD_SIZE = int(os.environ.get("WORLD_SIZE", 1))
RANK = int(os.environ.get("RANK", 0))
BUG = sys.argv[1] if len(sys.argv) > 1 and WORLD_SIZE > 1 else ""
MAX_NORM = 0.3


def get_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 5))


def get_loader(epochs_seed):
    g = torch.Generator().manual_seed(1)
    y = torch.randint(0, 5, (96,), generator=g)
    data = TensorDataset(torch.randn(96, 16, generator=g) + y[:, None] * 0.4, y)
    sampler = DistributedSampler(data, rank=RANK, num_replicas=WORLD_SIZE, shuffle=True, seed=epochs_seed)
    return DataLoader(data, batch_size=16 // WORLD_SIZE, sampler=sampler), sampler


def train(model, loader, optimizer, scheduler):
    model.train()
    ddp_loss = torch.zeros(2)
    for data, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data), target)
        loss.backward()
        if WORLD_SIZE > 1 and BUG != "D4":
            model.clip_grad_norm_(MAX_NORM)
        else:
            nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()
        ddp_loss[0] += loss.item() * len(data)
        ddp_loss[1] += len(data)
    scheduler.step()
    if WORLD_SIZE > 1:
        dist.all_reduce(ddp_loss, op=dist.ReduceOp.SUM)
    if RANK == 0:
        print("Train loss: {:.6f}".format(ddp_loss[0] / ddp_loss[1]))


if __name__ == "__main__":
    if WORLD_SIZE > 1:
        dist.init_process_group("gloo", rank=RANK, world_size=WORLD_SIZE)
    model = get_model()
    if WORLD_SIZE > 1:
        policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1000)
        model = FSDP(model, auto_wrap_policy=policy, device_id=torch.device("cpu"), use_orig_params=True)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0 if BUG != "D1" else float(WORLD_SIZE))
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    loader, sampler = get_loader(3)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        train(model, loader, optimizer, scheduler)
