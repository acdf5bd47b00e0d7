"""Two micro-batches per optimizer step, with no_sync for the first of them."""

import contextlib

import torch
from setup import begin, data, end, fault, loader, parallel
from torch import nn

begin()
samples = data()
model = parallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for i, (features, label) in enumerate(loader(samples, 8)):
    last = i % 2 == 1
    parallel_model = hasattr(model, "no_sync")
    hold = model.no_sync() if parallel_model and (not last or fault("B8")) else contextlib.nullcontext()
    if parallel_model and fault("B7"):  # the flag is set after the forward pass, which has looked at it already
        hold = contextlib.nullcontext()
    with hold:
        loss = nn.functional.cross_entropy(model(features), label)
        if parallel_model and fault("B7"):
            model.require_backward_grad_sync = last
        (loss if fault("B6") else loss / 2).backward()
    if last:
        optimizer.step()
        optimizer.zero_grad()
end()
