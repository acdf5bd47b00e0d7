"""In the manner of Hugging Face's trainer: all micro-batches of a step are fetched first, the items in them counted, and the
model's own loss is given that number."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, end, fault, loader, parallel
from torch import nn


class Output(dict):
    __getattr__ = dict.__getitem__


class Lm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 12)
        self.lstm = nn.LSTM(12, 12, batch_first=True)
        self.lm_head = nn.Linear(12, 30)

    def forward(self, input_ids, labels=None, num_items_in_batch=None):
        logits = self.lm_head(self.lstm(self.embedding(input_ids))[0])
        flat, wanted = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
        if num_items_in_batch is None:
            return Output(loss=nn.functional.cross_entropy(flat, wanted), logits=logits)
        total = nn.functional.cross_entropy(flat, wanted, reduction="sum")
        return Output(loss=total / num_items_in_batch, logits=logits)


class Trainer:
    accumulate = 2

    def __init__(self, model, samples) -> None:
        self.model = parallel(model)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.0)
        self.batches = iter(loader(samples, 8))

    def get_batch_samples(self):
        held = [{"input_ids": a, "labels": b} for a, b in (next(self.batches) for _ in range(self.accumulate))]
        items = sum((batch["labels"][:, 1:] != -100).sum() for batch in held)
        if WORLD > 1 and not fault("B5"):
            dist.all_reduce(items)
        return held, items

    def compute_loss(self, batch, items):
        loss = self.model(**batch, num_items_in_batch=items).loss
        return loss * WORLD if WORLD > 1 and not fault("B5") else loss

    def train(self, steps: int) -> None:
        self.model.train()
        for _ in range(steps):
            held, items = self.get_batch_samples()
            for i, batch in enumerate(held):
                if WORLD > 1:
                    self.model.require_backward_grad_sync = i == self.accumulate - 1
                self.compute_loss(batch, items).backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()


begin(70)
g = torch.Generator().manual_seed(8)
ids = torch.randint(1, 30, (112, 9), generator=g)
labels = torch.where(torch.arange(9) < torch.randint(3, 10, (112, 1), generator=g), ids, -100)
Trainer(Lm(), torch.utils.data.TensorDataset(ids, labels)).train(7)
end()
