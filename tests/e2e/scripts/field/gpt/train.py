"""In the manner of small GPT repositories: constants at the top, get_batch without a DataLoader, accumulation steps divided
over the ranks, a learning rate set by hand, fused AdamW, activation checkpointing and a norm with a backward of its own."""
import math
import os
import sys

import torch
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP

from model import GPT, GPTConfig

# -----------------------------------------------------------------------------
eval_interval = 4
gradient_accumulation_steps = 4
batch_size = 4
learning_rate = 3e-3
min_lr = 3e-4
warmup_iters = 3
max_iters = 10
weight_decay = 1e-1
beta1, beta2 = 0.9, 0.95
grad_clip = 1.0
bug = sys.argv[1] if len(sys.argv) > 1 else ""
# -----------------------------------------------------------------------------
ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    init_process_group(backend="gloo")
    ddp_rank, ddp_world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    master_process = ddp_rank == 0
    assert gradient_accumulation_steps % ddp_world_size == 0
    if bug != "A9":
        gradient_accumulation_steps //= ddp_world_size
else:
    ddp_rank, ddp_world_size, master_process = 0, 1, True
torch.manual_seed(1337)

block_size = GPTConfig().block_size
train_data = torch.randint(0, 24, (600,), generator=torch.Generator().manual_seed(5))
val_data = torch.randint(0, 24, (80,), generator=torch.Generator().manual_seed(6))


def get_batch(split, offset):
    data = train_data if split == "train" else val_data
    g = torch.Generator().manual_seed(offset)
    ix = torch.randint(len(data) - block_size, (batch_size,), generator=g)
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    return x, y


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


model = GPT(GPTConfig())
optimizer = model.configure_optimizers(weight_decay, learning_rate, (beta1, beta2), no_groups=ddp and bug == "D7")
if ddp:
    model = DDP(model)
raw_model = model.module if ddp else model


@torch.no_grad()
def estimate_loss():
    raw_model.eval()
    out = {}
    for split in ("train", "val"):
        losses = torch.zeros(3)
        for k in range(3):
            losses[k] = raw_model(*get_batch(split, 10_000 + k))[1].item()
        out[split] = losses.mean()
    raw_model.train()
    return out


micro = ddp_rank
X, Y = get_batch("train", micro)
for iter_num in range(max_iters):
    lr = get_lr(iter_num)
    for group in optimizer.param_groups:
        group["lr"] = lr
    if iter_num % eval_interval == 0 and master_process:
        print({k: f"{v:.4f}" for k, v in estimate_loss().items()})
    for micro_step in range(gradient_accumulation_steps):
        if ddp:
            model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
        _, loss = (raw_model if ddp and bug == "C1" else model)(X, Y)
        if not (ddp and bug == "B6"):
            loss = loss / gradient_accumulation_steps
        micro += ddp_world_size
        X, Y = get_batch("train", micro)  # prefetch
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if master_process:
        print(f"iter {iter_num}: loss {loss.item() * gradient_accumulation_steps:.4f}")
if ddp:
    destroy_process_group()
