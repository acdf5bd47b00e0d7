"""fully_shard on each layer and the whole; a single process trains the same model unsharded."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("bug", nargs="?", default="")
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--max-norm", type=float, default=0.5)
args = parser.parse_args()
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, d=12, layers=3):
        super().__init__()
        self.tok = nn.Embedding(30, d)
        self.layers = nn.ModuleList(Layer(d) for _ in range(layers))
        self.head = nn.Linear(d, 30)

    def forward(self, ids):
        x = self.tok(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(31)
    model = Model()
    before = list(model.parameters())
    if world > 1:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (world,))
        for layer in model.layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
    lr = 1e-2 * (world if args.bug == "D1" else 1)
    # D6: the optimizer was made from the parameters of the unsharded model
    parameters = before if args.bug == "D6" and world > 1 else model.parameters()
    optimizer = torch.optim.AdamW(parameters, lr=lr, foreach=True)
    g = torch.Generator().manual_seed(8)
    data = torch.randint(0, 30, (args.steps, 16, 7), generator=g)
    for step in range(args.steps):
        ids = data[step].chunk(world)[rank]
        logits = model(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        if args.bug == "B3" and world > 1:
            loss = loss / world
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
        optimizer.step()
        optimizer.zero_grad()
        norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f} norm {float(norm):.3f}")
    if world > 1:
        dist.destroy_process_group()


main()
