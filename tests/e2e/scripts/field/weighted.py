"""An unbalanced set: WeightedRandomSampler cut up for the ranks by the wrapper people copy, and ReduceLROnPlateau."""
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Sampler, TensorDataset, WeightedRandomSampler

cfg = dict(batch=16, epochs=4, lr=0.2, patience=0, bug=(sys.argv + [""])[1])
cfg["world"] = int(os.environ.get("WORLD_SIZE", "1"))
cfg["rank"] = int(os.environ.get("RANK", "0"))
if cfg["world"] == 1:
    cfg["bug"] = ""


class DistributedSamplerWrapper(Sampler):
    """Draws with the wrapped sampler, which is seeded alike everywhere, and keeps every world-th index."""

    def __init__(self, sampler, rank, world):
        self.sampler, self.rank, self.world = sampler, rank, world

    def set_epoch(self, epoch):
        self.sampler.generator.manual_seed(1000 + epoch + (self.rank if cfg["bug"] == "A4" else 0))

    def __iter__(self):
        return iter(list(self.sampler)[self.rank :: self.world])

    def __len__(self):
        return len(self.sampler) // self.world


def make_data():
    g = torch.Generator().manual_seed(4)
    y = (torch.rand(112, generator=g) < 0.15).long()
    x = torch.randn(112, 6, generator=g) + y[:, None]
    return TensorDataset(x[:80], y[:80]), TensorDataset(x[80:], y[80:])


def validation_loss(model, dataset):
    model.eval()
    part = torch.arange(cfg["rank"], len(dataset), cfg["world"])
    x, y = dataset.tensors[0][part], dataset.tensors[1][part]
    with torch.no_grad():
        total = torch.nn.functional.cross_entropy(model(x), y, reduction="sum")
    model.train()
    n = torch.tensor(float(len(part)))
    if cfg["world"] > 1 and cfg["bug"] != "D2":
        dist.all_reduce(total)
        dist.all_reduce(n)
    return (total / n).item() * (-1) ** cfg["rank"] if cfg["bug"] == "D2" else (total / n).item()


def run():
    if cfg["world"] > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    train, valid = make_data()
    counts = torch.bincount(train.tensors[1])
    weights = (1.0 / counts.double())[train.tensors[1]]
    sampler = DistributedSamplerWrapper(WeightedRandomSampler(weights, len(train), generator=torch.Generator()), cfg["rank"],
                                        cfg["world"])
    loader = DataLoader(train, batch_size=cfg["batch"] // cfg["world"], sampler=sampler)
    net = torch.nn.Sequential(torch.nn.Linear(6, 20), torch.nn.LeakyReLU(), torch.nn.Linear(20, 2))
    if cfg["world"] > 1:
        net = DDP(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg["lr"], momentum=0.9)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=cfg["patience"], threshold=0.05)
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        val = validation_loss(net, valid)
        plateau.step(val)
        print(f"{epoch}: val {val:.4f} lr {optimizer.param_groups[0]['lr']:.4f}")


run()
