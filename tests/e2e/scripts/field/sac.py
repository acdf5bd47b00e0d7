"""Soft actor critic: an actor, twin critics with targets that follow them, a learned temperature; three optimizers. Noise is drawn
for the whole batch and cut."""
import copy
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

variant = sys.argv[1] if len(sys.argv) > 1 else "-"
world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
B, OBS, ACT, TAU, GAMMA = 32, 5, 2, 0.05, 0.9


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, o))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp(OBS, 2 * ACT)

    def forward(self, obs, eps):
        mean, log_std = self.body(obs).chunk(2, -1)
        std = log_std.clamp(-5, 1).exp()
        pre = mean + std * eps
        logp = (-0.5 * eps**2 - std.log()).sum(-1) - (2 * (0.693 - pre - F.softplus(-2 * pre))).sum(-1)
        return pre.tanh(), logp


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1, self.q2 = mlp(OBS + ACT, 1), mlp(OBS + ACT, 1)

    def forward(self, obs, act):
        x = torch.cat([obs, act], -1)
        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)


class Temperature(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_alpha = nn.Parameter(torch.zeros(()))

    def forward(self, logp):
        return -(self.log_alpha * (logp + ACT).detach()).mean()


def soft_update(target, source):
    for t, s in zip(target.parameters(), source.parameters()):
        t.data.lerp_(s.data, TAU)


if world > 1:
    dist.init_process_group("gloo")
torch.manual_seed(12)
actor, critic, temperature = Actor(), Twin(), Temperature()
target = copy.deepcopy(critic).requires_grad_(False)
behaviour = copy.deepcopy(critic)
temp_module = temperature
if world > 1:
    actor, critic = DDP(actor), DDP(critic)
    if variant != "C10":
        temperature = DDP(temperature)
lr = 3e-3 * (world if variant == "D1" else 1)
opt_a, opt_c, opt_t = (torch.optim.Adam(m.parameters(), lr=lr) for m in (actor, critic, temperature))
g = torch.Generator().manual_seed(3)
cut = slice(rank * B // world, (rank + 1) * B // world)


def draw(*shape):
    return torch.randn(B, *shape, generator=g)[cut]


for step in range(10):
    obs, act, nxt = draw(OBS), draw(ACT).tanh(), draw(OBS)
    rew = obs[:, 0] * act[:, 0]
    alpha = temp_module.log_alpha.exp().detach()
    with torch.no_grad():
        na, nlogp = actor(nxt, draw(ACT))
        q = torch.min(*target(nxt, na)) - alpha * nlogp
        y = rew + GAMMA * q
    q1, q2 = critic(obs, act)
    loss_c = F.mse_loss(q1, y) + F.mse_loss(q2, y)
    opt_c.zero_grad()
    (loss_c * world if variant == "B2" else loss_c).backward()
    opt_c.step()
    pi, logp = actor(obs, draw(ACT))
    frozen = critic.module if world > 1 else critic
    frozen.requires_grad_(False)
    loss_a = (alpha * logp - torch.min(*frozen(obs, pi))).mean()
    opt_a.zero_grad()
    loss_a.backward()
    opt_a.step()
    frozen.requires_grad_(True)
    opt_t.zero_grad()
    temperature(logp).backward()
    opt_t.step()
    soft_update(target, behaviour if variant == "F8" and world > 1 else frozen)
