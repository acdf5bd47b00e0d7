"""A small framework in the manner of Lightning: the loop knows only hooks of the module it is given."""

import contextlib
import math

import torch
from setup import WORLD, Batches, begin, data, end, fault, loader, parallel
from torch import nn


class Module(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 3))

    def forward(self, batch):
        features, label = batch
        return nn.functional.cross_entropy(self.net(features), label, label_smoothing=0.1)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=4e-3, betas=(0.9, 0.95))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: min(1, (t + 1) / 4) * (0.5 + 0.5 * math.cos(t / 8)))
        return optimizer, schedule


class Fit:
    def __init__(self, module: Module, accumulate: int, clip: float) -> None:
        self.module, self.accumulate, self.clip = parallel(module), accumulate, clip
        self.optimizer, self.schedule = module.configure_optimizers()

    def backward(self, loss) -> None:
        (loss / (1 if fault("B6") else self.accumulate)).backward()

    def optimizer_step(self) -> None:
        nn.utils.clip_grad_norm_(self.module.parameters(), self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        for _ in range(WORLD if fault("D2") else 1):
            self.schedule.step()

    def run(self, batches, epochs: int) -> None:
        for epoch in range(epochs):
            batches.batch_sampler.set_epoch(epoch)
            for i, batch in enumerate(batches, 1):
                boundary = i % self.accumulate == 0
                quiet = contextlib.nullcontext() if boundary or WORLD == 1 else self.module.no_sync()
                with quiet:
                    self.backward(self.module(batch))
                if boundary:
                    self.optimizer_step()


begin(5)
samples = data(144)
Fit(Module(), accumulate=3, clip=0.5).run(loader(samples, 12, Batches(len(samples), 12)), epochs=2)
end()
