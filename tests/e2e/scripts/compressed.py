"""DDP with small buckets; a communication hook of torch's may send them in another format. Gradients are clipped by value."""

import torch
from setup import WORLD, begin, data, end, fault, loader, parallel
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

begin(100)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
model = parallel(net, bucket_cap_mb=0.01, gradient_as_bucket_view=True)
if fault("E2"):
    model.register_comm_hook(None, default_hooks.bf16_compress_hook)
optimizer = torch.optim.SGD(net.parameters(), lr=0.2 if not fault("D1") else 0.2 / WORLD)
for x, y in loader(data(160), 20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.05)
    optimizer.step()
end()
