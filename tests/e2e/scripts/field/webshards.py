"""A stream of shards with workers in the manner of webdataset: shards go to workers, and within a shard every rank takes its turn."""
import itertools
import os
import sys

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

variant = sys.argv[1] if len(sys.argv) > 1 else "-"
SHARDS, PER_SHARD, WORKERS = 8, 12, 2


def shard_urls():
    return [f"train-{i:06d}.tar" for i in range(SHARDS)]


def read_shard(url):
    i = int(url.split("-")[1].split(".")[0])
    rng = np.random.default_rng(i)
    for _ in range(PER_SHARD):
        x = rng.normal(size=8).astype(np.float32)
        yield torch.from_numpy(x), torch.tensor(x[:4].sum() - x[4:].sum())


def split_by_worker(urls):
    info = get_worker_info()
    yield from urls[info.id::info.num_workers] if info else urls


class WebDataset(IterableDataset):
    def __init__(self, urls, rank, world):
        self.urls, self.rank, self.world = urls, rank, world

    def __iter__(self):
        for url in split_by_worker(self.urls):
            samples = read_shard(url)
            yield from samples if variant == "A2" else itertools.islice(samples, self.rank, None, self.world)


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = WebDataset(shard_urls(), rank, world)
    loader = DataLoader(data, batch_size=12 // world, num_workers=WORKERS)
    model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    opt = torch.optim.NAdam(model.parameters(), lr=3e-3 * (world if variant == "D1" else 1))
    for step, (x, y) in enumerate(loader):
        if step == 8:
            break
        opt.zero_grad()
        nn.functional.huber_loss(model(x).squeeze(1), y).backward()
        opt.step()


if __name__ == "__main__":
    main()
