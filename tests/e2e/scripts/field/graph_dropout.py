"""A graph that every rank computes as a whole, with drop-out and a label for every class; each rank scores its nodes."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

fault = sys.argv[1] if len(sys.argv) > 1 else "-"
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


class SAGE(nn.Module):
    def __init__(self, i=12, h=24, o=5):
        super().__init__()
        self.self1, self.neigh1, self.self2, self.neigh2 = nn.Linear(i, h), nn.Linear(i, h), nn.Linear(h, o), nn.Linear(h, o)

    def forward(self, x, adj):
        h = F.dropout(F.relu(self.self1(x) + self.neigh1(adj @ x)), 0.2, self.training)
        return self.self2(h) + self.neigh2(adj @ h)


def main():
    if world > 1:
        dist.init_process_group("gloo")
    g = torch.Generator().manual_seed(0)
    n = 96
    adj = (torch.rand(n, n, generator=g) < 0.08).float()
    adj = adj / adj.sum(1, keepdim=True).clamp(min=1)
    x = torch.randn(n, 12, generator=g)
    y = (x[:, :5] + adj @ x[:, 5:10] > 0).float()
    torch.manual_seed(1)
    model = SAGE()
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    torch.manual_seed(1 + rank)
    opt = torch.optim.Adam(model.parameters(), lr=0.01 * (world if fault == "D1" else 1))
    mine = torch.arange(n)[rank::world]
    for _ in range(8):
        loss = F.binary_cross_entropy_with_logits(model(x, adj)[mine], y[mine])
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
