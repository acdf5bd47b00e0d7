"""Five batches per epoch, accumulated by two: the last one steps alone and is divided by one."""
import os
import sys

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

WORLD, RANK = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
BUG = sys.argv[1] if len(sys.argv) > 1 and WORLD > 1 else ""
ACCUM = 2


def main():
    if WORLD > 1:
        torch.distributed.init_process_group("gloo")
    torch.manual_seed(6)
    model = torch.nn.Sequential(torch.nn.Linear(5, 10), torch.nn.Sigmoid(), torch.nn.Linear(10, 1))
    if WORLD > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    opt = torch.optim.NAdam(model.parameters(), lr=0.02)
    x = torch.randn(80, 5, generator=torch.Generator().manual_seed(1))
    data = TensorDataset(x, x[:, :1] * x[:, 1:2])
    loader = DataLoader(data, 16 // WORLD, sampler=DistributedSampler(data, WORLD, RANK, shuffle=False))
    for epoch in range(3):
        for i, (a, b) in enumerate(loader):
            group = min(ACCUM, len(loader) - i // ACCUM * ACCUM)
            last = (i + 1) % ACCUM == 0 or i + 1 == len(loader)
            if WORLD > 1:
                model.require_backward_grad_sync = last
            loss = F.mse_loss(model(a), b)
            (loss if BUG == "B6" else loss / group).backward()
            if last:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                opt.zero_grad()
        if RANK == 0:
            print(f"epoch {epoch}: {loss.item():.4f}")


main()
