"""A stream that every rank reads its part of, with texts padded to the longest of a batch."""
import os
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
bug = sys.argv[1] if len(sys.argv) > 1 and world > 1 else ""


class Reviews(IterableDataset):
    def __iter__(self):
        g = torch.Generator().manual_seed(3)
        for n in range(96):
            length = int(torch.randint(3, 12, (1,), generator=g))
            text = torch.randint(1, 30, (length,), generator=g)
            if bug == "A2" or n % world == rank:
                yield text, int(text.sum()) % 2


def collate(items):
    texts, labels = zip(*items)
    return {"text": nn.utils.rnn.pad_sequence(texts, batch_first=True), "label": torch.tensor(labels)}


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.out = nn.Embedding(30, 16, padding_idx=0), nn.Linear(16, 2)

    def forward(self, text):
        mask = (text != 0).unsqueeze(-1)
        return self.out((self.emb(text) * mask).sum(1) / mask.sum(1))


if world > 1:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(8)
model = Bag()
if world > 1:
    model = nn.parallel.DistributedDataParallel(model)
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
for epoch in range(2):
    for batch in DataLoader(Reviews(), batch_size=16 // world, collate_fn=collate):
        loss = nn.functional.cross_entropy(model(batch["text"]), batch["label"])
        opt.zero_grad()
        (loss * world if bug == "B2" else loss).backward()
        opt.step()
    print(epoch, float(loss))
