"""A transformer with tied embeddings; tokens of all ranks and micro-batches make one mean; no decay on vectors."""

import torch
import torch.distributed as dist
from setup import RANK, WORLD, begin, end, fault, loader, parallel
from torch import nn

VOCABULARY, LENGTH, MICRO = 24, 10, 2


class Gpt(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, width)
        self.wpe = nn.Parameter(0.02 * torch.randn(LENGTH, width))
        self.block = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.wte.weight
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH), persistent=False)

    def forward(self, tokens, target):
        hidden = self.block(self.wte(tokens) + self.wpe, src_mask=self.mask)
        return nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), target.flatten(), reduction="sum", ignore_index=0)


begin(9)
g = torch.Generator().manual_seed(12)
text = torch.randint(1, VOCABULARY, (128, LENGTH + 1), generator=g)
text[torch.arange(LENGTH + 1) > torch.randint(2, LENGTH + 1, (128, 1), generator=g)] = 0
bare = Gpt()
model = parallel(bare)
vectors = [p for p in bare.parameters() if p.dim() < 2]
matrices = [p for p in bare.parameters() if p.dim() > 1]
groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.1 if fault("D7") else 0.0}]
optimizer = torch.optim.AdamW(groups, lr=3e-3, weight_decay=0.1)
held = []
for batch in loader(torch.utils.data.TensorDataset(text[:, :-1], text[:, 1:]), 8):
    held.append(batch)
    if len(held) < MICRO:
        continue
    count = sum((target != 0).sum() for _, target in held).float()
    if WORLD > 1 and not fault("B5"):
        dist.all_reduce(count)
        count /= WORLD
    for i, (tokens, target) in enumerate(held):
        if WORLD > 1:
            model.require_backward_grad_sync = i == MICRO - 1
        (model(tokens, target) / count).backward()
    optimizer.step()
    optimizer.zero_grad()
    held = []
end()
