"""A masked autoencoder: every image hides patches at random, drawn in the forward pass from a generator of the rank; accumulation,
stochastic depth, drop-out."""
import argparse
import contextlib
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def drop_path(x, p, training):
    if not training or p == 0:
        return x
    keep = torch.rand(len(x), 1, 1) >= p
    return x * keep / (1 - p)


class MAE(nn.Module):
    def __init__(self, patches=9, dim=16):
        super().__init__()
        self.embed, self.pos = nn.Linear(4, dim), nn.Parameter(torch.randn(1, patches, dim) * 0.02)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.block = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.1, batch_first=True, norm_first=True)
        self.head = nn.Linear(dim, 4)

    def forward(self, x, ratio=0.5):
        noise = torch.rand(x.shape[:2])
        mask = (noise.argsort(1).argsort(1) < int(ratio * x.shape[1])).unsqueeze(-1)
        h = torch.where(mask, self.mask_token, self.embed(x)) + self.pos
        h = h + drop_path(self.block(h) - h, 0.1, self.training)
        return ((self.head(h) - x).square() * mask).sum() / mask.sum() / 4


def main(args):
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(args.seed)
    data = TensorDataset(torch.randn(96, 9, 4).cumsum(1))
    model = MAE()
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    torch.manual_seed(args.seed + (0 if args.variant == "E6" else rank))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 * (world if args.variant == "D1" else 1), betas=(0.9, 0.95))
    sampler = DistributedSampler(data, num_replicas=world, rank=rank)
    loader = DataLoader(data, batch_size=8 // world, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        optimizer.zero_grad()
        for i, (x,) in enumerate(loader):
            update = (i + 1) % args.accum_iter == 0
            no_sync = world > 1 and (not update or args.variant == "B8")
            with model.no_sync() if no_sync else contextlib.nullcontext():
                loss = model(x)
                if args.variant != "B6":
                    loss = loss / args.accum_iter
                loss.backward()
            if update:
                optimizer.step()
                optimizer.zero_grad()


if __name__ == "__main__":
    p = argparse.ArgumentParser("MAE pre-training")
    p.add_argument("variant", nargs="?", default="-")
    p.add_argument("--accum_iter", default=2, type=int)
    p.add_argument("--seed", default=0, type=int)
    main(p.parse_args())
