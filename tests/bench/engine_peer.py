"""The Python side of the engine benchmark: toy-mlp as a user would write it, alone or under DistributedDataParallel.

engine_peer.py MODE STEPS [TIMES]    MODE: single | ddp; TIMES receives the clock after every step as int64 ns.
With LOCKSTEP_PEER_TENSORS=1 batches are cut from the tensors directly instead of through a DataLoader: a faster Python.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, RandomSampler, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def batches(dataset, sampler):
    if not os.environ.get("LOCKSTEP_PEER_TENSORS"):
        yield from DataLoader(dataset, batch_size=32, sampler=sampler)
        return
    ids = torch.tensor(list(sampler))
    for i in range(0, len(ids), 32):
        rows = ids[i : i + 32]
        yield tuple(t.index_select(0, rows) for t in dataset.tensors)


def main():
    mode, steps = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    if mode == "ddp":
        dist.init_process_group("gloo")
    torch.manual_seed(42)
    labels = torch.arange(1000) % 10
    dataset = TensorDataset(labels.float()[:, None] * torch.ones(1000, 128), labels)
    model = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    sampler = DistributedSampler(dataset) if mode == "ddp" else RandomSampler(dataset)
    if mode == "ddp":
        model = nn.parallel.DistributedDataParallel(model)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    ends, losses, epoch = [], [], 0
    while len(ends) < steps:
        if mode == "ddp":
            sampler.set_epoch(epoch)
        for x, y in batches(dataset, sampler):
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
            ends.append(time.monotonic_ns())
            if len(ends) == steps:
                break
        epoch += 1
    if len(sys.argv) > 3 and int(os.environ.get("RANK", 0)) == 0:
        import array

        array.array("q", ends).tofile(open(sys.argv[3], "wb"))
    if mode == "ddp":
        dist.destroy_process_group()


main()
