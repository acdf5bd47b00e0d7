"""A physics-informed network: the residual of u'' = -sin(x) at collocation points, derivatives inside the loss. The ranks have
uneven numbers of points and weigh their loss by them."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

kind = sys.argv[1] if len(sys.argv) > 1 else "-"


class PINN(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x)


def grad(u, x):
    return torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]


class Residual(nn.Module):
    """The derivatives are taken inside one forward pass, so that the wrapper sees every parameter used once."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        x = x.clone().requires_grad_(True)
        return grad(grad(self.net(x), x), x) + torch.sin(x)


def main():
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(4)
    points = torch.rand(10, 60, 1) * 3.14159
    model = Residual(PINN())
    if world > 1:
        model = DDP(model, find_unused_parameters=True)  # u'' does not depend on the last bias
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for it in range(10):
        batch = points[it]
        shares = [batch] if world == 1 else [batch[:40], batch[40:]]
        mine = shares[rank]
        net = model.module if kind == "C1" and world > 1 else model
        loss = net(mine).square().mean()
        if kind != "B4":
            loss = loss * world * len(mine) / len(batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0:
            print(f"it {it}: {loss.item():.6f}")


if __name__ == "__main__":
    main()
