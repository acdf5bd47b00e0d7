"""Easy samples first: a sampler that deals a widening window of the sorted data, in order within a pace, to the ranks."""
import argparse
import math
import os

import torch
import torch.distributed as dist
from torch.nn import Linear, Module, MSELoss, ReLU, Sequential
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, Sampler
from torch.utils.data.distributed import DistributedSampler


class Signals(Dataset):
    def __init__(self, n=90):
        g = torch.Generator().manual_seed(2)
        self.noise_level = torch.rand(n, generator=g)
        self.x = torch.randn(n, 8, generator=g)
        self.y = self.x.sum(1) + self.noise_level * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class CurriculumSampler(Sampler):
    def __init__(self, difficulty, epochs, batch, rank=0, world=1, pad=False):
        self.order = torch.argsort(difficulty).tolist()
        self.epochs, self.batch, self.rank, self.world, self.pad, self.epoch = epochs, batch, rank, world, pad, 0

    def _window(self):
        n = len(self.order)
        share = min(1.0, 0.4 + 0.6 * self.epoch / max(1, self.epochs - 1))
        size = math.ceil(n * share)
        window = self.order[:size - size % self.batch]
        g = torch.Generator().manual_seed(self.epoch)
        window = [window[i] for i in torch.randperm(len(window), generator=g)]
        if self.pad:  # to as many batches for every rank: but `batch` is that of all ranks already
            window += window[:-len(window) % (self.batch * self.world)]
        return window

    def __iter__(self):
        return iter(self._window()[self.rank::self.world])

    def __len__(self):
        return len(self._window()) // self.world


class Net(Module):
    def __init__(self):
        super().__init__()
        self.body = Sequential(Linear(8, 32), ReLU(), Linear(32, 1))

    def forward(self, x):
        return self.body(x).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", nargs="?", default="-")
    parser.add_argument("--epochs", default=3, type=int)
    parser.add_argument("--batch", default=12, type=int)
    args = parser.parse_args()
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    data = Signals()
    torch.manual_seed(0)
    model = Net()
    sampler = CurriculumSampler(data.noise_level, args.epochs, args.batch, rank, world, pad=args.variant == "A5")
    if world > 1:
        model = DistributedDataParallel(model)
        if args.variant == "A10":
            sampler = DistributedSampler(data)  # replaced, as a framework does
    loader = DataLoader(data, batch_size=args.batch // world, sampler=sampler, drop_last=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(args.epochs):
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(epoch)
        else:
            sampler.epoch = epoch
        for x, y in loader:
            optimizer.zero_grad()
            MSELoss()(model(x), y).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
