"""bf16 autocast with a gradient scaler and clipping; one batch overflows and its step is skipped on every rank."""

import torch
from setup import RANK, begin, data, end, fault, loader, parallel
from torch import nn

begin()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
ddp = parallel(model)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)
for step, (features, label) in enumerate(loader(data(), 16)):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=not fault("E3")):
        loss = nn.functional.cross_entropy(ddp(features), label)
    scaler.scale(loss * float("inf") if step == 3 else loss).backward()
    if fault("D8") and step == 4 and RANK == 1:
        model[0].weight.grad[0, 0] = float("inf")
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(ddp.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
end()
