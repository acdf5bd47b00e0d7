"""Layer-wise trust ratios (LARS) and polynomial decay with a large batch, norms computed by the script itself."""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class LARS(Optimizer):
    def __init__(self, params, lr, momentum=0.9, weight_decay=1e-4, eta=0.02, eps=1e-8):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, eta=eta, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                d = p.grad
                if p.ndim > 1:
                    d = d.add(p, alpha=group["weight_decay"])
                    w_norm, g_norm = p.norm(), d.norm()
                    trust = torch.where((w_norm > 0) & (g_norm > 0), group["eta"] * w_norm / (g_norm + group["eps"]), torch.ones(()))
                    d = d * trust
                state = self.state[p]
                if "mu" not in state:
                    state["mu"] = torch.zeros_like(p)
                state["mu"].mul_(group["momentum"]).add_(d)
                p.add_(state["mu"], alpha=-group["lr"])


def clip(parameters, max_norm, everywhere):
    grads = [p.grad for p in parameters if p.grad is not None]
    total = torch.stack([g.pow(2).sum() for g in grads]).sum()
    if everywhere:
        dist.all_reduce(total)
    total = total.sqrt()
    if total > max_norm:
        for g in grads:
            g.mul_(max_norm / (total + 1e-6))
    return total


def main(opt):
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(opt.seed)
    x = torch.randn(256, 20)
    data = TensorDataset(x, (x @ torch.randn(20, 7)).argmax(1))
    net = nn.Sequential(nn.Linear(20, 64), nn.ELU(), nn.Linear(64, 7))
    if world > 1:
        net = DistributedDataParallel(net, gradient_as_bucket_view=True)
    base_lr = opt.lr * (world if opt.variant == "D1" else 1)
    optimizer = LARS(net.parameters(), lr=base_lr)
    sampler = DistributedSampler(data, world, rank)
    loader = DataLoader(data, opt.batch // world, sampler=sampler)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=len(loader) * 3, power=2.0)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(xb), yb).backward()
            clip(net.parameters(), 0.15, world > 1 and opt.variant == "D5")
            optimizer.step()
            scheduler.step()
            if opt.variant == "D2":
                for _ in range(world - 1):
                    scheduler.step()  # the schedule was counted in steps of one process


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("variant", nargs="?", default="-")
    p.add_argument("--lr", type=float, default=1.0)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--seed", type=int, default=9)
    main(p.parse_args())
