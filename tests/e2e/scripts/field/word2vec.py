"""Skip-gram with negative sampling and sparse embeddings; negatives are drawn alike everywhere for the whole batch, and cut."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

variant = sys.argv[1] if len(sys.argv) > 1 else "-"
world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
VOCAB, DIM, BATCH, NEG = 50, 12, 32, 4


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center, self.context = nn.Embedding(VOCAB, DIM, sparse=True), nn.Embedding(VOCAB, DIM, sparse=True)
        nn.init.uniform_(self.center.weight, -0.1, 0.1)
        nn.init.uniform_(self.context.weight, -0.1, 0.1)

    def forward(self, c, pos, neg):
        v = self.center(c)
        good = F.logsigmoid((v * self.context(pos)).sum(-1))
        bad = F.logsigmoid(-(self.context(neg) @ v.unsqueeze(-1)).squeeze(-1)).sum(-1)
        return -(good + bad).mean()


def main():
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(8)
    text = torch.randint(0, VOCAB, (2000,))
    model = SkipGram()
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
    per = BATCH // world
    if variant == "E6":
        torch.manual_seed(500)
    for step in range(8):
        at = torch.arange(step * BATCH, (step + 1) * BATCH)[rank * per:(rank + 1) * per]
        if variant == "E6":
            neg = torch.randint(0, VOCAB, (per, NEG))
        else:
            neg = torch.randint(0, VOCAB, (BATCH, NEG))[rank * per:(rank + 1) * per]
        loss = model(text[at], text[at + 1], neg)
        if variant == "B3":
            loss = loss / world
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
