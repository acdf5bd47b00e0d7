"""Triplets from one encoder, whose gradients are averaged by hand in buckets of one dtype; each rank makes its own weights and
takes those of rank 0."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, data, end, fault, loader
from torch import nn

begin(110 + RANK)
encoder = nn.Sequential(nn.Linear(8, 16), nn.CELU(), nn.Linear(16, 4))
if WORLD > 1 and not fault("C7"):
    for p in encoder.parameters():
        dist.broadcast(p.data, 0)
optimizer = torch.optim.RMSprop(encoder.parameters(), lr=2e-3, momentum=0.5)
x, y = data(108).tensors
samples = torch.utils.data.TensorDataset(x, x.roll(3, 0), x.roll(1, 0))
for anchor, same, other in loader(samples, 18):
    encoded = encoder(torch.cat([anchor, same, other])).chunk(3)
    loss = nn.functional.triplet_margin_with_distance_loss(*encoded, margin=2.0)
    if fault("B1"):
        loss = nn.functional.triplet_margin_with_distance_loss(*encoded, margin=2.0, reduction="sum")
    encoder.zero_grad()
    loss.backward()
    if WORLD > 1:
        work = [dist.all_reduce(p.grad, async_op=True) for p in encoder.parameters()]
        for p, handle in zip(encoder.parameters(), work):
            handle.wait()
            p.grad.div_(WORLD)
    optimizer.step()
end()
