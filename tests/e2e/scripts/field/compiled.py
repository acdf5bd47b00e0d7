"""A compiled model under DDP that starts from weights a compiled run has saved; distils from them for a while."""
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "-"


def mlp():
    return nn.Sequential(nn.Linear(10, 32), nn.GELU(), nn.Linear(32, 5))


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(50)
    teacher = torch.compile(mlp(), backend="aot_eager")
    with tempfile.NamedTemporaryFile(suffix=".pth") as f:
        torch.save(teacher.state_dict(), f.name)
        state = torch.load(f.name)
    torch.manual_seed(1)
    student = mlp()
    if VARIANT == "F1":
        student.load_state_dict(state, strict=False)
    else:
        student.load_state_dict({k.replace("_orig_mod.", ""): v for k, v in state.items()})
    with torch.no_grad():
        student[2].weight.mul_(0.5)
    student = torch.compile(student, backend="aot_eager")
    if world > 1:
        student = nn.parallel.DistributedDataParallel(student)
    teacher.eval()
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    g = torch.Generator().manual_seed(0)
    x = torch.randn(96, 10, generator=g)
    data = TensorDataset(x, x[:, :5].argmax(1))
    sampler = DistributedSampler(data, world, rank)
    loader = DataLoader(data, 12 // world, sampler=sampler)
    T = 2.0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            with torch.no_grad():
                soft = teacher(xb)
            out = student(xb)
            kd = F.kl_div(F.log_softmax(out / T, 1), F.log_softmax(soft / T, 1), reduction="batchmean", log_target=True) * T * T
            loss = 0.5 * kd + 0.5 * F.cross_entropy(out, yb)
            if VARIANT == "B2":
                loss = loss * world
            opt.zero_grad()
            loss.backward()
            opt.step()


if __name__ == "__main__":
    main()
