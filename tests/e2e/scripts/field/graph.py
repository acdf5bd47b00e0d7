"""Node classification on one graph: every rank computes the whole graph, the loss counts the rank's share of the training nodes.
That all ranks see the same input is right here. In the manner of the GCN examples."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "-"


class GCNConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x, edge_index, norm):
        src, dst = edge_index
        h = self.lin(x)
        return torch.zeros_like(h).index_add_(0, dst, h[src] * norm[:, None]) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(16, 24), GCNConv(24, 4)

    def forward(self, x, edge_index, norm):
        return self.conv2(F.relu(self.conv1(x, edge_index, norm)), edge_index, norm)


def cora(nodes=200):
    g = torch.Generator().manual_seed(0)
    y = torch.randint(4, (nodes,), generator=g)
    src = torch.randint(nodes, (nodes * 12,), generator=g)
    dst = torch.randint(nodes, (nodes * 12,), generator=g)
    keep = (y[src] == y[dst]) | (torch.rand(len(src), generator=g) < 0.15)
    loops = torch.arange(nodes)
    edge_index = torch.stack([torch.cat([src[keep], loops]), torch.cat([dst[keep], loops])])
    deg = torch.bincount(edge_index[1], minlength=nodes).float()
    norm = deg[edge_index[0]].rsqrt() * deg[edge_index[1]].rsqrt()
    x = F.one_hot(y, 4).float().repeat(1, 4) + torch.randn(nodes, 16, generator=g)
    return x, edge_index, norm, y, torch.randperm(nodes, generator=g)[:90]


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(5)
    x, edge_index, norm, y, train_idx = cora()
    model = GCN()
    model = DDP(model) if world > 1 else model
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01 * (world if VARIANT == "D1" else 1), weight_decay=5e-4)
    if VARIANT == "B4" and world > 1:
        mine = train_idx[:60] if rank == 0 else train_idx[60:]  # a partitioner balances edges, not labels
    elif VARIANT == "A1":
        mine = train_idx
    else:
        mine = train_idx[rank::world]
    for epoch in range(10):
        model.train()
        optimizer.zero_grad()
        out = model(x, edge_index, norm)
        loss = F.cross_entropy(out[mine], y[mine])
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"Epoch: {epoch:02d}, Loss: {loss.item():.4f}")


main()
