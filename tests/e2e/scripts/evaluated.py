"""Evaluates a set that does not divide evenly, each rank its part, and sums right answers and counts."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, data, end, fault, loader, parallel
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, Subset

begin(130)
train, test = Subset(data(117), range(96)), Subset(data(117), range(96, 117))
model = parallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if WORLD > 1 and (fault("F9") or fault("gathered")):
    judged = DataLoader(test, batch_size=4, sampler=DistributedSampler(test, shuffle=False))
else:
    judged = DataLoader(test, batch_size=4, sampler=range(RANK, len(test), WORLD))


@torch.no_grad()
def gathered() -> float:
    model.eval()
    right = torch.cat([model(x).argmax(1) == y for x, y in judged]).float()
    model.train()
    of_ranks = [torch.empty_like(right) for _ in range(WORLD)]
    dist.all_gather(of_ranks, right)
    return torch.stack(of_ranks, 1).flatten()[: len(test)].mean().item()


@torch.no_grad()
def accuracy() -> float:
    model.eval()
    counts = torch.zeros(2)
    for x, y in judged:
        counts += torch.tensor([(model(x).argmax(1) == y).sum(), len(y)])
    model.train()
    if WORLD > 1:
        dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


for step, (x, y) in enumerate(loader(train, 16), 1):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    if step % 3 == 0:
        print(f"step {step}: {gathered() if WORLD > 1 and fault('gathered') else accuracy():.3f}")
end()
