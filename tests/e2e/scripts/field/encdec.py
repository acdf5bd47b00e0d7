"""An encoder and a decoder, each in a wrapper and with an optimizer of its own; teacher forcing is decided by Python's generator."""
import os
import random
import sys

import torch
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def setup():
    w = int(os.environ.get("WORLD_SIZE", 1))
    if w > 1:
        torch.distributed.init_process_group("gloo")
    random.seed(1)
    torch.manual_seed(1)
    return w, int(os.environ.get("RANK", 0))


def step(encoder, decoder, src, tgt, criterion, teacher_ratio=0.5):
    hidden = encoder(src)
    inputs = torch.cat([torch.zeros_like(tgt[:, :1]), tgt[:, :-1]], 1) if random.random() < teacher_ratio else torch.zeros_like(tgt)
    return criterion(decoder(inputs, hidden).flatten(0, 1), tgt.flatten())


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn = nn.Embedding(20, 12), nn.GRU(12, 16, batch_first=True)

    def forward(self, x):
        return self.rnn(self.emb(x))[1]


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(20, 12), nn.GRU(12, 16, batch_first=True), nn.Linear(16, 20)

    def forward(self, x, h):
        return self.out(self.rnn(self.emb(x), h)[0])


if __name__ == "__main__":
    world, rank = setup()
    bug = sys.argv[1] if len(sys.argv) > 1 and world > 1 else ""
    g = torch.Generator().manual_seed(2)
    src = torch.randint(1, 20, (96, 6), generator=g)
    data = TensorDataset(src, src.flip(1))
    enc, dec = Encoder(), Decoder()
    if world > 1:
        enc, dec = DDP(enc), DDP(dec) if bug != "C10" else dec
    opts = [torch.optim.Adam(m.parameters(), lr=5e-3) for m in (enc, dec)]
    sampler = DistributedSampler(data, world, rank, shuffle=True)
    for epoch in range(2):
        if bug != "A3":
            sampler.set_epoch(epoch)
        for s, t in DataLoader(data, 16 // world, sampler=sampler):
            for o in opts:
                o.zero_grad()
            loss = step(enc, dec, s, t, nn.CrossEntropyLoss())
            loss.backward()
            for o in opts:
                o.step()
        print(epoch, loss.item())
