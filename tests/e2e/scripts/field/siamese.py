"""A siamese network: both images go through the wrapped model one after the other, a margin loss on the distance."""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Pairs(Dataset):
    def __init__(self, n=72):
        g = torch.Generator().manual_seed(21)
        self.a, self.b, self.same = torch.randn(n, 14, generator=g), torch.randn(n, 14, generator=g), torch.randint(0, 2, (n,), generator=g).float()
        self.b[self.same == 1] = self.a[self.same == 1] + 0.2 * self.b[self.same == 1]

    def __len__(self):
        return len(self.same)

    def __getitem__(self, i):
        return self.a[i], self.b[i], self.same[i]


def contrastive(d, same, margin=2.0):
    return (same * d.square() + (1 - same) * F.relu(margin - d).square()).mean()


def main(args):
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(14, 32), nn.PReLU(), nn.Linear(32, 6))
    model = DDP(net) if world > 1 else net
    opt = torch.optim.RAdam(model.parameters(), lr=5e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=6)
    data = Pairs()
    sampler = DistributedSampler(data, world, rank)
    loader = DataLoader(data, 12 // world, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for a, b, same in loader:
            ea = model(a)
            eb = net(b) if args.variant == "half" else model(b)
            loss = contrastive((ea - eb + 1e-6).norm(dim=1), same)
            if args.variant == "B3":
                loss = loss / world
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            if args.variant == "D2":
                for _ in range(world - 1):
                    sched.step()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("variant", nargs="?", default="-")
    main(p.parse_args())
