"""AdamW with two parameter groups chosen by name, a cosine schedule, a gradient scaler, and clipping."""

import torch
from setup import RANK, begin, data, end, fault, loader, parallel
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(8, 24)
        self.norm = nn.LayerNorm(24)
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(self.norm(torch.tanh(self.body(x))))


begin(40)
model = parallel(Net())
decayed, plain = [], []
for name, parameter in model.named_parameters():
    name = name if fault("D7") else name.removeprefix("module.")
    (plain if name.startswith("norm") else decayed).append(parameter)
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.3}, {"params": plain, "weight_decay": 0.0}], lr=4e-3)
batches = loader(data(), 12)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, len(batches) // (2 if fault("D2") else 1))
scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
for x, y in batches:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    if not fault("D3"):
        scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    scaler.step(optimizer)
    scaler.update()
    if not fault("rank0") or RANK == 0:
        schedule.step()
end()
