"""Speech with CTC: utterances of uneven length, padded by the collate function, a bidirectional GRU, mean over the utterances."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

kind = sys.argv[1] if len(sys.argv) > 1 else "-"


class Utterances(Dataset):
    def __init__(self, n=64):
        g = torch.Generator().manual_seed(0)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(12, 24, (1,), generator=g))
            self.items.append((torch.randn(length, 8, generator=g), torch.randint(1, 6, (int(torch.randint(2, 5, (1,), generator=g)),), generator=g)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    feats, labels = zip(*batch)
    return (pad_sequence(feats, batch_first=True), torch.tensor([len(f) for f in feats]), torch.cat(labels), torch.tensor([len(l) for l in labels]))


class Acoustic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.rnn, self.out = nn.Linear(8, 16), nn.GRU(16, 16, bidirectional=True, batch_first=True), nn.Linear(32, 6)

    def forward(self, x, lengths):
        h = nn.utils.rnn.pack_padded_sequence(torch.relu(self.conv(x)), lengths, batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(h)[0], batch_first=True)
        return self.out(h).log_softmax(-1).transpose(0, 1)


def main():
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = Acoustic()
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    ctc = nn.CTCLoss(reduction="none", zero_infinity=True)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    data = Utterances()
    sampler = DistributedSampler(data, world, rank, seed=4)
    loader = DataLoader(data, (16 if kind == "A9" else 16 // world), sampler=sampler, collate_fn=collate)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, xl, y, yl in loader:
            each = ctc(model(x, xl), y, xl, yl)
            loss = each.sum() if kind == "B1" and world > 1 else each.mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()


main()
