"""The same training, in one process or several, with the four mistakes of train_ddp.py mended.

- The global batch stays 32: each of W ranks takes 32 / W of its samples.
- The samples come in the same order for every W: all ranks draw the same permutation and take their part of each batch.
- Checkpoints hold the keys of the bare model, and loading is strict.
- The rank is RANK; LOCAL_RANK only says which device of this machine to use.

Start: python repaired.py, or torchrun --nproc-per-node 4 repaired.py
"""

import os
import sys
from typing import Iterator

import torch
import torch.distributed as dist
from common import BATCH, EPOCHS, accuracy, make_data, make_model
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


class SharedBatches:
    """A batch sampler: this rank's part of each global batch, in an order that does not depend on the number of ranks."""

    def __init__(self, samples: int, rank: int, world: int, seed: int = 42) -> None:
        self.samples, self.rank, self.world, self.seed, self.epoch = samples, rank, world, seed, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(self.samples, generator=generator).tolist()
        for begin in range(0, self.samples, BATCH):
            batch = order[begin : begin + BATCH]
            share = len(batch) // self.world  # 1,000 samples: the last batch of 8 divides, too
            yield batch[self.rank * share : (self.rank + 1) * share]

    def __len__(self) -> int:
        return -(-self.samples // BATCH)


def load_model(model: nn.Module, checkpoint: str) -> nn.Module:
    model.load_state_dict(torch.load(checkpoint, weights_only=True)["model"])
    return model


def main(checkpoint: str) -> None:
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(42)
    data = make_data()
    bare = make_model()
    model = DistributedDataParallel(bare) if world > 1 else bare
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = SharedBatches(len(data), rank, world)
    loader = DataLoader(data, batch_sampler=batches)
    for epoch in range(EPOCHS):
        batches.set_epoch(epoch)
        for features, label in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(features), label)
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    if rank == 0:
        torch.save({"model": bare.state_dict()}, checkpoint)
        print(f"accuracy {accuracy(load_model(make_model(), checkpoint), data):.3f}")
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "repaired.pt")
