"""The workloads as a PyTorch user writes them: model, data set and loss. Must stay free of any code of ours."""
import math
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


class GptBlock(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.ln1, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.proj, self.ln2 = nn.Linear(width, width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.p = p

    def forward(self, x, mask):
        n, t, c = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(n, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(c // 4)
        scores = F.softmax(scores.masked_fill(mask, float("-inf")), -1)
        y = torch.matmul(F.dropout(scores, self.p, self.training), v).transpose(1, 2).reshape(n, t, c)
        x = x + F.dropout(self.proj(y), self.p, self.training)
        return x + F.dropout(self.down(F.gelu(self.up(self.ln2(x)))), self.p, self.training)


class CharGpt(nn.Module):
    def __init__(self, config, vocabulary):
        super().__init__()
        self.p = config["dropout"] if config.get("dropout", -1) >= 0 else 0.1
        self.tok, self.pos = nn.Embedding(vocabulary, 48), nn.Embedding(32, 48)
        self.block0, self.block1 = GptBlock(48, self.p), GptBlock(48, self.p)
        self.ln = nn.LayerNorm(48)
        if option(config, "unused_layer"):
            self.unused = nn.Linear(3, 3)
        self.mask = torch.ones(32, 32, dtype=torch.bool).triu(1)

    def forward(self, x):
        x = F.dropout(self.tok(x) + self.pos(torch.arange(32)), self.p, self.training)
        x = self.block1(self.block0(x, self.mask), self.mask)
        return F.linear(self.ln(x), self.tok.weight).flatten(0, 1)


def text_data(config):
    text = open(os.path.join(ROOT, "LICENSE"), "rb").read()
    number = {c: i for i, c in enumerate(sorted(set(text)))}
    tokens = torch.tensor([number[c] for c in text])
    n = (len(text) - 33) // 24
    x = torch.stack([tokens[i * 24 : i * 24 + 32] for i in range(n)])
    y = torch.stack([tokens[i * 24 + 1 : i * 24 + 33] for i in range(n)])
    if option(config, "ragged"):
        for i in range(n):
            y[i, 4 + i * 7919 % 29 :] = -100
    return x, y, len(number)


def toy_data():
    labels = torch.arange(1000) % 10
    return labels.float()[:, None] * torch.ones(1000, 128), labels


def digits_data():
    table = np.fromfile(os.path.join(ROOT, "resources/data/digits.bin"), np.uint8).reshape(-1, 65)
    pixels = torch.from_numpy(table[:, :64].astype(np.float32)).reshape(-1, 1, 8, 8) / 16
    return pixels, torch.from_numpy(table[:, 64].astype(np.int64))


def evaluation(config):
    """-> data set of (input, target): what no training step uses"""
    if config["workload"] == "toy-mlp":
        labels = torch.arange(1000, 1211) % 10
        return TensorDataset(labels.float()[:, None] * torch.ones(211, 128), labels)
    if config["workload"] == "digits-cnn":  # every fifth digit, moved one pixel to the right
        pixels, labels = (t[::5][:359] for t in digits_data())
        return TensorDataset(F.pad(pixels, (1, 0))[..., :8].contiguous(), labels)
    text = open(os.path.join(ROOT, "LICENSE"), "rb").read()
    number = {c: i for i, c in enumerate(sorted(set(text)))}
    tokens = torch.tensor([number[c] for c in text])
    starts = [12 + i * 14 * 24 for i in range(101)]
    x, y = torch.stack([tokens[s : s + 32] for s in starts]), torch.stack([tokens[s + 1 : s + 33] for s in starts])
    if option(config, "ragged"):
        for i in range(101):
            y[i, 4 + i * 7919 % 29 :] = -100
    return TensorDataset(x, y)


def build(config):
    """-> model, data set of (input, target, id)"""
    if config["workload"] == "char-gpt":
        x, y, vocabulary = text_data(config)
        model = CharGpt(config, vocabulary)
    else:
        make, data = {"toy-mlp": (toy_mlp, toy_data), "digits-cnn": (DigitsCnn, digits_data)}[config["workload"]]
        x, y = data()
        model = make(config)
    return model, TensorDataset(x, y, torch.arange(len(x)))


def tokens(config, target):
    return int((target != -100).sum()) if config["workload"] == "char-gpt" else 0


def loss_of(config, output, target):
    """Mean over samples; for char-gpt the sum over tokens, which the loop divides by the tokens of all ranks."""
    if config["workload"] == "char-gpt":
        return F.cross_entropy(output, target.flatten(), reduction="sum")
    return F.cross_entropy(output, target)
