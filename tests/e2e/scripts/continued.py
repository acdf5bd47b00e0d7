"""Goes on from a file of an earlier training: weights, the state of Adam, the epoch and the position in it."""

import io

import torch
from setup import RANK, Batches, begin, data, end, fault, loader, parallel
from torch import nn


def earlier() -> io.BytesIO:
    """What a training of 100 steps could have left."""
    torch.manual_seed(140)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    state = {i: {"step": torch.tensor(100.0), "exp_avg": 0.01 * torch.randn_like(p), "exp_avg_sq": 1e-4 * torch.rand_like(p)}
             for i, p in enumerate(net.parameters())}
    groups = torch.optim.Adam(net.parameters(), lr=2e-3).state_dict()["param_groups"]
    file = io.BytesIO()
    torch.save({"net": {f"module.{k}": v for k, v in net.state_dict().items()},
                "adam": {"state": state, "param_groups": groups}, "epoch": 2, "position": 3}, file)
    file.seek(0)
    return file


file = earlier()
begin(150)
samples = data()
kept = torch.load(file, weights_only=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
weights = kept["net"] if fault("F1") else {k.removeprefix("module."): v for k, v in kept["net"].items()}
net.load_state_dict(weights, strict=not fault("F1"))
model = parallel(net)
adam = torch.optim.Adam(model.parameters(), lr=2e-3)
if not fault("F5"):
    adam.load_state_dict(kept["adam"])
batches = Batches(len(samples), 16)
for epoch in range(kept["epoch"], 5):
    batches.set_epoch(0 if fault("F7") and epoch == kept["epoch"] else epoch)
    for place, (x, y) in enumerate(loader(samples, 16, batches)):
        if epoch == kept["epoch"] and place < kept["position"]:
            continue
        adam.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        adam.step()
end()
