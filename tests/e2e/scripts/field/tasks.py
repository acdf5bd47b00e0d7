"""Several tasks with a head each; a batch holds one task, so the other heads get no gradient in that step."""
import os
import random
import sys

import torch
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import BatchSampler, DataLoader, Dataset

TASKS = ["age", "gender", "mood"]
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
bug = sys.argv[1] if len(sys.argv) > 1 and world > 1 else ""


class Faces(Dataset):
    def __init__(self, n=108):
        g = torch.Generator().manual_seed(77)
        self.items = [{"x": torch.randn(9, generator=g), "task": TASKS[i % 3], "y": torch.randint(0, 4, (), generator=g)}
                      for i in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class OneTaskBatches(BatchSampler):
    def __init__(self, data, batch, seed=0):
        self.data, self.batch, self.seed = data, batch, seed

    def __len__(self):
        return len(self.data) // self.batch

    def __iter__(self):
        rng = random.Random(self.seed)
        batches = []
        for t in TASKS:
            ids = [i for i, item in enumerate(self.data.items) if item["task"] == t]
            rng.shuffle(ids)
            batches += [ids[k : k + self.batch] for k in range(0, len(ids) - self.batch + 1, self.batch)]
        rng.shuffle(batches)
        for b in batches:
            yield b[rank::world]


def collate(items):
    return {"x": torch.stack([i["x"] for i in items]), "y": torch.stack([i["y"] for i in items]), "task": items[0]["task"]}


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 18), nn.ELU())
        self.heads = nn.ModuleDict({t: nn.Linear(18, 4) for t in TASKS})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


if world > 1:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(5)
model = MultiTask()
wrapped = DistributedDataParallel(model, find_unused_parameters=True) if world > 1 else model
if bug == "C10":  # a head added for a late task, after the model was wrapped
    torch.manual_seed(6)
    model.heads["mood"] = nn.Linear(18, 4)
optim = torch.optim.AdamW(wrapped.parameters(), lr=1e-2)
data = Faces()
for epoch in range(2):
    for batch in DataLoader(data, batch_sampler=OneTaskBatches(data, 12, seed=epoch), collate_fn=collate):
        loss = nn.functional.cross_entropy(wrapped(batch["x"], batch["task"]), batch["y"])
        if bug == "B3":
            loss = loss / world
        optim.zero_grad()
        loss.backward()
        optim.step()
        if rank == 0:
            print(batch["task"], round(loss.item(), 4))
