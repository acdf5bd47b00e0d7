"""A dataset that does not divide evenly: torch's own sampler, three epochs, a last batch of its own size."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, data, end, fault, parallel
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler


class Deal(torch.utils.data.Sampler):
    """Each rank's part of each global batch, without padding: of the last batch some ranks have fewer."""

    def __init__(self, length: int, size: int) -> None:
        self.length, self.size, self.epoch = length, size, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-self.length // self.size)

    def __iter__(self):
        order = torch.randperm(self.length, generator=torch.Generator().manual_seed(self.epoch)).tolist()
        for begin in range(0, self.length, self.size):
            batch = order[begin : begin + self.size]
            share = -(-len(batch) // WORLD)
            yield batch[RANK * share : (RANK + 1) * share]


begin()
samples = data(51)
if fault("A5") or fault("A6"):
    sampler = DistributedSampler(samples, seed=0, drop_last=fault("A6"))
    batches = DataLoader(samples, batch_size=8, sampler=sampler)
else:
    sampler = Deal(51, 16)
    batches = DataLoader(samples, batch_sampler=sampler)
model = parallel(nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(3):
    if not fault("A3"):
        sampler.set_epoch(epoch)
    for features, label in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features), label)
        if WORLD > 1 and not fault("B4"):
            count = torch.tensor(float(len(label)))
            dist.all_reduce(count)
            loss = loss * (len(label) * WORLD / count)
        loss.backward()
        optimizer.step()
end()
