"""The workloads as a PyTorch user writes them: model, data set and loss. Must stay free of any code of ours."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4))


def option(config, name):
    return config.get("workload_options", {}).get(name) == "1"


def toy_mlp(config):
    if option(config, "unused_layer"):
        return ToyWithUnused()
    return nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


class ToyWithUnused(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
        self.unused = nn.Linear(3, 3)

    def forward(self, x):
        return self[2](self[1](self[0](x)))


class DigitsCnn(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.bn2 = nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.fc1, self.fc2 = nn.Linear(512, 64), nn.Linear(64, 10)
        if option(config, "unused_layer"):
            self.unused = nn.Linear(3, 3)
        self.p = config["dropout"] if config.get("dropout", -1) >= 0 else 0.25

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = F.dropout(torch.flatten(x, 1), self.p, self.training)
        x = F.dropout(F.relu(self.fc1(x)), self.p, self.training)
        return self.fc2(x)


def toy_data():
    labels = torch.arange(1000) % 10
    return labels.float()[:, None] * torch.ones(1000, 128), labels


def digits_data():
    table = np.fromfile(os.path.join(ROOT, "resources/data/digits.bin"), np.uint8).reshape(-1, 65)
    pixels = torch.from_numpy(table[:, :64].astype(np.float32)).reshape(-1, 1, 8, 8) / 16
    return pixels, torch.from_numpy(table[:, 64].astype(np.int64))


def build(config):
    """-> model, data set of (input, target, id)"""
    model, data = {"toy-mlp": (toy_mlp, toy_data), "digits-cnn": (DigitsCnn, digits_data)}[config["workload"]]
    x, y = data()
    return model(config), TensorDataset(x, y, torch.arange(len(x)))


def loss_of(config, output, target):
    return F.cross_entropy(output, target)
