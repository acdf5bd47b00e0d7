"""An optional expert that only some batches go through, with accumulation over two micro-batches."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from contextlib import ExitStack
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "-"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.expert, self.head = nn.Linear(6, 20), nn.Linear(20, 20), nn.Linear(20, 1)

    def forward(self, x, use_expert):
        h = torch.relu(self.stem(x))
        if use_expert:
            h = h + torch.relu(self.expert(h))
        return self.head(h).squeeze(1)


world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
if world > 1:
    dist.init_process_group("gloo")
torch.manual_seed(6)
x = torch.randn(128, 6)
data = TensorDataset(x, x.prod(1))
model = Net()
if world > 1:
    model = DDP(model, find_unused_parameters=True)
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
sampler = DistributedSampler(data, world, rank)
loader = DataLoader(data, 8 // world, sampler=sampler)
ACCUM = 2
for i, (xb, yb) in enumerate(loader):
    last = (i + 1) % ACCUM == 0
    # The expert sees the first micro-batch of every second step.
    use_expert = i % 4 == 0
    with ExitStack() as stack:
        if world > 1 and not last and VARIANT == "no_sync":
            stack.enter_context(model.no_sync())
        loss = nn.functional.mse_loss(model(xb, use_expert), yb)
        if VARIANT != "B6":
            loss = loss / ACCUM
        loss.backward()
    if last:
        opt.step()
        opt.zero_grad()
