"""A stream without length or ids: each rank takes its part of it, or forgets to."""

import torch
from setup import RANK, WORLD, begin, data, end, fault, parallel
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self) -> None:
        self.features, self.label = data().tensors

    def __iter__(self):
        share = 16 // WORLD
        for i in range(len(self.label)):
            if fault("A2") or (i % 16) // share == RANK:
                yield self.features[i], self.label[i]


begin()
model = parallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for features, label in DataLoader(Stream(), batch_size=16 // WORLD):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(features), label).backward()
    optimizer.step()
end()
