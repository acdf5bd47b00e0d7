"""A class-based trainer with AdamW and a cosine schedule, an evaluation after each epoch and a checkpoint."""

import tempfile

import torch
from setup import RANK, WORLD, Batches, begin, data, end, fault, loader, parallel
from torch import nn


class Trainer:
    def __init__(self) -> None:
        self.data = data()
        self.batches = Batches(len(self.data), 16)
        self.loader = loader(self.data, 16, self.batches)
        self.model = parallel(nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3)))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 12)
        self.steps = 0

    def compute_loss(self, batch):
        features, label = batch
        return nn.functional.cross_entropy(self.model(features), label)

    def training_step(self, batch) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        if fault("B8") and self.steps >= 3:
            with self.model.no_sync():
                self.compute_loss(batch).backward()
        else:
            self.compute_loss(batch).backward()
        self.optimizer.step()
        for _ in range(WORLD if fault("D2") else 1):
            self.scheduler.step()
        self.steps += 1

    @torch.no_grad()
    def evaluate(self) -> float:
        self.model.eval()
        losses = [self.compute_loss(batch).item() for batch in loader(self.data, 48)]
        self.model.train()
        return sum(losses) / len(losses)

    def fit(self, epochs: int) -> None:
        for epoch in range(epochs):
            self.batches.set_epoch(epoch)
            for batch in self.loader:
                self.training_step(batch)
            print(f"epoch {epoch} evaluation {self.evaluate():.5f}")
        if RANK == 0:
            with tempfile.TemporaryDirectory() as folder:
                torch.save(self.model.state_dict(), f"{folder}/model.pt")


begin()
Trainer().fit(2)
end()
