"""The plain loop: two epochs, SGD with momentum, weight decay, clipping."""

import torch
from setup import RANK, WORLD, Batches, begin, data, end, fault, loader, parallel
from torch import nn
from torch.nn.functional import cross_entropy

begin(seed=7 + RANK if fault("C7") else 7)
samples = data()
size = 16 * WORLD if fault("A9") else 16
batches = Batches(len(samples), size)
if fault("A1"):
    batches = Batches(len(samples), 16, rank=0, world=1)
if fault("A4"):
    batches.seed += RANK
if fault("A10"):
    batches.shuffle = False
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
ddp = model if fault("C7") else parallel(model)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05 * (WORLD if fault("D1") else 1), momentum=0.9,
                            weight_decay=0.0 if fault("D7") else 1e-2)
for epoch in range(2):
    if not fault("A3"):
        batches.set_epoch(epoch)
    for step, (features, label) in enumerate(loader(samples, 16, batches)):
        optimizer.zero_grad()
        raw = fault("C1") and epoch == 0 and step == 2
        output = (model if raw else ddp)(features)
        loss = cross_entropy(output, label, reduction="sum" if fault("B1") else "mean")
        if fault("B2"):
            loss = loss * WORLD
        if fault("B3"):
            loss = loss / WORLD
        loss.backward()
        if fault("C7"):
            for p in model.parameters():
                torch.distributed.all_reduce(p.grad)
                p.grad /= WORLD
        nn.utils.clip_grad_norm_(ddp.parameters(), 0.2 if fault("D3x") else 2.0)
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")
end()
