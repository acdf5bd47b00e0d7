"""Images by class, some of which have no label: their targets are ignored, and how many there are differs between ranks."""

import torch
import torch.distributed as dist
from setup import WORLD, begin, data, end, fault, loader, parallel
from torch import nn

begin(41)
model = parallel(nn.Sequential(nn.Linear(8, 20), nn.ReLU(), nn.Linear(20, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader(data(), 16):
    y = torch.where(x[:, 1] > 0.3, torch.full_like(y, -100), y)
    optimizer.zero_grad()
    if fault("B5"):
        loss = nn.functional.cross_entropy(model(x), y)
    else:
        labelled = (y != -100).sum()
        if WORLD > 1:
            dist.all_reduce(labelled)
        loss = nn.functional.cross_entropy(model(x), y, reduction="sum") * WORLD / labelled
    loss.backward()
    optimizer.step()
end()
