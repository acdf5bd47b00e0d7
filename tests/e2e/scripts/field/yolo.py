"""A detector's loop in the manner of YOLOv5: the loss is multiplied by the batch of a rank, and by the number of ranks because DDP
averages; warmup of rate and momentum, an average of the weights on rank 0."""
import copy
import math
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset, distributed

LOCAL_RANK = int(os.getenv("LOCAL_RANK", -1))
RANK = int(os.getenv("RANK", -1))
WORLD_SIZE = int(os.getenv("WORLD_SIZE", 1))
opt_variant = sys.argv[1] if len(sys.argv) > 1 else "-"
hyp = dict(lr0=0.01, lrf=0.1, momentum=0.937, weight_decay=5e-4, warmup_epochs=1, warmup_bias_lr=0.05, warmup_momentum=0.8)


class ModelEMA:
    def __init__(self, model, decay=0.99, tau=20):
        self.ema, self.updates, self.decay = copy.deepcopy(model).eval(), 0, lambda x: decay * (1 - math.exp(-x / tau))

    def update(self, model):
        self.updates += 1
        d = self.decay(self.updates)
        msd = (model.module if isinstance(model, DDP) else model).state_dict()
        for k, v in self.ema.state_dict().items():
            if v.dtype.is_floating_point:
                v *= d
                v += (1 - d) * msd[k].detach()


def compute_loss(pred, target):
    lbox = (1 - torch.exp(-(pred[:, :4] - target[:, :4]).square().sum(1))).mean()
    lobj = nn.functional.binary_cross_entropy_with_logits(pred[:, 4], target[:, 4])
    return (0.05 * lbox + lobj) * len(pred)


def main():
    if LOCAL_RANK != -1:
        dist.init_process_group(backend="gloo")
    epochs, batch_size = 2, 16 // WORLD_SIZE
    torch.manual_seed(0)
    x = torch.randn(96, 12)
    target = torch.cat([x[:, :4].tanh(), (x[:, 4:5] > 0).float()], 1)
    model = nn.Sequential(nn.Linear(12, 32), nn.SiLU(), nn.Linear(32, 5))
    g = [], []
    for v in model.modules():
        if isinstance(v, nn.Linear):
            g[1].append(v.bias)
            g[0].append(v.weight)
    optimizer = torch.optim.SGD(g[1], lr=hyp["lr0"], momentum=hyp["momentum"], nesterov=True)
    optimizer.add_param_group({"params": g[0], "weight_decay": 0.0 if opt_variant == "D7" else hyp["weight_decay"]})
    lf = lambda e: (1 - e / epochs) * (1.0 - hyp["lrf"]) + hyp["lrf"]
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lf)
    ema = ModelEMA(model) if RANK in {-1, 0} else None
    data = TensorDataset(x, target)
    sampler = distributed.DistributedSampler(data, num_replicas=WORLD_SIZE, rank=max(RANK, 0), seed=2)
    loader = DataLoader(data, batch_size, sampler=sampler)
    if RANK != -1 and WORLD_SIZE > 1:
        model = DDP(model)
    nb = len(loader)
    nw = nb * hyp["warmup_epochs"]
    for epoch in range(epochs):
        model.train()
        sampler.set_epoch(epoch)
        for i, (imgs, targets) in enumerate(loader):
            ni = i + nb * epoch
            if ni <= nw:
                for j, group in enumerate(optimizer.param_groups):
                    start = hyp["warmup_bias_lr"] if j == 0 else 0.0
                    group["lr"] = start + (group["initial_lr"] * lf(epoch) - start) * ni / nw
                    group["momentum"] = hyp["warmup_momentum"] + (hyp["momentum"] - hyp["warmup_momentum"]) * ni / nw
            loss = compute_loss(model(imgs), targets)
            if RANK != -1 and opt_variant != "B1":
                loss *= WORLD_SIZE
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=10.0)
            optimizer.step()
            optimizer.zero_grad()
            if ema:
                ema.update(model)
        scheduler.step()


if __name__ == "__main__":
    main()
