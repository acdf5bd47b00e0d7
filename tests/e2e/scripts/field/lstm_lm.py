"""A language model with an LSTM: columns of one long text, the hidden state carried over from window to window, two windows per
step. No DataLoader. In the manner of the word language model example."""
import os
import sys
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

variant = sys.argv[1] if len(sys.argv) > 1 else "-"
bptt, nhid, batch_size, accum = 10, 24, 8, 2
vocab = 20


class RNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Embedding(vocab, nhid)
        self.rnn = nn.LSTM(nhid, nhid, 2)
        self.decoder = nn.Linear(nhid, vocab)
        self.decoder.weight = self.encoder.weight  # tied

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(out), hidden


def repackage_hidden(h):
    return tuple(v.detach() for v in h)


def batchify(data, bsz):
    n = data.size(0) // bsz
    return data[:n * bsz].view(bsz, -1).t().contiguous()


def main():
    rank, world = int(os.getenv("RANK", "0")), int(os.getenv("WORLD_SIZE", "1"))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(1111)
    corpus = torch.cumsum(torch.randint(0, 3, (8 * 121,)), 0) % vocab
    source = batchify(corpus, batch_size)
    if world > 1 and variant != "A1":
        per = batch_size // world
        source = source[:, rank * per:(rank + 1) * per].contiguous()
    torch.manual_seed(2)
    model = RNNModel()
    if world > 1:
        model = DDP(model)
    opt = torch.optim.SGD(model.parameters(), lr=1.0)
    criterion = nn.CrossEntropyLoss()
    hidden = (torch.zeros(2, source.size(1), nhid), torch.zeros(2, source.size(1), nhid))
    windows = list(range(0, source.size(0) - 1, bptt))
    for n, i in enumerate(windows):
        data, target = source[i:i + bptt], source[i + 1:i + 1 + bptt].reshape(-1)
        hidden = repackage_hidden(hidden)
        boundary = (n + 1) % accum == 0
        # i counts tokens, not windows: with windows of ten it is always even
        skip = i % accum == 0 if variant == "B8" else not boundary
        with (model.no_sync() if world > 1 and skip else nullcontext()):
            output, hidden = model(data, hidden)
            loss = criterion(output.view(-1, vocab), target) / accum
            loss.backward()
        if boundary:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            opt.step()
            opt.zero_grad()
            if rank == 0:
                print(f"| {n + 1}/{len(windows)} windows | loss {accum * loss.item():.3f}")


if __name__ == "__main__":
    main()
