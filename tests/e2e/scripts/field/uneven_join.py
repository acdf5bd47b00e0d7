"""The ranks do not have the same number of batches: DDP's join lets the others go on alone."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join

world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
bug = sys.argv[1] if len(sys.argv) > 1 else ""


def my_batches(x, y, size):
    """Batches dealt out in turn; the first rank has one more."""
    per = size // world
    pieces = list(zip(x.split(per), y.split(per)))
    return pieces[rank::world]


if world > 1:
    dist.init_process_group("gloo")
torch.manual_seed(12)
net = nn.Sequential(nn.Linear(6, 12), nn.Softplus(), nn.Linear(12, 1))
model = nn.parallel.DistributedDataParallel(net) if world > 1 else net
opt = torch.optim.SGD(model.parameters(), lr=0.05)
g = torch.Generator().manual_seed(6)
x = torch.randn(104, 6, generator=g)
y = x.pow(2).mean(1, keepdim=True)


def loop():
    for a, b in my_batches(x, y, 16):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        (loss * world if bug == "B2" and world > 1 else loss).backward()
        opt.step()


if world > 1:
    with Join([model], divide_by_initial_world_size=False):
        loop()
else:
    loop()
