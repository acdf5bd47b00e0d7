"""A transformer encoder sharded block by block with fully_shard, activations recomputed, gradients clipped over all shards."""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Layer(nn.Module):
    def __init__(self, d=16, h=2):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, h, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d))
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        y = self.n1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.ff(self.n2(x))


class Encoder(nn.Module):
    def __init__(self, vocab=24, d=16, layers=2, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(Layer(d) for _ in range(layers))
        self.head = nn.Linear(d, classes)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return self.head(x.mean(1))


def local_clip(parameters, max_norm):
    """The norm of what this rank holds."""
    grads = [p.grad.to_local() if hasattr(p.grad, "to_local") else p.grad for p in parameters]
    norm = torch.norm(torch.stack([g.norm() for g in grads]))
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    for g in grads:
        g.mul_(factor)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("variant", nargs="?", default="-")
    variant = args.parse_args().variant
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    torch.manual_seed(0)
    tokens = torch.randint(0, 24, (96, 8))
    data = TensorDataset(tokens, (tokens % 4).sum(1) % 4)
    model = Encoder()
    if world > 1:
        dist.init_process_group("gloo")
        mesh = init_device_mesh("cpu", (world,))
        early = torch.optim.AdamW(model.parameters(), lr=2e-3) if variant == "D6" else None
        policy = MixedPrecisionPolicy(reduce_dtype=torch.bfloat16) if variant == "E2" else MixedPrecisionPolicy()
        for layer in model.layers:
            fully_shard(layer, mesh=mesh, mp_policy=policy)
        fully_shard(model, mesh=mesh, mp_policy=policy)
    else:
        early = None
    optimizer = early or torch.optim.AdamW(model.parameters(), lr=2e-3)
    sampler = DistributedSampler(data, world, rank)
    loader = DataLoader(data, 16 // world, sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for tokens, labels in loader:
            loss = nn.functional.cross_entropy(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            if variant == "D4":
                local_clip(model.parameters(), 0.5)
            else:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()


if __name__ == "__main__":
    main()
