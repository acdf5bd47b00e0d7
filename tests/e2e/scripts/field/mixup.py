"""Mixup with numpy's generator, soft labels, and a moving average of the weights that only the first rank keeps."""
import copy
import os
import sys

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def mixup_data(x, y, alpha=0.4):
    lam = np.random.beta(alpha, alpha)
    index = torch.from_numpy(np.random.permutation(len(x)))
    return lam * x + (1 - lam) * x[index], lam * y + (1 - lam) * y[index]


class ModelEMA:
    def __init__(self, model, decay=0.9):
        self.ema, self.decay = copy.deepcopy(model).eval(), decay

    @torch.no_grad()
    def update(self, model):
        for k, v in self.ema.state_dict().items():
            if v.dtype.is_floating_point:
                v.mul_(self.decay).add_(model.state_dict()[k], alpha=1 - self.decay)


class Runner:
    def __init__(self, bug):
        self.world, self.rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
        self.bug = bug if self.world > 1 else ""
        if self.world > 1:
            dist.init_process_group("gloo")
        np.random.seed(2023 if self.bug == "E6" else 2023 + self.rank)
        torch.manual_seed(2023)
        g = torch.Generator().manual_seed(1)
        labels = torch.randint(0, 5, (128,), generator=g)
        self.data = TensorDataset(torch.randn(128, 12, generator=g) + labels[:, None] * 0.2, F.one_hot(labels, 5).float())
        self.sampler = DistributedSampler(self.data, self.world, self.rank, shuffle=True)
        self.loader = DataLoader(self.data, batch_size=32 // self.world, sampler=self.sampler)
        self.model = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.GELU(), torch.nn.Linear(32, 5))
        self.ema = ModelEMA(self.model) if self.rank == 0 else None
        self.net = torch.nn.parallel.DistributedDataParallel(self.model) if self.world > 1 else self.model
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=3e-3 * (self.world if self.bug == "D1" else 1))
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 1, 0.5)

    def run(self, epochs=3):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            for x, y in self.loader:
                x, y = mixup_data(x, y)
                loss = -(y * self.net(x).log_softmax(-1)).sum(-1).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                if self.ema:
                    self.ema.update(self.model)
            self.sched.step()
            if self.rank == 0:
                print(epoch, loss.item())


Runner(sys.argv[1] if len(sys.argv) > 1 else "").run()
