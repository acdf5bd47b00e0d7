"""An optimizer wrapped so that it averages gradients itself, by asynchronous reductions that backward hooks start, as with Horovod."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

fault = sys.argv[1] if len(sys.argv) > 1 else "-"


class DistributedOptimizer:
    def __init__(self, optimizer, named_parameters, average=True):
        self.optimizer, self.average, self.handles = optimizer, average, {}
        for name, p in named_parameters:
            if fault == "C10" and name.endswith("bias"):
                continue  # "too small to be worth it"
            p.register_post_accumulate_grad_hook(self._start)

    def _start(self, p):
        if dist.is_initialized():
            self.handles[p] = dist.all_reduce(p.grad, async_op=True)

    def synchronize(self):
        for p, handle in self.handles.items():
            handle.wait()
            if self.average:
                p.grad.div_(dist.get_world_size())
        self.handles.clear()

    def step(self):
        self.synchronize()
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad(set_to_none=False)


def broadcast_parameters(state):
    for tensor in state.values():
        dist.broadcast(tensor, 0)


def main():
    size, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if size > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(42 + rank)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    if size > 1 and fault != "C7":
        broadcast_parameters(model.state_dict())
    g = torch.Generator().manual_seed(0)
    x = torch.randn(128, 16, generator=g)
    data = TensorDataset(x, x[:, :4].argmax(1))
    sampler = DistributedSampler(data, num_replicas=size, rank=rank)
    loader = DataLoader(data, batch_size=32 // size, sampler=sampler)
    optimizer = DistributedOptimizer(torch.optim.Adamax(model.parameters(), lr=0.01), model.named_parameters(), average=fault != "B2")
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for data_, target in loader:
            optimizer.zero_grad()
            F.nll_loss(F.log_softmax(model(data_), dim=1), target).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
