"""Each sample against all samples of the global batch: the rows of the other ranks come through an all-gather."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, data, end, fault, loader, parallel
from torch import nn
from torch.distributed.nn.functional import all_gather

begin()
encoder = parallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6)))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
for features, _ in loader(data(), 16):
    optimizer.zero_grad()
    # Both views in one call: DDP takes one forward per backward.
    first, second = nn.functional.normalize(encoder(torch.cat([features, features.flip(1)])), dim=1).chunk(2)
    every = second
    if WORLD > 1 and fault("B9"):
        parts = [torch.zeros_like(second) for _ in range(WORLD)]
        dist.all_gather(parts, second)
        parts[RANK] = second
        every = torch.cat(parts)
    elif WORLD > 1:
        every = torch.cat(all_gather(second))
    label = torch.arange(len(first)) + RANK * len(first)
    nn.functional.cross_entropy(first @ every.T / 0.5, label).backward()
    optimizer.step()
end()
