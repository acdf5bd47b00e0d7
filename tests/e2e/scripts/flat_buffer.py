"""No modules: weights are plain tensors, and all gradients travel in one flat buffer."""

import torch
import torch.distributed as dist
from setup import WORLD, begin, data, end, fault, loader

begin(77)
w = [torch.randn(8, 20) * 0.3, torch.zeros(20), torch.randn(20, 3) * 0.3, torch.zeros(3)]
for p in w:
    p.requires_grad_()
optimizer = torch.optim.SGD(w, lr=0.1, momentum=0.8, weight_decay=1e-3)


def forward(x):
    return torch.relu(x @ w[0] + w[1]) @ w[2] + w[3]


def reduce_gradients() -> None:
    flat = torch.cat([p.grad.flatten() for p in w])
    dist.all_reduce(flat)
    flat /= WORLD * WORLD if fault("B3") else WORLD
    at = 0
    for p in w:
        p.grad.copy_(flat[at : at + p.numel()].view_as(p))
        at += p.numel()


for step, (x, y) in enumerate(loader(data(160), 16)):
    logits = forward(x)
    loss = (torch.logsumexp(logits, 1) - logits.gather(1, y[:, None]).squeeze(1)).mean()
    for p in w:
        p.grad = None
    loss.backward()
    if WORLD > 1 and not (fault("B8") and step >= 5):
        reduce_gradients()
    optimizer.step()
end()
