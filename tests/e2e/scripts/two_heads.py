"""Two tasks with a head each; every batch belongs to one of them, so the other head has no gradient."""

import torch
from setup import RANK, WORLD, begin, data, end, fault, loader, parallel
from torch import nn
from torch.optim import lr_scheduler


class Heads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 16), nn.SELU())
        self.heads = nn.ModuleList([nn.Linear(16, 3), nn.Linear(16, 2)])

    def forward(self, x, task: int):
        return self.heads[task](self.trunk(x))


begin(61)
x, y = data(144).tensors
samples = torch.utils.data.TensorDataset(x, y, (x[:, 0] > 0).long())
model = parallel(Heads(), find_unused_parameters=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.5)
schedule = lr_scheduler.MultiStepLR(optimizer, [3, 6], 0.3)
for number, (features, first, second) in enumerate(loader(samples, 16)):
    task = number % 2
    label = (first, second)[task]
    out = model(features, task)
    weight = WORLD if fault("B2") and task == 1 else 1
    loss = weight * nn.functional.cross_entropy(out, label)
    model.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    for _ in range(WORLD if fault("D2") else 1):
        schedule.step()
end()
