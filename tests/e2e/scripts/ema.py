"""An exponential moving average of the weights beside the training, kept by name."""

import copy

import torch
from setup import WORLD, begin, data, end, fault, loader, parallel
from torch import nn

begin()
bare = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
model = parallel(bare)
average = copy.deepcopy(bare).requires_grad_(False)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3 * (WORLD if fault("D1") else 1))
for features, label in loader(data(), 16):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(features), label).backward()
    optimizer.step()
    with torch.no_grad():
        current = dict((model if fault("F8") else bare).named_parameters())
        for name, kept in average.named_parameters():
            if name in current:
                kept.lerp_(current[name], 0.1)
end()
