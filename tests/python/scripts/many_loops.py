"""Trains in many ways, one after the other, and prints a digest of everything that training produces: losses, gradients,
parameters, buffers, optimizer state and the state of the generators. Run with and without the probe the digests are equal.
Under torchrun the models are wrapped with DistributedDataParallel.
"""

import copy
import hashlib
import io
import os
import random
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset, TensorDataset

WORLD = int(os.environ.get("WORLD_SIZE", "1"))
RANK = int(os.environ.get("RANK", "0"))
DATA = TensorDataset(torch.randn(48, 8, generator=torch.Generator().manual_seed(0)), torch.arange(48) % 3)


class Digest:
    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def add(self, *values) -> None:
        for value in values:
            if isinstance(value, torch.Tensor):
                self.hash.update(value.detach().contiguous().view(torch.uint8).numpy().tobytes() if value.numel() and value.dim()
                                 else repr(value.item() if value.numel() else None).encode())
            elif isinstance(value, dict):
                self.add(*value.values())
            elif isinstance(value, (list, tuple)):
                self.add(*value)
            else:
                self.hash.update(repr(value).encode())

    def close(self, name: str) -> None:
        self.add(torch.get_rng_state(), random.getstate())
        print(f"rank {RANK} {name} {self.hash.hexdigest()[:16]}", flush=True)


def network(norm: bool = True) -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16) if norm else nn.Identity(), nn.ReLU(), nn.Dropout(0.3),
                         nn.Linear(16, 3))


def parallel(model: nn.Module, **options) -> nn.Module:
    return DistributedDataParallel(model, **options) if WORLD > 1 else model


def loader(batch: int = 8, **options) -> DataLoader:
    sampler = DistributedSampler(DATA) if WORLD > 1 else None
    return DataLoader(DATA, batch_size=batch, shuffle=sampler is None, sampler=sampler, **options)


def everything(digest: Digest, model: nn.Module, *optimizers) -> None:
    digest.add(model.state_dict(), [p.grad for p in model.parameters() if p.grad is not None])
    for optimizer in optimizers:
        digest.add([optimizer.state[p] for p in model.parameters() if p in optimizer.state])


def plain(digest: Digest) -> None:
    model = parallel(network())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for features, label in loader(num_workers=2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features), label)
        loss.backward()
        digest.add(nn.utils.clip_grad_norm_(model.parameters(), 0.5), loss)
        optimizer.step()
        scheduler.step()
    copied = copy.deepcopy(model.module if WORLD > 1 else model)  # what an EMA does: nothing of the probe may stick to it
    torch.save(copied, io.BytesIO())
    everything(digest, model, optimizer)


def accumulated(digest: Digest) -> None:
    model = parallel(network(norm=False), gradient_as_bucket_view=True) if WORLD > 1 else network(norm=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for i, (features, label) in enumerate(loader(batch=4)):
        loss = nn.functional.cross_entropy(model(features), label) / 2
        if WORLD > 1 and i % 2 == 0:
            with model.no_sync():
                loss.backward()
        else:
            loss.backward()
        if i % 2:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        digest.add(loss)
    everything(digest, model, optimizer)


def scaled(digest: Digest) -> None:
    model = parallel(network(norm=False))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14, growth_interval=2)
    for i, (features, label) in enumerate(loader()):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(features), label)
        if i == 2:
            loss = loss * float("inf")  # the scaler skips this step
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        digest.add(scaler.get_scale())
    everything(digest, model, optimizer)


def adversarial(digest: Digest) -> None:
    generator, critic = parallel(nn.Linear(4, 8)), parallel(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)))
    of_generator = torch.optim.Adam(generator.parameters(), lr=1e-2)
    of_critic = torch.optim.RMSprop(critic.parameters(), lr=1e-2)
    for features, _ in loader():
        of_critic.zero_grad()
        made = generator(torch.randn(len(features), 4))
        (critic(made.detach()).mean() - critic(features).mean()).backward()
        of_critic.step()
        of_generator.zero_grad()
        loss = -critic(made).mean()
        loss.backward()
        of_generator.step()
        digest.add(loss)
    everything(digest, generator, of_generator)
    everything(digest, critic, of_critic)


def with_closure(digest: Digest) -> None:
    model = network(norm=False)
    model[3].p = 0.0
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
    features, label = DATA.tensors

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features), label)
        loss.backward()
        return loss

    for _ in range(3):
        digest.add(optimizer.step(closure))
    everything(digest, model)


class Endless(IterableDataset):
    def __iter__(self):
        for _ in range(5):
            yield torch.randn(8), torch.randint(0, 3, ())


def streamed(digest: Digest) -> None:
    model = parallel(network(norm=False))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=1e-2)
    for epoch in range(2):
        for features, label in DataLoader(Endless(), batch_size=5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(features), label)
            loss.backward()
            optimizer.step()
            digest.add(loss)
        model.eval()
        with torch.no_grad():
            digest.add([model(features).sum() for features, _ in loader()])
        model.train()
    everything(digest, model, optimizer)


def by_hand(digest: Digest) -> None:
    """No module, no loader: tensors that require a gradient."""
    weight = torch.randn(8, 3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    features, label = DATA.tensors
    for step in range(4):
        rows = torch.randperm(48)[:12]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(features[rows] @ weight, label[rows])
        torch.autograd.backward(loss)
        if WORLD > 1:
            dist.all_reduce(weight.grad)
        optimizer.step()
        digest.add(loss, weight)


def main() -> None:
    if WORLD > 1:
        dist.init_process_group("gloo")
    torch.set_num_threads(1)
    loops = [plain, accumulated, adversarial, with_closure, streamed, by_hand]
    if hasattr(torch.amp, "GradScaler"):  # torch before 2.3 scales on a GPU only
        loops.append(scaled)
    for loop in loops:
        torch.manual_seed(5)
        random.seed(5)
        digest = Digest()
        loop(digest)
        digest.close(loop.__name__)
    if WORLD > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
    sys.exit(0)
