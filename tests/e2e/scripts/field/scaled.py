"""Mixed precision with a scaler whose first steps overflow, two micro-batches per step, clipping by value, foreach Adam."""
import contextlib
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn

CONFIG = {
    "seed": 99,
    "global_batch": 16,
    "accumulate": 2,
    "clip_value": 0.02,
    "lr": 4e-3,
    "init_scale": 2.0**18,
}


def is_dist():
    return dist.is_available() and dist.is_initialized()


def chunks(n, size, epoch):
    """Micro-batches of this rank, as index tensors."""
    world = dist.get_world_size() if is_dist() else 1
    rank = dist.get_rank() if is_dist() else 0
    order = torch.randperm(n, generator=torch.Generator().manual_seed(epoch))
    for micro in order.split(size):
        yield micro.chunk(world)[rank]


def main(bug):
    if "WORLD_SIZE" in os.environ and int(os.environ["WORLD_SIZE"]) > 1:
        dist.init_process_group("gloo", init_method="env://")
    bug = bug if is_dist() else ""
    torch.manual_seed(CONFIG["seed"])
    g = torch.Generator().manual_seed(1)
    X = torch.randn(96, 10, generator=g)
    Y = (X[:, :2].sum(1, keepdim=True)).tanh()
    model = nn.Sequential(nn.Linear(10, 32), nn.SiLU(), nn.Linear(32, 1))
    net = nn.parallel.DistributedDataParallel(model) if is_dist() else model
    lr = CONFIG["lr"] * (dist.get_world_size() if bug == "D1" else 1)
    opt = torch.optim.Adam(net.parameters(), lr=lr, foreach=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=CONFIG["init_scale"], growth_interval=4)
    K = CONFIG["accumulate"]
    for epoch in range(3):
        for i, idx in enumerate(chunks(len(X), CONFIG["global_batch"] // K, epoch)):
            last = i % K == K - 1
            ctx = net.no_sync() if is_dist() and not (last and bug != "B8") else contextlib.nullcontext()
            with ctx:
                with torch.autocast("cpu", dtype=torch.float16):
                    out = net(X[idx])
                    loss = nn.functional.mse_loss(out.float(), Y[idx]) / K
                if bug == "B2":
                    loss = loss * dist.get_world_size()
                scaler.scale(loss).backward()
            if last:
                scaler.unscale_(opt)
                torch.nn.utils.clip_grad_value_(net.parameters(), CONFIG["clip_value"])
                scaler.step(opt)
                scaler.update()
                opt.zero_grad(set_to_none=True)
        print("epoch", epoch, "scale", scaler.get_scale(), "loss", loss.item() * K)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
