"""Two models and two optimizers in turn."""

import torch
from setup import WORLD, begin, data, end, fault, loader, parallel
from torch import nn

begin()
made_from = torch.randn(96, 4, generator=torch.Generator().manual_seed(4))
samples = torch.utils.data.TensorDataset(data().tensors[0], made_from)
generator = parallel(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8)))
critic = parallel(nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)))
of_generator = torch.optim.SGD(generator.parameters(), lr=0.02 * (WORLD if fault("D1") else 1))
of_critic = torch.optim.SGD(critic.parameters(), lr=0.02)
for real, noise in loader(samples, 16):
    made = generator(noise)
    of_critic.zero_grad()
    judged = critic(torch.cat([real, made.detach()]))
    label = torch.cat([torch.ones(len(real), 1), torch.zeros(len(made), 1)])
    nn.functional.binary_cross_entropy_with_logits(judged, label).backward()
    of_critic.step()
    of_generator.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(critic(made), torch.ones(len(made), 1))
    (loss * WORLD if fault("B2") else loss).backward()
    of_generator.step()
end()
