"""L-BFGS with a closure that is called several times in one step."""

import torch
from setup import WORLD, begin, data, end, fault, loader, parallel
from torch import nn

begin(13)
model = parallel(nn.Sequential(nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3)))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1 * (WORLD if fault("D1") else 1), max_iter=2, history_size=3)
for x, y in loader(data(240), 24 if not fault("A9") else 24 * WORLD):

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)
end()
