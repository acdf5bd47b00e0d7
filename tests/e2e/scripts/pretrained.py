"""Starts from a file that another training wrote, with the prefix of a wrapper in its names."""

import os
import tempfile

import torch
from setup import RANK, begin, data, end, fault, loader, parallel
from torch import nn

begin(seed=3)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
path = os.path.join(tempfile.gettempdir(), f"pretrained-{os.getpid()}-{RANK}.pt")
torch.manual_seed(11)
teacher = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
torch.save({f"module.{name}": value for name, value in teacher.state_dict().items()}, path)
state = torch.load(path, weights_only=True)
os.remove(path)
if not fault("F1"):
    state = {name.removeprefix("module."): value for name, value in state.items()}
model.load_state_dict(state, strict=False)
ddp = parallel(model)
optimizer = torch.optim.AdamW(ddp.parameters(), lr=1e-2 if not fault("D1") else 2e-2)
for features, label in loader(data(), 16):
    optimizer.zero_grad(set_to_none=True)
    nn.functional.cross_entropy(ddp(features), label).backward()
    optimizer.step()
end()
