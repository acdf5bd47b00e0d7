"""Low-rank adapters on a frozen model, which is loaded from a file; only adapters train. In the manner of a fine-tuning script."""
import math
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

FAULT = sys.argv[1] if len(sys.argv) > 1 else "-"


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r=4, alpha=8):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling


def inject(model, targets=("q_proj", "v_proj")):
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in targets and isinstance(child, nn.Linear):
                setattr(module, name, LoRALinear(child))


class Attention(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        return x + self.o_proj(nn.functional.scaled_dot_product_attention(self.q_proj(x), self.k_proj(x), self.v_proj(x)))


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.attn, self.score = nn.Embedding(40, 16), Attention(), nn.Linear(16, 2)

    def forward(self, ids):
        return self.score(self.attn(self.embed(ids)).mean(1))


def pretrained(folder):
    path = os.path.join(folder, "base.pt")
    torch.manual_seed(123)
    donor = Base()
    prefixed = {f"module.{k}": v for k, v in donor.state_dict().items()}  # written by a run with several ranks
    torch.save(prefixed, path)
    return path


def load_base(model, path):
    state = torch.load(path, map_location="cpu")
    if FAULT != "F1":
        state = {k.removeprefix("module."): v for k, v in state.items()}
    missing = model.load_state_dict(state, strict=False)
    return missing


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group("gloo")
    with tempfile.TemporaryDirectory() as folder:
        path = pretrained(folder)
        torch.manual_seed(0)
        model = Base()
        load_base(model, path)
    model.requires_grad_(False)
    model.score.requires_grad_(True)
    late = FAULT == "C3" and world > 1
    torch.manual_seed(1)
    if not late:
        inject(model)
    wrapped = DDP(model) if world > 1 else model
    if late:
        inject(wrapped.module)
    params = [p for p in wrapped.parameters() if p.requires_grad]
    if rank == 0:
        print(f"trainable params: {sum(p.numel() for p in params)}")
    opt = torch.optim.AdamW(params, lr=1e-2)
    g = torch.Generator().manual_seed(0)
    ids = torch.randint(0, 40, (96, 5), generator=g)
    data = TensorDataset(ids, (ids.sum(1) % 2))
    sampler = DistributedSampler(data, world, rank, seed=2)
    loader = DataLoader(data, 16 // world, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(wrapped(x), y)
            if FAULT == "B3":
                loss = loss / world
            opt.zero_grad()
            loss.backward()
            opt.step()


main()
