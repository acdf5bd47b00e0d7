"""Convolutions with BatchNorm in its evaluation form (frozen statistics) and one that trains its statistics on rank 0's view."""

import torch
from setup import WORLD, begin, end, fault, loader, parallel
from torch import nn

begin()
generator = torch.Generator().manual_seed(5)
images = torch.utils.data.TensorDataset(torch.randn(96, 1, 8, 8, generator=generator), torch.arange(96) % 4)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
                      nn.Linear(32, 4))
if not fault("C8"):
    model[1].eval()  # frozen statistics do not depend on how the batch is split
ddp = parallel(model, broadcast_buffers=not fault("C9"))
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05 if not fault("D1") else 0.05 * WORLD)
for epoch in range(2):
    for pictures, label in loader(images, 16):
        if fault("C9"):
            model[1].train()
        optimizer.zero_grad()
        nn.functional.cross_entropy(ddp(pictures), label).backward()
        optimizer.step()
end()
