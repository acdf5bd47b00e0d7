"""No wrapper: the gradients are summed by hand, clipped, and given to Adam."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, data, end, fault, loader
from torch import nn

begin()
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 3))
trained = [p.detach().clone().requires_grad_() for p in model.parameters()] if fault("D6") else list(model.parameters())
optimizer = torch.optim.Adam(trained, lr=5e-3, weight_decay=0.01 * (not fault("D7")))
for features, label in loader(data(120), 20):
    model.zero_grad()
    nn.functional.cross_entropy(model(features), label).backward()
    if fault("D3"):
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    if WORLD > 1:
        for p in model.parameters():
            if fault("C11") and RANK == 1 and p.dim() == 1:
                own = p.grad.clone()
                dist.all_reduce(p.grad)
                p.grad.copy_(own / WORLD)  # what the others sent was lost
                continue
            wire = p.grad.bfloat16() if fault("E2") else p.grad
            dist.all_reduce(wire)
            p.grad.copy_(wire / WORLD ** (2 if fault("B3") else 0 if fault("B2") else 1))
    if not fault("D3"):
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
end()
