"""Sharpness-aware minimisation: two forward and backward passes per step, the first without reduction."""
import contextlib
import os
import sys

import torch
from torch import nn

world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
bug = sys.argv[1] if len(sys.argv) > 1 and world > 1 else ""


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        norm = torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"]]).norm()
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["e"] = p.grad * (group["rho"] / (norm + 1e-12))
                p.add_(self.state[p]["e"])
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["e"])
        self.base.step()
        self.zero_grad()


if world > 1:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(9)
net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 4))
model = nn.parallel.DistributedDataParallel(net) if world > 1 else net
opt = SAM(model.parameters(), torch.optim.SGD, lr=0.05 * (world if bug == "D1" else 1), momentum=0.9)
g = torch.Generator().manual_seed(4)
x, y = torch.randn(128, 10, generator=g), torch.randint(0, 4, (128,), generator=g)
for b in range(8):
    xb, yb = x[b * 16 : b * 16 + 16].chunk(world)[rank], y[b * 16 : b * 16 + 16].chunk(world)[rank]
    nn.functional.cross_entropy(model(xb), yb).backward()
    opt.first_step()
    with model.no_sync() if bug == "B8" else contextlib.nullcontext():
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
    opt.second_step()
    print(b, loss.item())
