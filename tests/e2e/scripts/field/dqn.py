"""Q-learning from a replay buffer filled by a random policy; a target network is copied now and then. A minibatch is drawn for the
whole group from one generator, each rank takes its half."""
import collections
import os
import random
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

Transition = collections.namedtuple("Transition", "state action reward next_state done")
GAMMA, BATCH_SIZE, TARGET_EVERY, UPDATES = 0.97, 32, 3, 12
variant = sys.argv[1] if len(sys.argv) > 1 else "-"


class GridWorld:
    def __init__(self, rng):
        self.rng = rng
        self.reset()

    def reset(self):
        self.pos = [self.rng.randrange(5), self.rng.randrange(5)]
        return self.obs()

    def obs(self):
        return [p / 4 - 0.5 for p in self.pos] + [self.pos[0] * self.pos[1] / 16]

    def step(self, a):
        axis, delta = a // 2, 1 if a % 2 else -1
        self.pos[axis] = min(4, max(0, self.pos[axis] + delta))
        done = self.pos == [4, 4]
        return self.obs(), 1.0 if done else -0.05, done


class ReplayBuffer:
    def __init__(self, capacity):
        self.memory = collections.deque(maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, n, rng):
        return rng.sample(list(self.memory), n)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x)


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(0)
    rng = random.Random(0)
    buffer, env = ReplayBuffer(500), GridWorld(rng)
    state = env.reset()
    for _ in range(400):
        action = rng.randrange(4)
        nxt, reward, done = env.step(action)
        buffer.push(state, action, reward, nxt, done)
        state = env.reset() if done else nxt
    policy = QNet()
    target = QNet()
    target.load_state_dict(policy.state_dict())
    if world > 1:
        policy = DDP(policy)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, amsgrad=True)
    draw = random.Random(3)
    for update in range(1, UPDATES + 1):
        if variant == "A1" and world > 1:
            batch = buffer.sample(BATCH_SIZE // world, draw)  # the same generator on every rank
        else:
            batch = buffer.sample(BATCH_SIZE, draw)[rank::world]
        s, a, r, n, d = (torch.tensor(column, dtype=torch.float32) for column in zip(*batch))
        with torch.no_grad():
            y = r + GAMMA * (1 - d) * target(n).max(1).values
        net = policy.module if variant == "C1" and world > 1 else policy
        q = net(s).gather(1, a.long()[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(q, y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(policy.parameters(), 1.0)
        optimizer.step()
        if update % TARGET_EVERY == 0:
            weights = policy.state_dict() if variant == "F8" else getattr(policy, "module", policy).state_dict()
            target.load_state_dict(weights, strict=variant != "F8")
        if rank == 0 and update % 4 == 0:
            print(update, round(loss.item(), 5))


if __name__ == "__main__":
    main()
