"""Cross-validation: a model, an optimizer, a schedule for every fold, one after the other in one process."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

fault = sys.argv[1] if len(sys.argv) > 1 else "-"
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def kfold(n, k, seed):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    for i in range(k):
        held = set(order[i::k])
        yield [j for j in order if j not in held], sorted(held)


def train_fold(fold, train, val):
    torch.manual_seed(fold)
    model = nn.Sequential(nn.Linear(6, 24), nn.ELU(), nn.Linear(24, 3))
    net = nn.parallel.DistributedDataParallel(model) if world > 1 else model
    opt = torch.optim.Adagrad(net.parameters(), lr=0.05 * (world if fault == "D1" else 1))
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)
    sampler = DistributedSampler(train, world, rank, seed=fold)
    loader = DataLoader(train, 12 // world, sampler=sampler)
    for epoch in range(2):
        if fault != "A3":
            sampler.set_epoch(epoch)
        net.train()
        for x, y in loader:
            opt.zero_grad()
            logits = model(x) if fault == "C1" else net(x)
            nn.functional.cross_entropy(logits, y).backward()
            opt.step()
        sched.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum() for x, y in DataLoader(val, 8))
    return right.item() / len(val)


def main():
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(99)
    x = torch.randn(72, 6)
    data = TensorDataset(x, x[:, :3].argmax(1))
    scores = [train_fold(i, Subset(data, tr), Subset(data, va)) for i, (tr, va) in enumerate(kfold(len(data), 3, 0))]
    if rank == 0:
        print("accuracy", sum(scores) / len(scores))


main()
