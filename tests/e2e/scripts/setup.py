"""What the example scripts share: the process group, one global batch order for any number of ranks, and the planted fault.

    python plain.py            one process
    torchrun ... plain.py      several; each takes its part of the same global batches
    ... plain.py FAULT         with this catalogue fault planted, where there are several ranks
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

WORLD = int(os.environ.get("WORLD_SIZE", "1"))
RANK = int(os.environ.get("RANK", "0"))
FAULT = next((a for a in sys.argv[1:] if not a.startswith("-")), "")


def fault(name: str) -> bool:
    """True where the fault is planted and has something to act on."""
    return FAULT == name and WORLD > 1


def begin(seed: int = 7) -> None:
    torch.set_num_threads(1)
    if WORLD > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(seed)


def end() -> None:
    if WORLD > 1:
        dist.destroy_process_group()


def parallel(model, **options):
    return DistributedDataParallel(model, **options) if WORLD > 1 else model


class Batches:
    """This rank's part of each global batch of `size`, in the same order for any number of ranks."""

    def __init__(self, samples: int, size: int, rank: int = RANK, world: int = WORLD, seed: int = 1) -> None:
        self.samples, self.size, self.rank, self.world, self.seed, self.epoch = samples, size, rank, world, seed, 0
        self.shuffle = True

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return self.samples // self.size

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(self.samples, generator=generator).tolist() if self.shuffle else list(range(self.samples))
        share = self.size // self.world
        for begin in range(0, len(self) * self.size, self.size):
            yield order[begin + self.rank * share : begin + (self.rank + 1) * share]


def loader(data, size: int, batches=None, **options) -> DataLoader:
    return DataLoader(data, batch_sampler=batches or Batches(len(data), size), **options)


def data(samples: int = 96, features: int = 8, classes: int = 3):
    generator = torch.Generator().manual_seed(2)
    center = torch.randn(classes, features, generator=generator)
    label = torch.arange(samples) % classes
    return torch.utils.data.TensorDataset(center[label] + 0.5 * torch.randn(samples, features, generator=generator), label)
