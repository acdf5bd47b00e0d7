"""fp16-style training without autocast: a scaler, accumulation over three micro-batches and clipping after unscaling."""

import contextlib

import torch
from setup import WORLD, begin, data, end, fault, loader, parallel
from torch import nn

begin(120)
net = nn.Sequential(nn.Linear(8, 18), nn.GELU(), nn.Linear(18, 3))
model = parallel(net)
optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=3)
for i, (x, y) in enumerate(loader(data(180), 10)):
    last = i % 3 == 2
    hold = contextlib.nullcontext() if last and not fault("B8") or WORLD == 1 else model.no_sync()
    with hold:
        loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss if fault("B6") else loss / 3).backward()
    if last:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
end()
