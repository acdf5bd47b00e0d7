"""The model and the data of both variants: a 128-64-10 network on 1,000 samples whose features tell the label."""

import torch
from torch import nn
from torch.utils.data import TensorDataset

EPOCHS = 2
BATCH = 32


def make_data() -> TensorDataset:
    label = torch.arange(1000) % 10
    return TensorDataset(torch.ones(1000, 128) * label[:, None], label)


def make_model() -> nn.Module:
    return nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def accuracy(model: nn.Module, data: TensorDataset) -> float:
    features, label = data.tensors
    with torch.no_grad():
        return float((model(features).argmax(1) == label).float().mean())
