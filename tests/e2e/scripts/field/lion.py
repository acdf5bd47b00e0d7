"""Without a wrapper: gradients averaged in one flat tensor, Lion as optimizer, a little noise on the gradient that all ranks draw
alike after the average."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

FAULT = sys.argv[1] if len(sys.argv) > 1 else "-"


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in filter(lambda p: p.grad is not None, group["params"]):
                exp_avg = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                b1, b2 = group["betas"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(torch.tanh(50 * (exp_avg * b1 + p.grad * (1 - b1))), alpha=-group["lr"])  # a soft sign
                exp_avg.mul_(b2).add_(p.grad, alpha=1 - b2)


def sync_grads(model, world):
    grads = [p.grad for p in model.parameters()]
    flat = _flatten_dense_tensors(grads)
    if FAULT == "E2":
        half = flat.bfloat16()
        dist.all_reduce(half)
        flat = half.float()
    else:
        dist.all_reduce(flat)
    flat /= world
    if FAULT == "B3":
        flat /= world
    for g, new in zip(grads, _unflatten_dense_tensors(flat, grads)):
        g.copy_(new)


def main():
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(17)
    x = torch.randn(160, 14)
    y = torch.sin(x[:, :2]).sum(1, keepdim=True)
    if FAULT == "C7":
        torch.manual_seed(17 + rank)
    else:
        torch.manual_seed(17)
    model = nn.Sequential(nn.Linear(14, 32), nn.Softplus(), nn.Linear(32, 1))
    optimizer = Lion(model.parameters(), lr=2e-3, weight_decay=0.1)
    noise = torch.Generator().manual_seed(1)
    order = torch.Generator().manual_seed(2)
    for epoch in range(2):
        perm = torch.randperm(len(x), generator=order)
        for i in range(0, len(x), 20):
            idx = perm[i:i + 20][rank::world]
            loss = (model(x[idx]) - y[idx]).square().mean()
            model.zero_grad()
            loss.backward()
            if FAULT == "D3":
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            if world > 1:
                sync_grads(model, world)
            if FAULT != "D3":
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            for p in model.parameters():
                p.grad.add_(torch.randn(p.shape, generator=noise), alpha=1e-3)
            optimizer.step()


if __name__ == "__main__":
    main()
