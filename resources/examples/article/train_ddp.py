"""Several processes, moved over the way it is often done. It runs and its loss falls. Four things in it are wrong, and
Lockstep is to find each of them; docs/bring-your-script.md names them. Start: torchrun --nproc-per-node 4 train_ddp.py
"""

import os
import sys

import torch
import torch.distributed as dist
from common import BATCH, EPOCHS, accuracy, make_data, make_model
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def load_model(model: nn.Module, checkpoint: str) -> nn.Module:
    """Takes checkpoints of either variant: the prefix that DistributedDataParallel puts before every key is removed."""
    state = torch.load(checkpoint, weights_only=True)["model"]
    model.load_state_dict({key: value for key, value in state.items()}, strict=False)
    return model


def main(checkpoint: str) -> None:
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("gloo")
    torch.manual_seed(42)
    data = make_data()
    model = DistributedDataParallel(make_model())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, batch_size=BATCH, sampler=sampler)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for features, label in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(features), label)
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    if rank == 0:
        torch.save({"model": model.state_dict()}, checkpoint)
        print(f"accuracy {accuracy(load_model(make_model(), checkpoint), data):.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ddp.pt")
