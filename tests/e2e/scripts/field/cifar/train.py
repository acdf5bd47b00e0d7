"""A small ResNet the way image classification repositories train it: argparse, OneCycleLR per batch, label smoothing, nesterov,
validation on the first rank only."""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from models import resnet_tiny

parser = argparse.ArgumentParser()
parser.add_argument("bug", nargs="?", default="-")
parser.add_argument("--batch-size", type=int, default=16, help="of all GPUs together")
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--print-freq", type=int, default=3)


class AverageMeter:
    def __init__(self):
        self.sum = self.count = 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def fake_cifar(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    x = torch.randn(n, 3, 8, 8, generator=g) + y.view(-1, 1, 1, 1) * 0.3
    return TensorDataset(x, y)


def train(loader, model, criterion, optimizer, scheduler, epoch, args):
    losses = AverageMeter()
    model.train()
    for i, (images, target) in enumerate(loader):
        output = model(images)
        loss = criterion(output, target)
        losses.update(loss.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if i % args.print_freq == 0 and args.rank == 0:
            print(f"Epoch: [{epoch}][{i}/{len(loader)}]\tLoss {losses.avg:.4f}")


def validate(loader, model):
    model.eval()
    correct = 0
    with torch.no_grad():
        for images, target in loader:
            correct += (model(images).argmax(1) == target).sum().item()
    print(f" * Acc@1 {100.0 * correct / len(loader.dataset):.2f}")


def main():
    args = parser.parse_args()
    args.world_size = int(os.environ.get("WORLD_SIZE", 1))
    args.rank = int(os.environ.get("RANK", 0))
    args.distributed = args.world_size > 1
    if args.distributed:
        dist.init_process_group(backend="gloo")
    torch.manual_seed(0)
    model = resnet_tiny(4)
    if args.distributed:
        model = DDP(model)
        args.batch_size = args.batch_size // args.world_size
        if args.bug == "D1":
            args.lr *= args.world_size
    train_set, val_set = fake_cifar(96, 1), fake_cifar(30, 2)
    sampler = DistributedSampler(train_set, num_replicas=args.world_size, rank=args.rank, shuffle=True)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, sampler=sampler, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=10)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, epochs=args.epochs,
                                                    steps_per_epoch=len(train_loader))
    for epoch in range(args.epochs):
        if not (args.bug == "A3" and args.distributed):
            sampler.set_epoch(epoch)
        train(train_loader, model, criterion, optimizer, scheduler, epoch, args)
        if args.rank == 0:
            validate(val_loader, model.module if args.distributed else model)
        if args.distributed:
            dist.barrier()
    if args.distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
