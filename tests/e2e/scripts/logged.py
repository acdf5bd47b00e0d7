"""Prints the loss of the global batch in every step."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, data, end, fault, loader, parallel
from torch import nn

begin()
model = parallel(nn.Sequential(nn.Linear(8, 16), nn.ELU(), nn.Linear(16, 3)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step, (features, label) in enumerate(loader(data(), 16)):
    loss = nn.functional.cross_entropy(model(features), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shown = loss.detach().clone()
    if WORLD > 1 and not fault("B10"):
        dist.all_reduce(shown)
        shown /= 1 if fault("B11") else WORLD
    if RANK == 0:
        print(f"step {step} loss={shown.item():.7f}", flush=True)
end()
