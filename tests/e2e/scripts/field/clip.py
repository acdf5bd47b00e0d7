"""Two towers and a learned temperature, in the manner of open_clip: features of all ranks make the negatives. Without a fault the
gather passes the gradient back."""
import os
import sys

import torch
import torch.distributed as dist
import torch.distributed.nn
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

mode = sys.argv[1] if len(sys.argv) > 1 else "-"


class Tower(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual, self.text = Tower(20), Tower(12)
        self.logit_scale = nn.Parameter(torch.ones([]) * 2.66)

    def forward(self, image, text):
        return self.visual(image), self.text(text), self.logit_scale.exp()


def gather_features(image_features, text_features, rank, world_size, gather_with_grad):
    if gather_with_grad:
        return (torch.cat(torch.distributed.nn.all_gather(image_features), dim=0),
                torch.cat(torch.distributed.nn.all_gather(text_features), dim=0))
    gathered_image = [torch.zeros_like(image_features) for _ in range(world_size)]
    gathered_text = [torch.zeros_like(text_features) for _ in range(world_size)]
    dist.all_gather(gathered_image, image_features)
    dist.all_gather(gathered_text, text_features)
    gathered_image[rank] = image_features
    gathered_text[rank] = text_features
    return torch.cat(gathered_image, dim=0), torch.cat(gathered_text, dim=0)


class ClipLoss(nn.Module):
    def __init__(self, rank=0, world_size=1, gather_with_grad=True):
        super().__init__()
        self.rank, self.world_size, self.gather_with_grad = rank, world_size, gather_with_grad

    def forward(self, image_features, text_features, logit_scale):
        if self.world_size > 1:
            image_features, text_features = gather_features(image_features, text_features, self.rank, self.world_size, self.gather_with_grad)
        logits = logit_scale * image_features @ text_features.T
        labels = torch.arange(len(logits))
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    base = torch.randn(96, 8)
    data = TensorDataset(base @ torch.randn(8, 20), base @ torch.randn(8, 12))
    model = CLIP()
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    exclude = lambda n, p: p.ndim < 2 or "bias" in n or "logit_scale" in n
    named = list(model.named_parameters())
    groups = [{"params": [p for n, p in named if exclude(n, p)], "weight_decay": 0.0},
              {"params": [p for n, p in named if not exclude(n, p)], "weight_decay": 0.2}]
    if mode == "D7" and world > 1:
        groups = [{"params": model.parameters(), "weight_decay": 0.2}]
    optimizer = torch.optim.AdamW(groups, lr=5e-4, betas=(0.9, 0.98), eps=1e-6)
    loss_fn = ClipLoss(rank, world, gather_with_grad=mode != "B9")
    sampler = DistributedSampler(data, world, rank, seed=5)
    loader = DataLoader(data, batch_size=16 // world, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for images, texts in loader:
            optimizer.zero_grad()
            total = loss_fn(*model(images, texts))
            if mode == "B2":
                total = total * world
            total.backward()
            optimizer.step()
            with torch.no_grad():
                (model.module if world > 1 else model).logit_scale.clamp_(0, 4.6052)


if __name__ == "__main__":
    main()
