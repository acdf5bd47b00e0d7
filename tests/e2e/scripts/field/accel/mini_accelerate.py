"""The part of an Accelerate-like library that a script sees: prepare, accumulate, backward, gather."""
import contextlib
import os

import torch
import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader


class BatchSamplerShard(BatchSampler):
    """Every rank gets each num_processes-th batch; the last round starts again from the head until everyone has one."""

    def __init__(self, batch_sampler, num_processes, index):
        self.batch_sampler, self.num_processes, self.index = batch_sampler, num_processes, index
        self.batch_size, self.drop_last = batch_sampler.batch_size, batch_sampler.drop_last

    def __len__(self):
        return -(-len(self.batch_sampler) // self.num_processes)

    def __iter__(self):
        head, held = [], []
        for b in self.batch_sampler:
            head = head or b
            held.append(b)
            if len(held) == self.num_processes:
                yield (held[self.index] + head)[: self.batch_size]
                held = []
        if held:
            full = held + [head] * (self.num_processes - len(held))
            b = full[self.index]
            yield (b + head)[: self.batch_size]


class AcceleratedScheduler:
    def __init__(self, scheduler, accelerator):
        self.scheduler, self.accelerator = scheduler, accelerator

    def step(self):
        if not self.accelerator.sync_gradients:
            return
        for _ in range(self.accelerator.num_processes):
            self.scheduler.step()


class AcceleratedOptimizer(torch.optim.Optimizer):
    def __init__(self, optimizer, accelerator):
        self.optimizer, self.accelerator = optimizer, accelerator

    param_groups = property(lambda self: self.optimizer.param_groups)
    state = property(lambda self: self.optimizer.state)

    def step(self, closure=None):
        if self.accelerator.sync_gradients:
            self.optimizer.step(closure)

    def zero_grad(self, set_to_none=True):
        if self.accelerator.sync_gradients:
            self.optimizer.zero_grad(set_to_none)


class Accelerator:
    def __init__(self, gradient_accumulation_steps=1):
        self.num_processes = int(os.environ.get("WORLD_SIZE", 1))
        self.process_index = int(os.environ.get("RANK", 0))
        self.is_main_process = self.process_index == 0
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.sync_gradients, self.step = True, 0
        self.divide = True
        if self.num_processes > 1:
            dist.init_process_group("gloo")

    def prepare(self, *objects):
        return tuple(self._prepare(o) for o in objects)

    def _prepare(self, o):
        if isinstance(o, torch.nn.Module):
            return torch.nn.parallel.DistributedDataParallel(o) if self.num_processes > 1 else o
        if isinstance(o, DataLoader):
            shard = BatchSamplerShard(o.batch_sampler, self.num_processes, self.process_index)
            return DataLoader(o.dataset, batch_sampler=shard, collate_fn=o.collate_fn)
        if isinstance(o, torch.optim.Optimizer):
            return AcceleratedOptimizer(o, self)
        return AcceleratedScheduler(o, self)

    @contextlib.contextmanager
    def accumulate(self, model):
        self.step += 1
        self.sync_gradients = self.step % self.gradient_accumulation_steps == 0
        skip = self.num_processes > 1 and not self.sync_gradients
        with model.no_sync() if skip else contextlib.nullcontext():
            yield

    def backward(self, loss):
        (loss / self.gradient_accumulation_steps if self.divide else loss).backward()

    def gather(self, tensor):
        if self.num_processes == 1:
            return tensor
        out = [torch.empty_like(tensor) for _ in range(self.num_processes)]
        dist.all_gather(out, tensor)
        return torch.cat(out)
