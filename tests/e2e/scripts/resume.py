"""Trains, saves, loads into new objects and goes on, all in one process."""

import io

import torch
from setup import begin, data, end, fault, loader, parallel
from torch import nn


def make():
    model = parallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
    return model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def train(model, optimizer, batches) -> None:
    for features, label in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(features), label).backward()
        optimizer.step()


begin()
samples = data()
model, optimizer = make()
train(model, optimizer, loader(samples, 16))
file = io.BytesIO()
bare = model.module if hasattr(model, "module") else model
torch.save({"model": bare.state_dict(), "optimizer": optimizer.state_dict()}, file)
file.seek(0)
state = torch.load(file, weights_only=True)
bare.load_state_dict(state["model"])
if fault("F5"):
    optimizer.state.clear()  # the script makes a new optimizer and does not load its state
else:
    optimizer.load_state_dict(state["optimizer"])
train(model, optimizer, loader(samples, 16))
end()
