"""Gradients averaged by hand: every parameter starts an all_reduce as soon as its gradient is there, and the step waits."""
import os
import sys

import torch
import torch.distributed as dist

RANK = int(os.environ.get("RANK", "0"))
SIZE = int(os.environ.get("WORLD_SIZE", "1"))
BUG = sys.argv[1] if len(sys.argv) > 1 else ""


class Overlap:
    def __init__(self, module):
        self.pending = []
        for p in module.parameters():
            dist.broadcast(p.data, 0)
            if BUG == "C10" and p.ndim == 1:
                continue  # "too small to matter"
            p.register_post_accumulate_grad_hook(self._start)

    def _start(self, p):
        if BUG != "B2":
            p.grad.div_(SIZE)
        if BUG == "B3":
            p.grad.div_(SIZE)
        self.pending.append(dist.all_reduce(p.grad, async_op=True))

    def wait(self):
        for work in self.pending:
            work.wait()
        self.pending.clear()


class Net(torch.nn.Module):
    def __init__(self, d=10):
        super().__init__()
        self.inp = torch.nn.Linear(d, 24)
        self.norm = torch.nn.LayerNorm(24)
        self.out = torch.nn.Linear(24, 5)

    def forward(self, x):
        return self.out(torch.relu(self.norm(self.inp(x))))


def batches(x, y, size):
    per = size // SIZE
    for i in range(0, len(x), size):
        a = i + RANK * per
        yield x[a : a + per], y[a : a + per]


if SIZE > 1:
    dist.init_process_group("gloo")
torch.manual_seed(123)
gen = torch.Generator().manual_seed(9)
x, y = torch.randn(160, 10, generator=gen), torch.randint(0, 5, (160,), generator=gen)
net = Net()
sync = Overlap(net) if SIZE > 1 else None
opt = torch.optim.AdamW(net.parameters(), lr=5e-3, foreach=True)
for xb, yb in batches(x, y, 16):
    opt.zero_grad(set_to_none=True)
    loss = torch.nn.functional.cross_entropy(net(xb), yb)
    loss.backward()
    if sync:
        sync.wait()
    opt.step()
    print(f"{loss.item():.4f}")
