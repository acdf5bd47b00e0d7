"""A script on an Accelerate-like library, in its usual form: the scheduler is made for the steps of one process and moves once
per process in each step."""
import argparse

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

from mini_accelerate import Accelerator


def linear_with_warmup(optimizer, warmup, total):
    return LambdaLR(optimizer, lambda s: s / max(1, warmup) if s < warmup else max(0.0, (total - s) / max(1, total - warmup)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bug", nargs="?", default="")
    p.add_argument("--num_epochs", type=int, default=2)
    p.add_argument("--train_batch_size", type=int, default=8)
    args = p.parse_args()
    accelerator = Accelerator(gradient_accumulation_steps=2)
    per_device = args.train_batch_size // accelerator.num_processes
    bug = args.bug if accelerator.num_processes > 1 else ""
    accelerator.divide = bug != "B6"
    torch.manual_seed(42)
    g = torch.Generator().manual_seed(10)
    x = torch.randn(149, 7, generator=g)
    y = (x.sum(1) > 0).long()
    train_dataloader = DataLoader(TensorDataset(x[:128], y[:128]), batch_size=per_device, shuffle=False)
    eval_dataloader = DataLoader(TensorDataset(x[128:], y[128:]), batch_size=4, shuffle=False)
    model = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 2))
    no_decay = [p for n, p in model.named_parameters() if "bias" in n]
    decay = [p for n, p in model.named_parameters() if "bias" not in n]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}], lr=1e-2)
    updates = args.num_epochs * len(train_dataloader) // accelerator.gradient_accumulation_steps
    if bug == "D2":
        updates //= accelerator.num_processes
    scheduler = linear_with_warmup(optimizer, updates // 4, updates)
    model, optimizer, train_dataloader, eval_dataloader, scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, scheduler)
    for epoch in range(args.num_epochs):
        model.train()
        for features, labels in train_dataloader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(features), labels)
                accelerator.backward(loss)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        model.eval()
        right, seen = 0, 0
        with torch.no_grad():
            for features, labels in eval_dataloader:
                hits = (model(features).argmax(-1) == labels).long()
                if bug == "F9":
                    counts = torch.tensor([hits.sum(), len(hits)])
                    torch.distributed.all_reduce(counts)
                    right, seen = right + int(counts[0]), seen + int(counts[1])
                    continue
                hits = accelerator.gather(hits)[: len(eval_dataloader.dataset) - seen]  # without what fills the last round
                right, seen = right + int(hits.sum()), seen + len(hits)
        if accelerator.is_main_process:
            print(f"epoch {epoch}: accuracy {right / seen:.4f}")


if __name__ == "__main__":
    main()
