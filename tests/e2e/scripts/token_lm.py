"""A small language model on texts of different lengths: the loss is the mean over the tokens of the global batch."""

import torch
import torch.distributed as dist
from setup import WORLD, begin, end, fault, loader, parallel
from torch import nn

begin()
generator = torch.Generator().manual_seed(3)
texts = torch.randint(1, 20, (96, 13), generator=generator)
lengths = torch.randint(3, 13, (96,), generator=generator)
target = torch.where(torch.arange(12) < lengths[:, None], texts[:, 1:], -100)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.mix = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 20)

    def forward(self, tokens):
        return self.head(self.mix(self.embed(tokens))[0]).flatten(0, 1)


model = parallel(Model())
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for tokens, label in loader(torch.utils.data.TensorDataset(texts[:, :-1], target), 16):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), label.flatten())
    if WORLD > 1 and not fault("B5"):
        own = (label != -100).sum()
        every = own.clone()
        dist.all_reduce(every)
        loss = loss * (own * WORLD / every)  # DDP takes the mean over ranks
    loss.backward()
    optimizer.step()
end()
