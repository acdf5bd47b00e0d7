"""A Wasserstein GAN: two critic steps for each step of the generator, weights of the critic clamped."""

import torch
from setup import WORLD, begin, data, end, fault, loader, parallel
from torch import nn

begin(21)
noise = torch.randn(160, 2, 5, generator=torch.Generator().manual_seed(6))
samples = torch.utils.data.TensorDataset(data(160).tensors[0], noise)
make = parallel(nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 8)))
rate = parallel(nn.Sequential(nn.Linear(8, 20), nn.Softplus(), nn.Linear(20, 1)))
of_make = torch.optim.RMSprop(make.parameters(), lr=2e-3)
of_rate = torch.optim.RMSprop(rate.parameters(), lr=1e-3 * (WORLD if fault("D1") else 1))
for turn, (real, z) in enumerate(loader(samples, 16)):
    with torch.no_grad():
        fake = make(z[:, 0])
    of_rate.zero_grad()
    scores = rate(torch.cat([fake, real]))
    loss = scores[: len(fake)].mean() - scores[len(fake) :].mean()
    if fault("B3"):
        loss = loss / WORLD
    loss.backward()
    of_rate.step()
    with torch.no_grad():
        for p in rate.parameters():
            p.clamp_(-0.3, 0.3)
    if turn % 2:
        of_make.zero_grad()
        for p in rate.parameters():
            p.requires_grad_(False)
        (-rate.module(make(z[:, 1])) if WORLD > 1 else -rate(make(z[:, 1]))).mean().backward()
        for p in rate.parameters():
            p.requires_grad_(True)
        of_make.step()
end()
