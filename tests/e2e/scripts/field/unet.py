"""Segmentation with a small U-Net, cross entropy plus dice, in the manner of a class trainer with a config dataclass."""
import os
import random
import sys
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


@dataclass
class Config:
    variant: str = sys.argv[1] if len(sys.argv) > 1 else "-"
    epochs: int = 2
    batch_size: int = 8
    lr: float = 2e-3
    seed: int = 1234
    rank: int = int(os.environ.get("RANK", 0))
    world_size: int = int(os.environ.get("WORLD_SIZE", 1))


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)


class Blobs(Dataset):
    """Discs on noise, and their masks."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
        cx, cy = torch.rand(2, n, generator=g) * 10 + 3
        r = torch.rand(n, generator=g) * 3 + 2
        self.masks = (((xx - cx[:, None, None]) ** 2 + (yy - cy[:, None, None]) ** 2) < r[:, None, None] ** 2).float()
        self.images = self.masks + 0.5 * torch.randn(n, 16, 16, generator=g)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        return {"image": self.images[idx][None], "mask": self.masks[idx][None]}


class DoubleConv(nn.Sequential):
    def __init__(self, i, o):
        super().__init__(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.InstanceNorm2d(o, affine=True), nn.ReLU(inplace=True),
                         nn.Conv2d(o, o, 3, padding=1, bias=False), nn.InstanceNorm2d(o, affine=True), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.inc, self.down, self.up, self.outc = DoubleConv(1, c), DoubleConv(c, 2 * c), nn.ConvTranspose2d(2 * c, c, 2, 2), nn.Conv2d(c, 1, 1)
        self.conv = DoubleConv(2 * c, c)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down(F.max_pool2d(x1, 2))
        return self.outc(self.conv(torch.cat([x1, self.up(x2)], 1)))


def dice_loss(logits, target, eps=1.0):
    p = logits.sigmoid().flatten(1)
    t = target.flatten(1)
    return (1 - (2 * (p * t).sum(1) + eps) / (p.sum(1) + t.sum(1) + eps)).mean()


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        if cfg.world_size > 1:
            dist.init_process_group("gloo")
        seed_everything(cfg.seed)
        model = UNet()
        if cfg.variant == "A4":
            cfg.seed = cfg.seed + cfg.rank  # every rank its own augmentations
        seed_everything(cfg.seed)
        self.model = DistributedDataParallel(model) if cfg.world_size > 1 else model
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=cfg.lr, weight_decay=1e-8, momentum=0.9)
        train, val = Blobs(48, 1), Blobs(21, 2)
        self.sampler = DistributedSampler(train, cfg.world_size, cfg.rank, shuffle=True, seed=cfg.seed)
        self.train_loader = DataLoader(train, cfg.batch_size // cfg.world_size, sampler=self.sampler)
        if cfg.variant == "F9" and cfg.world_size > 1:
            self.val_loader = DataLoader(val, 4, sampler=DistributedSampler(val, shuffle=False))
        else:
            self.val_loader = DataLoader(torch.utils.data.Subset(val, range(cfg.rank, len(val), cfg.world_size)), 4)

    @property
    def net(self):
        return self.model.module if hasattr(self.model, "module") else self.model

    def training_step(self, batch):
        logits = self.net(batch["image"]) if self.cfg.variant == "C1" else self.model(batch["image"])
        return F.binary_cross_entropy_with_logits(logits, batch["mask"]) + dice_loss(logits, batch["mask"])

    @torch.no_grad()
    def evaluate(self):
        self.net.eval()
        stats = torch.zeros(2)
        for batch in self.val_loader:
            pred = (self.net(batch["image"]) > 0).float()
            inter = 2 * (pred * batch["mask"]).sum((1, 2, 3))
            stats += torch.stack([(inter / (pred.sum((1, 2, 3)) + batch["mask"].sum((1, 2, 3)) + 1e-6)).sum(), torch.tensor(float(len(pred)))])
        if self.cfg.world_size > 1:
            dist.all_reduce(stats)
        self.net.train()
        return (stats[0] / stats[1]).item()

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.sampler.set_epoch(epoch)
            for batch in self.train_loader:
                self.optimizer.zero_grad(set_to_none=True)
                loss = self.training_step(batch)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
            dice = self.evaluate()
            if self.cfg.rank == 0:
                print(f"epoch {epoch + 1}: dice {dice:.4f}")


if __name__ == "__main__":
    Trainer(Config()).fit()
