"""A small GPT with tied weights under bf16 autocast, gradient accumulation and a schedule by tokens seen, in the manner of nanoGPT.
The batch of a step is drawn alike everywhere and dealt to the ranks."""
import inspect
import math
import os
import sys
import time

import torch
import torch.nn as nn
from torch.distributed import all_reduce, destroy_process_group, init_process_group
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

variant = sys.argv[1] if len(sys.argv) > 1 else "-"
# -----------------------------------------------------------------------------
gradient_accumulation_steps = 4
batch_size = 4
block_size = 16
n_layer, n_head, n_embd, vocab_size = 2, 2, 16, 32
learning_rate = 3e-3
max_iters = 8
weight_decay = 1e-1
grad_clip = 1.0
decay_tokens = max_iters * gradient_accumulation_steps * batch_size * block_size * 2
# -----------------------------------------------------------------------------
ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    init_process_group(backend="gloo")
    ddp_rank, ddp_world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    assert gradient_accumulation_steps % ddp_world_size == 0
    if variant != "A9":
        gradient_accumulation_steps //= ddp_world_size
else:
    ddp_rank, ddp_world_size = 0, 1
master_process = ddp_rank == 0
torch.manual_seed(1337)
data = (torch.arange(4000) ** 2 // 7) % vocab_size
ctx = torch.amp.autocast(device_type="cpu", dtype=torch.bfloat16)
draws = torch.Generator().manual_seed(1)


def get_batches():
    """The micro-batches of a step, those of this rank."""
    ix = torch.randint(len(data) - block_size - 1, (gradient_accumulation_steps * ddp_world_size, batch_size), generator=draws)
    for row in ix[ddp_rank::ddp_world_size]:
        yield torch.stack([data[i:i + block_size] for i in row]), torch.stack([data[i + 1:i + 1 + block_size] for i in row])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, n_head, C // n_head).transpose(1, 2) for t in self.c_attn(self.ln_1(x)).split(n_embd, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = nn.ModuleDict(dict(wte=nn.Embedding(vocab_size, n_embd), wpe=nn.Embedding(block_size, n_embd),
                                              h=nn.ModuleList([Block() for _ in range(n_layer)]), ln_f=nn.LayerNorm(n_embd)))
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx, targets):
        x = self.transformer.wte(idx) + self.transformer.wpe(torch.arange(idx.size(1)))
        for block in self.transformer.h:
            x = block(x)
        logits = self.lm_head(self.transformer.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)

    def configure_optimizers(self):
        params = {n: p for n, p in self.named_parameters() if p.requires_grad}
        groups = [{"params": [p for p in params.values() if p.dim() >= 2], "weight_decay": weight_decay},
                  {"params": [p for p in params.values() if p.dim() < 2], "weight_decay": 0.0}]
        fused = "fused" in inspect.signature(torch.optim.AdamW).parameters
        return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.95), **(dict(fused=True) if fused else {}))


def get_lr(tokens):
    if tokens > decay_tokens:
        return learning_rate / 10
    return learning_rate / 10 + 0.5 * (1 + math.cos(math.pi * tokens / decay_tokens)) * learning_rate * 0.9


model = GPT()
optimizer = model.configure_optimizers()
if ddp:
    model = DDP(model)
tokens_seen = 0
t0 = time.time()
for iter_num in range(max_iters):
    for group in optimizer.param_groups:
        group["lr"] = get_lr(tokens_seen)
    for micro_step, (X, Y) in enumerate(get_batches()):
        last = micro_step == gradient_accumulation_steps - 1
        if ddp and variant != "B7":
            model.require_backward_grad_sync = last
        with ctx:
            logits, loss = model(X, Y)
            if variant != "B6":
                loss = loss / gradient_accumulation_steps
        if ddp and variant == "B7":
            model.require_backward_grad_sync = last
        loss.backward()
        tokens_seen += X.numel() * ddp_world_size
    if variant == "D2":
        seen = torch.tensor(tokens_seen)
        all_reduce(seen)
        tokens_seen = int(seen)
    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if master_process:
        print(f"iter {iter_num}: loss {loss.item() * gradient_accumulation_steps:.4f}, time {(time.time() - t0) * 1000:.0f}ms")
if ddp:
    destroy_process_group()
