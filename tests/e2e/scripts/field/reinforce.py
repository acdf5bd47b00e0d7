"""REINFORCE with a value baseline on a toy world: rollouts instead of a data set, each rank plays its share of the episodes."""
import os
import sys

import torch
from torch import nn, optim
from torch.distributions import Categorical

world = int(os.environ.get("WORLD_SIZE", 1))
rank = int(os.environ.get("RANK", 0))
bug = sys.argv[1] if len(sys.argv) > 1 and world > 1 else "none"
EPISODES, HORIZON, GAMMA = 16, 8, 0.95


class Walk:
    """Walks on a line and is paid for being near the middle."""

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.pos = torch.randint(-5, 6, (1,), generator=self.g).float()

    def obs(self):
        return torch.cat([self.pos / 5, self.pos.abs() / 5, torch.ones(1)])

    def step(self, action):
        self.pos = (self.pos + (action - 1) + 0.1 * torch.randn(1, generator=self.g)).clamp(-6, 6)
        return -self.pos.abs().item() / 5


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.Tanh())
        self.pi, self.v = nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h), self.v(h).squeeze(-1)


@torch.no_grad()
def rollout(policy, seeds):
    obs, acts, rets = [], [], []
    for seed in seeds:
        env, rewards = Walk(seed), []
        for _ in range(HORIZON):
            o = env.obs()
            probs = policy(o)[0].softmax(-1)
            a = int(torch.multinomial(probs, 1, generator=env.g))
            obs.append(o)
            acts.append(a)
            rewards.append(env.step(a))
        R, back = 0.0, []
        for r in reversed(rewards):
            R = r + GAMMA * R
            back.append(R)
        rets += back[::-1]
    return torch.stack(obs), torch.tensor(acts), torch.tensor(rets)


if world > 1:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(21)
net = ActorCritic()
agent = nn.parallel.DistributedDataParallel(net) if world > 1 else net
opt = optim.RMSprop(agent.parameters(), lr=2e-3)
share = EPISODES // world
for it in range(8):
    first = it * EPISODES + (0 if bug == "E6" else rank * share)
    obs, acts, rets = rollout(net, range(first, first + share))
    logits, value = agent(obs)
    advantage = rets - value.detach()
    policy_loss = -(Categorical(logits=logits).log_prob(acts) * advantage)
    value_loss = 0.5 * (value - rets).pow(2)
    loss = policy_loss.sum() + value_loss.sum() if bug == "B1" else policy_loss.mean() + value_loss.mean()
    opt.zero_grad()
    (loss * world if bug == "B2" else loss).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    print(f"it {it} return {rets.mean():.3f} loss {loss.item():.4f}")
