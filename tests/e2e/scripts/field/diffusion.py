"""Denoising diffusion on points: timesteps and noise drawn in the loss, an exponential average with warmup. Every rank draws its
own noise."""
import copy
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "-"


def exists(x):
    return x is not None


class GaussianDiffusion(nn.Module):
    def __init__(self, model, timesteps=50):
        super().__init__()
        self.model, self.num_timesteps = model, timesteps
        betas = torch.linspace(1e-4, 0.1, timesteps)
        self.register_buffer("alphas_cumprod", torch.cumprod(1 - betas, 0))

    def forward(self, x, noise=None):
        t = torch.randint(0, self.num_timesteps, (len(x),)).long()
        noise = noise if exists(noise) else torch.randn_like(x)
        a = self.alphas_cumprod[t][:, None]
        pred = self.model(a.sqrt() * x + (1 - a).sqrt() * noise, t / self.num_timesteps)
        return (pred - noise).square().mean()


class Denoiser(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.inp, self.mid, self.out = nn.Linear(2, dim), nn.Sequential(nn.SiLU(), nn.Linear(dim, dim), nn.SiLU()), nn.Linear(dim, 2)

    def forward(self, x, t):
        return self.out(self.mid(self.inp(x) + self.time(t[:, None])))


class EMA:
    def __init__(self, model, beta=0.9):
        self.ema_model, self.beta, self.step = copy.deepcopy(model).requires_grad_(False), beta, 0

    def update(self, model):
        self.step += 1
        beta = min(self.beta, self.step / (self.step + 10))
        online = dict(model.named_parameters())
        with torch.no_grad():
            for name, p in self.ema_model.named_parameters():
                if name in online:
                    p.lerp_(online[name], 1 - beta)


class Trainer:
    def __init__(self, diffusion, data, *, train_lr=2e-3, batch=32):
        self.world, self.rank = (dist.get_world_size(), dist.get_rank()) if dist.is_initialized() else (1, 0)
        self.ema = EMA(diffusion)
        self.net = DistributedDataParallel(diffusion) if self.world > 1 else diffusion
        lr = train_lr * self.world if VARIANT == "D1" else train_lr
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr, betas=(0.9, 0.99))
        self.sampler = DistributedSampler(data, self.world, self.rank)
        self.loader = DataLoader(data, batch // self.world, sampler=self.sampler)

    def train(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            for (x,) in self.loader:
                loss = self.net(x)
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                self.opt.step()
                self.opt.zero_grad()
                self.ema.update(self.net if VARIANT == "F8" else getattr(self.net, "module", self.net))


if __name__ == "__main__":
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    rank = int(os.environ.get("RANK", 0))
    torch.manual_seed(0)
    theta = torch.rand(192) * 6.283
    points = torch.stack([theta.cos(), theta.sin()], 1) + 0.05 * torch.randn(192, 2)
    diffusion = GaussianDiffusion(Denoiser())
    torch.manual_seed(100 if VARIANT == "E6" else 100 + rank)
    Trainer(diffusion, TensorDataset(points)).train(2)
