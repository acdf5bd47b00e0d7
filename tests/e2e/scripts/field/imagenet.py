"""An image classifier in the manner of timm's train.py: cosine schedule with warmup per epoch, label smoothing, an averaged model
on rank 0, meters. Without a fault the average is kept on rank 0 alone, which is enough."""
import argparse
import copy
import math
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as NativeDDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser(description="PyTorch ImageNet Training")
parser.add_argument("variant", nargs="?", default="-")
parser.add_argument("-b", "--batch-size", type=int, default=24, metavar="N", help="global batch")
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--warmup-epochs", type=float, default=0.5)
parser.add_argument("--lr-base", type=float, default=0.4)
parser.add_argument("--lr-base-size", type=int, default=256)
parser.add_argument("--smoothing", type=float, default=0.1)
parser.add_argument("--model-ema-decay", type=float, default=0.9)


class FakeImages(Dataset):
    def __init__(self, n=200):
        g = torch.Generator().manual_seed(12)
        self.x = torch.rand(n, 3, 12, 12, generator=g)
        self.y = (self.x.mean((2, 3)).argmax(1) * 2 + (self.x[:, 0, 0, 0] > 0.5)).long()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return (self.x[i] - 0.5) / 0.29, self.y[i]


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dw = nn.Conv2d(dim, dim, 3, padding=1, groups=dim)
        self.norm = nn.GroupNorm(1, dim)
        self.pw = nn.Conv2d(dim, dim, 1)
        self.gamma = nn.Parameter(1e-1 * torch.ones(dim, 1, 1))

    def forward(self, x):
        return x + self.gamma * self.pw(nn.functional.gelu(self.norm(self.dw(x))))


def create_model():
    return nn.Sequential(nn.Conv2d(3, 16, 4, 4), Block(16), Block(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 6))


class ModelEma:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        new = model.state_dict()
        for k, v in self.module.state_dict().items():
            if k in new:
                v.copy_(v * self.decay + (1 - self.decay) * new[k])


class AverageMeter:
    def __init__(self):
        self.sum = self.count = 0.0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(1, self.count)


def main():
    args = parser.parse_args()
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    distributed = world > 1
    if distributed:
        dist.init_process_group("gloo")
    torch.manual_seed(42)
    model = create_model().to(memory_format=torch.channels_last)
    # The rule of thumb of large batches, of the global batch: the same in one process.
    lr = args.lr_base * args.batch_size / args.lr_base_size
    if args.variant == "D1":
        lr = lr * world
    decay, no_decay = [], []
    for _, p in model.named_parameters():
        (no_decay if p.ndim <= 1 else decay).append(p)
    optimizer = torch.optim.SGD([{"params": no_decay, "weight_decay": 0.0}, {"params": decay, "weight_decay": 2e-5}],
                                lr=lr, momentum=0.9, nesterov=True)
    ema = ModelEma(model, args.model_ema_decay) if rank == 0 else None
    if distributed:
        model = NativeDDP(model)
    train_set = FakeImages()
    sampler = DistributedSampler(train_set, num_replicas=world, rank=rank, seed=7)
    loader = DataLoader(train_set, batch_size=args.batch_size // world, sampler=sampler,
                        drop_last=distributed and args.variant == "A6")
    updates = len(loader) * args.epochs
    warmup = int(len(loader) * args.warmup_epochs)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda t: (t + 1) / (warmup + 1) if t < warmup else 0.5 * (1 + math.cos(math.pi * (t - warmup) / (updates - warmup))))
    loss_fn = nn.CrossEntropyLoss(label_smoothing=args.smoothing)
    losses = AverageMeter()
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for batch, (images, target) in enumerate(loader):
            images = images.contiguous(memory_format=torch.channels_last)
            loss = loss_fn(model(images), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            if ema is not None:
                ema.update(model if args.variant == "F8" else getattr(model, "module", model))
            reduced = loss.detach().clone()
            if distributed and args.variant != "B10":
                dist.all_reduce(reduced)
                if args.variant != "B11":
                    reduced /= world
            losses.update(reduced.item(), images.size(0))
            if rank == 0:
                print(f"Train: {epoch} [{batch:>3d}/{len(loader)}] loss={reduced.item():.6f} avg={losses.avg:.4f}")
    if distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
