"""A student learns from a frozen teacher of the same shape; the teacher never changes, and that is right."""

import copy

import torch
from setup import WORLD, begin, data, end, fault, loader, parallel
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(8, 24), nn.Linear(24, 24), nn.Linear(24, 3)

    def forward(self, x):
        return self.c(torch.tanh(self.b(torch.relu(self.a(x)))))


begin(31)
student = Net()
teacher = copy.deepcopy(student).eval().requires_grad_(False)
with torch.no_grad():
    for p in teacher.parameters():
        p.mul_(1.5)
ddp = parallel(student)
optimizer = torch.optim.NAdam(student.parameters(), lr=3e-3)
for step, (x, y) in enumerate(loader(data(128), 16)):
    forward = student if fault("C1") and step >= 2 else ddp
    out = forward(x)
    soft = nn.functional.kl_div(out.log_softmax(1), teacher(x).softmax(1), reduction="batchmean")
    hard = nn.functional.cross_entropy(out, y)
    loss = 0.7 * soft + 0.3 * hard
    if fault("B1"):
        loss = loss * len(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
end()
