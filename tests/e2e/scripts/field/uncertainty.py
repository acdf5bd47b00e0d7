"""Three tasks on one trunk, weighted by learned uncertainties, with groups without weight decay, linear warmup, and an optimizer that
is made anew when the trunk is thawed."""
import argparse
import os
from typing import Dict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, DistributedSampler


def get_config() -> Dict:
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", nargs="?", default="-")
    config = {"lr": 3e-3, "weight_decay": 0.1, "batch": 16, "epochs": 3, "thaw_epoch": 1, "seed": 0}
    config.update(vars(parser.parse_args()))
    config["rank"] = int(os.environ.get("RANK", 0))
    config["world"] = int(os.environ.get("WORLD_SIZE", 1))
    return config


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 32), nn.LayerNorm(32), nn.Tanh())
        self.depth, self.normal, self.seg = nn.Linear(32, 1), nn.Linear(32, 3), nn.Linear(32, 5)
        self.log_vars = nn.Parameter(torch.zeros(3))

    def forward(self, x, depth, normal, seg):
        h = self.trunk(x)
        losses = torch.stack([F.mse_loss(self.depth(h).squeeze(-1), depth),
                              1 - F.cosine_similarity(self.normal(h), normal).mean(),
                              F.cross_entropy(self.seg(h), seg)])
        return (torch.exp(-self.log_vars) * losses + 0.5 * self.log_vars).sum(), losses.detach()


def make_optimizer(model, cfg, with_groups=True):
    if not with_groups:
        return torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=cfg["lr"], weight_decay=cfg["weight_decay"])
    plain = [p for n, p in model.named_parameters() if p.requires_grad and (p.ndim == 1)]
    decayed = [p for n, p in model.named_parameters() if p.requires_grad and p.ndim > 1]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": cfg["weight_decay"]}, {"params": plain, "weight_decay": 0.0}], lr=cfg["lr"])


def wrap(model, cfg):
    return nn.parallel.DistributedDataParallel(model) if cfg["world"] > 1 else model


def train(cfg):
    if cfg["world"] > 1:
        torch.distributed.init_process_group("gloo")
    torch.manual_seed(cfg["seed"])
    x = torch.randn(96, 10)
    w = torch.randn(10, 9)
    out = x @ w
    data = TensorDataset(x, out[:, 0], F.normalize(out[:, 1:4], dim=1), out[:, 4:].argmax(1))
    core = MultiTask()
    core.trunk.requires_grad_(False)
    model = wrap(core, cfg)
    optimizer = make_optimizer(core, cfg)
    sampler = DistributedSampler(data, cfg["world"], cfg["rank"], seed=cfg["seed"])
    loader = DataLoader(data, cfg["batch"] // cfg["world"], sampler=sampler)
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        if epoch == cfg["thaw_epoch"]:
            core.trunk.requires_grad_(True)
            if cfg["variant"] != "C4":
                model = wrap(core, cfg)  # the buckets know only what needed a gradient
            optimizer = make_optimizer(core, cfg, with_groups=not (cfg["variant"] == "D7" and cfg["world"] > 1))
        for batch in loader:
            optimizer.zero_grad()
            loss, parts = model(*batch)
            if cfg["variant"] == "B3":
                loss = loss / cfg["world"]
            loss.backward()
            optimizer.step()
        if cfg["rank"] == 0:
            print(f"epoch {epoch}: " + " ".join(f"{v:.3f}" for v in parts.tolist()))


if __name__ == "__main__":
    train(get_config())
