"""Graph regression: graphs of uneven size are joined to one large graph by the collate function, with the graph's number for every
node; mean over the graphs. In the manner of PyTorch Geometric."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

fault = sys.argv[1] if len(sys.argv) > 1 else "-"


class Molecules(Dataset):
    def __init__(self, n=58):
        g = torch.Generator().manual_seed(1)
        self.graphs = []
        for _ in range(n):
            k = int(torch.randint(3, 9, (1,), generator=g))
            x = torch.randn(k, 5, generator=g)
            edges = torch.randint(0, k, (2, 3 * k), generator=g)
            self.graphs.append((x, edges, x.sum()))

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        return self.graphs[i]


def collate(items):
    xs, edges, batch, ys, offset = [], [], [], [], 0
    for i, (x, e, y) in enumerate(items):
        xs.append(x)
        edges.append(e + offset)
        batch.append(torch.full((len(x),), i))
        ys.append(y)
        offset += len(x)
    return {"x": torch.cat(xs), "edge_index": torch.cat(edges, 1), "batch": torch.cat(batch), "y": torch.stack(ys)}


class GIN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 24))
        self.second = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 24))
        self.out = nn.Linear(24, 1)

    @staticmethod
    def neighbours(x, edge_index):
        return x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])

    def forward(self, b):
        h = self.first(self.neighbours(b["x"], b["edge_index"])).relu()
        h = self.second(self.neighbours(h, b["edge_index"])).relu()
        pooled = torch.zeros(len(b["y"]), h.size(1)).index_add(0, b["batch"], h)
        return self.out(pooled).squeeze(1)


def main():
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = Molecules()
    model = GIN()
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    sampler = DistributedSampler(data, world, rank, seed=rank if fault == "A4" else 0)
    if fault == "A10" and world > 1:
        sampler = DistributedSampler(data, world, rank, shuffle=False)
    loader = DataLoader(data, 10 // world, sampler=sampler, collate_fn=collate)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for b in loader:
            loss = nn.functional.l1_loss(model(b), b["y"])
            if fault == "B2":
                loss = loss * world
            opt.zero_grad()
            loss.backward()
            opt.step()


main()
