"""Fine-tuning: the backbone is frozen for four steps, then trained as well; an adapter beside it from the start."""

import torch
from setup import begin, data, end, fault, loader, parallel
from torch import nn

begin()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
        self.adapter = nn.Linear(16, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        x = self.backbone(x)
        return self.head(x + self.adapter(x))


bare = Model()
for p in bare.backbone.parameters():
    p.requires_grad = False
outside = nn.Linear(16, 16) if fault("C10") else None
if outside:
    outside.load_state_dict(bare.adapter.state_dict())
    del bare.adapter
    bare.adapter = nn.Identity()
model = parallel(bare, find_unused_parameters=fault("C3"))
if outside:
    bare.adapter = outside
if fault("C3"):
    bare.head.weight = nn.Parameter(bare.head.weight.detach().clone())
optimizer = torch.optim.SGD(bare.parameters(), lr=0.1)
for step, (features, label) in enumerate(loader(data(), 12)):
    if step == 4:
        for p in bare.backbone.parameters():
            p.requires_grad = True
        if not fault("C4"):
            model = parallel(bare)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(features), label).backward()
    optimizer.step()
end()
