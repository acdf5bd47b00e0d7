"""Noise on every sample, drawn by the loader's worker processes; two epochs, dropout in the model."""

import torch
from setup import RANK, Batches, begin, data, end, fault, parallel
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self) -> None:
        self.features, self.label = data().tensors

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, i: int):
        return self.features[i] + 0.1 * torch.randn(8), self.label[i]


begin()
samples = Noisy()
batches = Batches(len(samples), 16)
model = parallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3)))
torch.manual_seed(100 + (0 if fault("E6") else RANK))
seeds = torch.Generator().manual_seed(5 + (0 if fault("A8") else RANK))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    batches.set_epoch(epoch)
    for features, label in DataLoader(samples, batch_sampler=batches, num_workers=1, generator=seeds):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(features), label).backward()
        optimizer.step()
end()
