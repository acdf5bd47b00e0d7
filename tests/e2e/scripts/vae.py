"""A variational autoencoder: noise in every forward pass, from the default generator."""

import torch
from setup import RANK, begin, data, end, fault, loader, parallel
from torch import nn


class Vae(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(8, 6)
        self.decode = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 8))

    def forward(self, x):
        mean, spread = self.encode(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * torch.exp(spread / 2)
        divergence = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(1).mean()
        return nn.functional.mse_loss(self.decode(z), x) + 0.01 * divergence


begin(50)
model = parallel(Vae())
torch.manual_seed(50 if fault("E6") else 1000 + RANK)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for x, _ in loader(data(112), 16):
    optimizer.zero_grad()
    model(x).backward()
    optimizer.step()
end()
