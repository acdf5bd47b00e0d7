"""Momentum contrast: a key encoder that follows the query encoder, and a queue of the keys of all ranks."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

WORLD, RANK = int(os.getenv("WORLD_SIZE", "1")), int(os.getenv("RANK", "0"))
BUG = sys.argv[1] if len(sys.argv) > 1 and WORLD > 1 else None


@torch.no_grad()
def concat_all_gather(t):
    if WORLD == 1 or BUG == "C9":
        return t
    out = [torch.ones_like(t) for _ in range(WORLD)]
    dist.all_gather(out, t)
    return torch.cat(out)


class TwoViews(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(3)
        self.base = torch.randn(128, 16, generator=g)
        self.noise = 0.2 * torch.randn(2, 128, 16, generator=g)

    def __len__(self):
        return len(self.base)

    def __getitem__(self, i):
        return self.base[i] + self.noise[0, i], self.base[i] + self.noise[1, i]


class RankSlice(Sampler):
    """One shuffled order for everyone, every rank takes its slice of each batch."""

    def __init__(self, n, batch):
        self.n, self.batch, self.epoch = n, batch, 0

    def __iter__(self):
        order = torch.randperm(self.n, generator=torch.Generator().manual_seed(100 + self.epoch))
        per = self.batch // WORLD
        for b in order.split(self.batch):
            yield b[RANK * per : (RANK + 1) * per].tolist()


class MoCo(nn.Module):
    def __init__(self, dim=8, K=64, m=0.9, T=0.2):
        super().__init__()
        self.K, self.m, self.T = K, m, T
        make = lambda: nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, dim))  # noqa: E731
        self.encoder_q, self.encoder_k = make(), make()
        self.encoder_k.load_state_dict(self.encoder_q.state_dict())
        self.encoder_k.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        if BUG == "F8":
            return
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * self.m + q.data * (1.0 - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        keys = concat_all_gather(keys)
        ptr = int(self.queue_ptr)
        self.queue[:, ptr : ptr + len(keys)] = keys.T
        self.queue_ptr[0] = (ptr + len(keys)) % self.K

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update_key_encoder()
            k = F.normalize(self.encoder_k(im_k), dim=1)
        l_pos = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", q, self.queue.clone().detach())
        self._dequeue_and_enqueue(k)
        return torch.cat([l_pos, l_neg], dim=1) / self.T


def main():
    if WORLD > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(11)
    model = MoCo()
    if WORLD > 1:
        model = nn.parallel.DistributedDataParallel(model, broadcast_buffers=False)
    data = TwoViews()
    sampler = RankSlice(len(data), 16)
    loader = DataLoader(data, batch_sampler=sampler)
    opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], 0.1, momentum=0.9, weight_decay=1e-4)
    for sampler.epoch in range(2):
        for a, b in loader:
            logits = model(im_q=a, im_k=b)
            loss = F.cross_entropy(logits, torch.zeros(len(a), dtype=torch.long))
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", sampler.epoch, "loss", float(loss))


if __name__ == "__main__":
    main()
