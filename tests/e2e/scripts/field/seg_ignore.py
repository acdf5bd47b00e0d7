"""Semantic segmentation whose labels leave pixels out (255), with a polynomial schedule by hand, in the manner of mmseg-like loops."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

mode = sys.argv[1] if len(sys.argv) > 1 else "-"


class City(Dataset):
    def __init__(self, n=64):
        g = torch.Generator().manual_seed(7)
        self.images = torch.randn(n, 3, 10, 10, generator=g)
        self.masks = self.images.argmax(1)
        void = torch.rand(n, generator=g) * 0.9
        self.masks[torch.rand(n, 10, 10, generator=g) < void[:, None, None]] = 255

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


def poly(base, it, total, power=0.9):
    return base * (1 - it / total) ** power


def main():
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(304)
    net = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.GroupNorm(3, 12), nn.ReLU(), nn.Conv2d(12, 3, 1))
    if world > 1:
        net = nn.parallel.DistributedDataParallel(net)
    opt = torch.optim.SGD([{"params": [p for n, p in net.named_parameters() if p.ndim == 1], "weight_decay": 0},
                           {"params": [p for n, p in net.named_parameters() if p.ndim > 1]}], lr=0.05, momentum=0.9, weight_decay=1e-3)
    data = City()
    sampler = DistributedSampler(data, world, rank, seed=304)
    loader = DataLoader(data, 8 // world, sampler=sampler, drop_last=True)
    total = len(data) // (8 // world) * 2 if mode == "D2" else len(loader) * 2
    it = 0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for image, mask in loader:
            for group in opt.param_groups:
                group["lr"] = poly(0.05, it, total)
            logits = net(image)
            if mode == "B5":
                loss = F.cross_entropy(logits, mask, ignore_index=255)
            else:
                valid = (mask != 255).sum().float()
                if world > 1:
                    dist.all_reduce(valid)
                    valid /= world
                loss = F.cross_entropy(logits, mask, ignore_index=255, reduction="none").sum() / valid
            opt.zero_grad()
            loss.backward()
            opt.step()
            it += 1


if __name__ == "__main__":
    main()
