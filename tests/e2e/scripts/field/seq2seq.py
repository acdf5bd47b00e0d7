"""Sequence to sequence with teacher forcing by a coin, GRU and attention, in the manner of the tutorials. The loss counts the
tokens of all ranks."""
import argparse
import os
import random

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

PAD, SOS, EOS = 0, 1, 2


def pairs(n=64, length=8, vocab=15):
    g = torch.Generator().manual_seed(0)
    src, tgt = torch.zeros(n, length, dtype=torch.long), torch.zeros(n, length + 1, dtype=torch.long)
    for i in range(n):
        k = int(torch.randint(1, length, (1,), generator=g))
        words = torch.randint(3, vocab, (k,), generator=g)
        src[i, :k] = words
        tgt[i, :k] = words.flip(0)
        tgt[i, k] = EOS
    return TensorDataset(src, tgt)


class Encoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden, padding_idx=PAD)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, x):
        return self.gru(self.embedding(x))


class Decoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.gru = nn.GRUCell(2 * hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, token, hidden, memory):
        weights = torch.softmax(torch.bmm(memory, hidden.unsqueeze(2)).squeeze(2), -1)
        context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
        hidden = self.gru(torch.cat([self.embedding(token), context], 1), hidden)
        return self.out(hidden), hidden


class Seq2Seq(nn.Module):
    def __init__(self, vocab=15, hidden=24):
        super().__init__()
        self.encoder, self.decoder = Encoder(vocab, hidden), Decoder(vocab, hidden)

    def forward(self, src, tgt, teacher_forcing):
        memory, hidden = self.encoder(src)
        hidden = hidden[0]
        token = torch.full((len(src),), SOS)
        outputs = []
        for t in range(tgt.size(1)):
            logits, hidden = self.decoder(token, hidden, memory)
            outputs.append(logits)
            token = tgt[:, t] if teacher_forcing else logits.argmax(1).detach()
        return torch.stack(outputs, 1)


def main(args):
    distributed = "RANK" in os.environ
    if distributed:
        dist.init_process_group("gloo")
    rank, world = (dist.get_rank(), dist.get_world_size()) if distributed else (0, 1)
    random.seed(args.seed)  # the same coin on every rank
    torch.manual_seed(args.seed)
    model = Seq2Seq()
    if distributed:
        model = nn.parallel.DistributedDataParallel(model)
    data = pairs()
    sampler = DistributedSampler(data, num_replicas=world, rank=rank, seed=args.seed)
    loader = DataLoader(data, batch_size=args.batch_size // world, sampler=sampler)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, reduction="mean" if args.variant == "B5" else "sum")
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for src, tgt in loader:
            optimizer.zero_grad()
            output = model(src, tgt, random.random() < 0.5)
            loss = criterion(output.flatten(0, 1), tgt.flatten())
            if args.variant not in ("B5", "B1"):
                tokens = (tgt != PAD).sum()
                if distributed:
                    dist.all_reduce(tokens)
                loss = loss * world / tokens
            elif args.variant == "B1" and not distributed:
                loss = loss / (tgt != PAD).sum()
            loss.backward()
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("variant", nargs="?", default="-")
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--seed", type=int, default=10)
    main(p.parse_args())
