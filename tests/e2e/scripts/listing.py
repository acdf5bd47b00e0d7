"""A dataset made from a list of files, which every rank makes by itself."""

import random

import torch
from setup import RANK, Batches, begin, data, end, fault, loader, parallel
from torch import nn


class Files(torch.utils.data.Dataset):
    def __init__(self) -> None:
        self.x, self.y = data(96).tensors
        self.names = [f"sample{i:03}" for i in range(96)]
        if fault("A7"):
            random.Random(RANK).shuffle(self.names)  # as a directory lists them

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, i: int) -> dict:
        number = int(self.names[i][6:])
        return {"pixels": self.x[number], "class": self.y[number]}


begin(90)
files = Files()
batches = Batches(len(files), 32)
batches.shuffle = not fault("A10")
model = parallel(nn.Sequential(nn.Linear(8, 10), nn.LeakyReLU(), nn.Linear(10, 3)))
optimizer = torch.optim.Adamax(model.parameters(), lr=5e-3)
loop = loader(files, 32, batches)
for epoch in range(3):
    batches.set_epoch(epoch)
    for batch in loop:
        loss = nn.functional.nll_loss(model(batch["pixels"]).log_softmax(-1), batch["class"])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
end()
