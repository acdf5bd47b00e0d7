"""A Wasserstein GAN with gradient penalty: two models, two optimizers, a second derivative, two steps of the critic per step of
the generator. Noise is drawn for the whole batch, and every rank takes its part."""
import os
import sys

import torch
import torch.distributed as dist
from torch import autograd, nn, optim
from torch.nn.parallel import DistributedDataParallel

variant = (sys.argv + ["-"])[1]
RANK, WORLD = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
BATCH, Z, LAMBDA, CRITIC_ITERS, ITERS = 32, 6, 10, 2, 8
local = BATCH // WORLD


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(Z, 32), nn.ReLU(True), nn.Linear(32, 32), nn.ReLU(True), nn.Linear(32, 2))

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.main(x).view(-1)


def calc_gradient_penalty(netD, real, fake, alpha):
    interpolates = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = netD(interpolates)
    grad = autograd.grad(out, interpolates, torch.ones_like(out), create_graph=True, retain_graph=True, only_inputs=True)[0]
    return ((grad.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


if WORLD > 1:
    dist.init_process_group("gloo")
torch.manual_seed(1)
netG, netD = Generator(), Discriminator()
if WORLD > 1:
    netG = DistributedDataParallel(netG, broadcast_buffers=False)
    netD = DistributedDataParallel(netD, broadcast_buffers=False)
lr_d = 1e-3 * (WORLD if variant == "D1" else 1)
optimizerD = optim.Adam(netD.parameters(), lr=lr_d, betas=(0.5, 0.9))
optimizerG = optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))
rng = torch.Generator().manual_seed(99)
mine = slice(RANK * local, (RANK + 1) * local)


def noise(*shape):
    if variant == "E6":
        return torch.randn(local, *shape)  # every rank was seeded alike above
    return torch.randn(BATCH, *shape, generator=rng)[mine]


def inf_train_gen():
    g = torch.Generator().manual_seed(5)
    centers = torch.tensor([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    while True:
        yield (centers[torch.randint(4, (BATCH,), generator=g)] + 0.05 * torch.randn(BATCH, 2, generator=g))[mine]


data = inf_train_gen()
for iteration in range(ITERS):
    for p in netD.parameters():
        p.requires_grad = True
    for _ in range(CRITIC_ITERS):
        real = next(data)
        with torch.no_grad():
            fake = netG(noise(Z))
        alpha = torch.rand(BATCH, 1, generator=rng)[mine]
        netD.zero_grad()
        penalised = netD.module if variant == "C1" and WORLD > 1 else netD
        cost = penalised(fake).mean() - penalised(real).mean() + calc_gradient_penalty(penalised, real, fake, alpha)
        cost.backward()
        optimizerD.step()
    for p in netD.parameters():
        p.requires_grad = False  # to avoid computation
    netG.zero_grad()
    g_cost = -(netD.module if WORLD > 1 else netD)(netG(noise(Z))).mean()
    g_cost.backward()
    optimizerG.step()
    if RANK == 0:
        print(f"iter {iteration}: critic {cost.item():.3f} generator {g_cost.item():.3f}")
