"""Adversarial training: a step along the sign of the input's gradient, then a step of the model on what that made."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

flaw = sys.argv[1] if len(sys.argv) > 1 else "-"
world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))


def fgsm(model, x, y, eps=0.1):
    x = x.clone().requires_grad_(True)
    grad, = torch.autograd.grad(F.cross_entropy(model(x), y), x)
    return (x + eps * grad.sign()).detach()


def main():
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(13)
    x = torch.randn(96, 9)
    data = TensorDataset(x, x[:, :3].argmax(1))
    net = nn.Sequential(nn.Linear(9, 24), nn.Tanh(), nn.Linear(24, 3))
    model = nn.parallel.DistributedDataParallel(net) if world > 1 else net
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    sampler = DistributedSampler(data, world, rank)
    loader = DataLoader(data, 16 // world, sampler=sampler)
    for epoch in range(2):
        if flaw != "A3":
            sampler.set_epoch(epoch)
        for xb, yb in loader:
            adv = fgsm(net, xb, yb)  # no parameter is to get a gradient
            loss = 0.5 * (F.cross_entropy(model(adv), yb) + F.cross_entropy(model(xb), yb))
            if flaw == "B2":
                loss = loss * world
            opt.zero_grad()
            loss.backward()
            opt.step()


main()
