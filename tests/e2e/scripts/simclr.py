"""NT-Xent over the global batch with a gather of its own that has a backward."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, data, end, fault, loader, parallel
from torch import nn
from torch.nn.functional import cross_entropy, normalize


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        parts = [torch.empty_like(x) for _ in range(WORLD)]
        dist.all_gather(parts, x.contiguous())
        return torch.stack(parts)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad)
        return grad[RANK]


def gathered(x):
    if WORLD == 1:
        return x[None]
    if fault("B9"):
        parts = [torch.empty_like(x) for _ in range(WORLD)]
        dist.all_gather(parts, x.detach().contiguous())
        parts[RANK] = x
        return torch.stack(parts)
    return Gather.apply(x)


begin(17)
encoder = parallel(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 12)))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.2, momentum=0.9, nesterov=True)
for x, _ in loader(data(120), 12):
    both = torch.stack([x * 0.9, x.roll(1, 1)], 1)
    z = normalize(encoder(both.flatten(0, 1)), dim=1).view(len(x), 2, -1)
    every = gathered(z).flatten(0, 1)
    # Every rank takes the loss over the rows of all ranks, so DDP's mean of W equal losses is that loss.
    a, b = every[:, 0], every[:, 1]
    logits = a @ b.T / 0.2
    target = torch.arange(len(a))
    loss = (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
end()
