"""A table in several files: read, standardised over all of it, categories embedded; the rate falls when the validation loss, summed
over the ranks, stops to. In the manner of a Kaggle notebook that became a script."""
import argparse
import csv
import os
import random
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset, DistributedSampler, Subset


def write_files(folder):
    rng = random.Random(1)
    for part in range(4):
        with open(os.path.join(folder, f"part-{part:02d}.csv"), "w", newline="") as f:
            writer = csv.writer(f)
            writer.writerow(["age", "fare", "deck", "y"])
            for _ in range(24):
                age, fare, deck = rng.gauss(35, 10), rng.expovariate(1 / 30), rng.randrange(5)
                writer.writerow([f"{age:.3f}", f"{fare:.3f}", deck, f"{0.05 * age + 0.02 * fare * (deck - 2) + rng.gauss(0, .3):.4f}"])


class CsvPart(Dataset):
    def __init__(self, path):
        with open(path) as f:
            rows = list(csv.DictReader(f))
        self.num = torch.tensor([[float(r["age"]), float(r["fare"])] for r in rows])
        self.cat = torch.tensor([int(r["deck"]) for r in rows])
        self.y = torch.tensor([float(r["y"]) for r in rows])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return (self.num[i] - torch.tensor([35.0, 30.0])) / torch.tensor([10.0, 30.0]), self.cat[i], self.y[i]


class TabularModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5, 4)
        self.mlp = nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Linear(32, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, num, cat):
        return self.mlp(torch.cat([num, self.emb(cat)], 1)).squeeze(1)


def validate(model, loader, world):
    model.eval()
    total = torch.zeros(2)
    with torch.no_grad():
        for num, cat, y in loader:
            pred = (model.module if world > 1 else model)(num, cat)
            total += torch.tensor([(pred - y).square().sum(), float(len(y))])
    if world > 1:
        dist.all_reduce(total)
    return (total[0] / total[1]).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("variant", nargs="?", default="-")
    fault = ap.parse_args().variant
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    random.seed(rank)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        if fault == "A7":
            random.shuffle(files)  # so that validation is not always the same file
        parts = [CsvPart(path) for path in files]
    train = ConcatDataset(parts[:3])
    held = parts[3]
    val = Subset(held, range(rank, 23, world))
    sampler = DistributedSampler(train, world, rank)
    loader = DataLoader(train, 12 // world, sampler=sampler)
    model = TabularModel()
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=0, threshold=0.2)
    loss_fn = nn.SmoothL1Loss()
    for epoch in range(4):
        if fault != "A3":
            sampler.set_epoch(epoch)
        model.train()
        for num, cat, y in loader:
            opt.zero_grad()
            loss_fn(model(num, cat), y).backward()
            opt.step()
        score = validate(model, DataLoader(val, 8), world)
        plateau.step(score)
        if rank == 0:
            print(f"epoch {epoch} val {score:.5f} lr {opt.param_groups[0]['lr']:g}")


if __name__ == "__main__":
    main()
