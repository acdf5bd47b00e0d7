"""OneCycle and an average of the last weights, with a Hydra-like nested config."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class AttrDict(dict):
    __getattr__ = dict.__getitem__


cfg = AttrDict(data=AttrDict(n=144, batch=24), optim=AttrDict(max_lr=0.05, epochs=3, swa_start=1), name="onecycle",
               variant=sys.argv[1] if len(sys.argv) > 1 else "-")


def setup():
    if "WORLD_SIZE" in os.environ and int(os.environ["WORLD_SIZE"]) > 1:
        dist.init_process_group("gloo")
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def main():
    rank, world = setup()
    torch.manual_seed(21)
    x = torch.randn(cfg.data.n, 12)
    dataset = TensorDataset(x, (x[:, :3].argmax(1)))
    net = nn.Sequential(nn.Linear(12, 40), nn.Mish(), nn.Linear(40, 40), nn.Mish(), nn.Linear(40, 3))
    swa_model = AveragedModel(net)
    if world > 1:
        net = nn.parallel.DistributedDataParallel(net)
    batch = cfg.data.batch // world
    sampler = DistributedSampler(dataset, world, rank, seed=1)
    loader = DataLoader(dataset, batch, sampler=sampler)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.optim.max_lr, momentum=0.9, weight_decay=5e-4)
    # Samples of the whole set over the batch of one rank count every step as many times as there are ranks.
    per_epoch = len(dataset) // batch if cfg.variant == "D2" else len(loader)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, cfg.optim.max_lr, total_steps=per_epoch * cfg.optim.epochs)
    for epoch in range(cfg.optim.epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            loss = F.cross_entropy(net(inputs), labels)
            if cfg.variant == "B2":
                loss = loss * world
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        if epoch >= cfg.optim.swa_start:
            swa_model.update_parameters(net.module if world > 1 else net)
    if rank == 0:
        print("averaged", int(swa_model.n_averaged))


if __name__ == "__main__":
    main()
