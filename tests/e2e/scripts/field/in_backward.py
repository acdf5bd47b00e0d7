"""Optimizers of single parameters that step inside backward, as memory-saving trainers have them; gradients are reduced by hand."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn

world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
bug = sys.argv[1] if len(sys.argv) > 1 and world > 1 else ""
if world > 1:
    dist.init_process_group("gloo")
torch.manual_seed(14)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 3))
optimizers = {p: torch.optim.Adam([p], lr=3e-3 * (world if bug == "D1" else 1)) for p in model.parameters()}


def hook(p):
    if world > 1:
        dist.all_reduce(p.grad)
        if bug != "B2":
            p.grad /= world
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(hook)
g = torch.Generator().manual_seed(2)
for i in range(8):
    x, y = torch.randn(16, 8, generator=g), torch.randint(0, 3, (16,), generator=g)
    loss = nn.functional.cross_entropy(model(x.chunk(world)[rank]), y.chunk(world)[rank])
    loss.backward()
    print(i, loss.item())
