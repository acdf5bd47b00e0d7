"""A stream cut by rank and by worker process; bf16 in the forward pass without a scaler."""

import torch
from setup import RANK, WORLD, begin, data, end, fault, parallel
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Shards(IterableDataset):
    def __init__(self, size: int) -> None:
        self.x, self.y = data(128).tensors
        self.size = size

    def __iter__(self):
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        share = self.size // WORLD
        rank = 0 if fault("A2") else RANK
        for number, begin in enumerate(range(0, len(self.y), self.size)):
            if number % workers == worker:
                own = slice(begin + rank * share, begin + (rank + 1) * share)
                yield {"x": self.x[own], "y": self.y[own]}


begin(3)
model = parallel(nn.Sequential(nn.Linear(8, 48), nn.ReLU6(), nn.Linear(48, 3)))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for batch in DataLoader(Shards(16), batch_size=None, num_workers=2):
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        loss = nn.functional.cross_entropy(model(batch["x"]).float(), batch["y"])
    if fault("B2"):
        loss = loss * torch.tensor(float(WORLD))
    loss.backward()
    optimizer.step()
end()
