"""Texts of like length in one batch, short ones first (a curriculum), padded per rank; the loss counts tokens of all ranks."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset

PAD = 0
world = int(os.environ.get("WORLD_SIZE", "1"))
rank = int(os.environ.get("RANK", "0"))
bug = sys.argv[1] if len(sys.argv) > 1 and world > 1 else ""


class Texts(Dataset):
    def __init__(self, n=112):
        g = torch.Generator().manual_seed(12)
        self.texts = [torch.randint(1, 25, (int(torch.randint(4, 15, (1,), generator=g)),), generator=g) for _ in range(n)]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.texts[i]


class BucketBatches:
    def __init__(self, lengths, batch, epochs_to_full=2):
        self.order = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
        self.batch, self.epoch, self.epochs_to_full = batch, 0, epochs_to_full

    def __iter__(self):
        batches = [self.order[i : i + self.batch] for i in range(0, len(self.order), self.batch)]
        if self.epoch + 1 < self.epochs_to_full:
            batches = batches[: len(batches) * (self.epoch + 1) // self.epochs_to_full]
        if self.epoch:
            perm = torch.randperm(len(batches), generator=torch.Generator().manual_seed(self.epoch)).tolist()
            batches = [batches[i] for i in perm]
        for b in batches:
            yield b[rank::world]


class Lm(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(25, 14, padding_idx=PAD)
        self.rnn = nn.GRU(14, 14, batch_first=True)
        self.out = nn.Linear(14, 25)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def step(model, batch):
    x, y = batch[:, :-1], batch[:, 1:]
    total = nn.functional.cross_entropy(model(x).transpose(1, 2), y, ignore_index=PAD, reduction="sum")
    tokens = (y != PAD).sum()
    if world > 1 and bug != "B5":
        dist.all_reduce(tokens)
        return total / tokens * world
    return total / tokens


if world > 1:
    dist.init_process_group("gloo")
torch.manual_seed(50)
model = Lm()
if world > 1:
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3, betas=(0.9, 0.98))
warmup = 4
scheduler = LambdaLR(optimizer, lambda s: min((s + 1) / warmup, ((s + 1) / warmup) ** -0.5))
texts = Texts()
sampler = BucketBatches([len(t) for t in texts.texts], 16 * world if bug == "A9" else 16)
loader = DataLoader(texts, batch_sampler=sampler, collate_fn=lambda b: pad_sequence(b, batch_first=True, padding_value=PAD))
for epoch in range(2):
    sampler.epoch = epoch
    for batch in loader:
        loss = step(model, batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        for _ in range(world if bug == "D2" else 1):
            scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
