"""Trains configurations with Python torch, as DistributedDataParallel or alone, and writes what it saw.

prepare() in the process that forks the ranks, train_all() in each rank under torchrun's environment.
Per case and rank a pickle of {"steps": {(quantity, index): bits}, "samples", "tensors"} keyed by step, and the final
state_dict, in the units of core/base/quantity.h.
"""
import contextlib
import itertools
import os
import pickle
import struct
import warnings

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import BatchSampler, DataLoader, Sampler
from torch.utils.data.distributed import DistributedSampler

import measures as m
import models

warnings.simplefilter("ignore")

LOSS, LOSS_MICRO, LR, NORM_LOCAL, NORM, NORM_CLIPPED, NORM_TORCH = 20, 21, 30, 40, 41, 42, 43
PROJ_LOCAL, PROJ, UPDATE, PARAMS, BUFFERS, OPTIMIZER, OPT_STEP, RNG, IDS = 44, 45, 50, 51, 52, 53, 54, 80, 82
SCALE, FOUND_INF, SKIPPED = 70, 71, 72
EVAL_LOSS, EVAL_ACCURACY, EVAL_SAMPLES, EVAL_SAMPLES_LOCAL, EVAL_SET_SIZE = range(90, 95)


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def host(t):
    return t.detach().contiguous().numpy()


class JoinedSampler(Sampler):
    """The micro-batches of W ranks joined in rank order: what one process trains on to be comparable with them."""

    def __init__(self, dataset, world, batch, seed):
        self.parts = [DistributedSampler(dataset, world, r, seed=seed) for r in range(world)]
        self.batch = batch

    def set_epoch(self, epoch):
        for p in self.parts:
            p.set_epoch(epoch)

    def __iter__(self):
        for chunks in zip(*(BatchSampler(p, self.batch, False) for p in self.parts)):
            yield [i for c in chunks for i in c]

    def __len__(self):
        return -(-len(self.parts[0]) // self.batch)


def loader_of(c, dataset, rank, world):
    if c["mode"] == "single" and c.get("order") == "python":
        return DataLoader(dataset, batch_size=c["batch"], shuffle=True), None
    if c["mode"] == "single":
        sampler = JoinedSampler(dataset, c.get("align_world", 1), c["batch"], c.get("sampler_seed", 0))
        return DataLoader(dataset, batch_sampler=sampler), sampler
    sampler = DistributedSampler(dataset, world, rank, seed=c.get("sampler_seed", 0), drop_last=c.get("drop_last", False))
    return DataLoader(dataset, batch_size=c["batch"], sampler=sampler), sampler


def optimizer_of(c, parameters):
    lr, wd = c.get("lr", 1e-3), c.get("weight_decay", 0.0)
    kind = c.get("optimizer", "adam")
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=lr, momentum=c.get("momentum", 0.9), weight_decay=wd)
    return {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind](parameters, lr=lr, weight_decay=wd)


def scheduler_of(c, opt):
    period = c.get("scheduler_period", 0)
    make = {"step": lambda: torch.optim.lr_scheduler.StepLR(opt, period, 0.1),
            "cosine": lambda: torch.optim.lr_scheduler.CosineAnnealingLR(opt, period),
            "warmup": lambda: torch.optim.lr_scheduler.LinearLR(opt, total_iters=period)}
    return make.get(c.get("scheduler", "none"), lambda: None)()


class Record:
    def __init__(self, model, opt, per_tensor):
        self.model, self.opt, self.per_tensor = model, opt, per_tensor
        self.named = list(model.named_parameters())
        self.steps, self.samples, self.tensors = {}, {}, {}
        self.local = {}
        self.watch = False
        self.before = None
        self.updates = 0  # the optimizer's own count: a skipped step is none
        for name, p in self.named:
            p.register_post_accumulate_grad_hook(lambda p, name=name: self.seen(name, p))

    def seen(self, name, p):
        if self.watch:
            self.local[name] = host(p.grad).copy()

    def grads(self):
        return [host(p.grad).copy() if p.grad is not None else p.numel() for _, p in self.named]

    def gradient(self, v, grads, scale, norm, projection):
        """`scale`: what the gradients are multiplied by in memory."""
        v[norm, 0] = bits(m.norm([g for g in grads if not isinstance(g, int)]) / scale)
        for k, p in enumerate(m.projections(grads)):
            v[projection, k] = bits(p / scale)

    def state(self, step, v):
        params = [host(p).copy() for _, p in self.named]
        v[PARAMS, 0] = m.fingerprint(params)
        v[BUFFERS, 0] = m.fingerprint([host(b) for b in self.model.buffers()])
        states = [s for _, p in self.named for s in self.opt.state.get(p, {}).values() if s is not None]
        v[OPTIMIZER, 0] = m.fingerprint([host(s) for s in states])
        v[RNG, 0] = m.fingerprint([host(torch.get_rng_state())])
        v[OPT_STEP, 0] = self.updates
        if self.before:
            v[UPDATE, 0] = bits(m.update_norm(params, self.before))
        for (name, _), p, b in zip(self.named if self.per_tensor else [], params, self.before or params):
            own = self.tensors.setdefault((step, name), {})
            own["state"], own["state_print"] = bits(m.norm([p])), m.fingerprint([p])
            if self.before:
                own["update"] = bits(m.update_norm([p], [b]))
        for name, b in self.model.named_buffers() if self.per_tensor else []:
            self.tensors[step, name] = {"state_print": m.fingerprint([host(b)])}
        self.before = params
        self.steps[step] = v


def evaluate(c, model, rank, world, autocast):
    """A padded DistributedSampler's share through the wrapper; the repeats are left out, sums and counts are reduced."""
    dataset = models.evaluation(c)
    sampler = DistributedSampler(dataset, world, rank, shuffle=False)
    # A generator of its own: an iterator of the loader draws from the default one otherwise.
    loader = DataLoader(dataset, batch_size=c["batch"], sampler=sampler, generator=torch.Generator())
    left = len(sampler) if any(f["id"] == "F9" for f in c.get("faults", [])) else len(range(rank, len(dataset), world))
    loss, answers, right, samples = 0.0, 0, 0, 0
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            with autocast():
                out = model(x)
                kept = min(left, len(y))
                left -= kept
                if not kept:
                    continue
                out, y = out[: kept * (len(out) // len(y))], y[:kept].flatten()
                loss += F.cross_entropy(out, y, reduction="sum").item()
            answers, right, samples = answers + int((y != -100).sum()), right + int((out.argmax(1) == y).sum()), samples + kept
    model.train()
    sums = torch.tensor([loss, answers, right, samples], dtype=torch.float64)
    if world > 1:
        dist.all_reduce(sums)
    all_ = sums.tolist()
    return {(EVAL_LOSS, 0): bits(all_[0] / all_[1]), (EVAL_ACCURACY, 0): bits(all_[2] / all_[1]), (EVAL_SAMPLES, 0): int(all_[3]),
            (EVAL_SAMPLES_LOCAL, 0): samples, (EVAL_SET_SIZE, 0): len(dataset)}


def train(c, rank, world, path):
    ddp = c["mode"] == "ddp"
    seed = c.get("seed", 42)
    torch.manual_seed(seed)
    net, dataset = models.build(c)
    opt = optimizer_of(c, net.parameters())
    record = Record(net, opt, per_tensor=rank == 0)  # before DDP: its hooks must see gradients first
    model = net
    if ddp:
        model = DistributedDataParallel(
            net, find_unused_parameters=c.get("find_unused", False), bucket_cap_mb=c.get("bucket_mb", 0) or None,
            gradient_as_bucket_view=c.get("bucket_view", False), static_graph=c.get("static_graph", False))
    torch.manual_seed(seed + rank)
    scheduler = scheduler_of(c, opt)
    amp = c.get("amp", "off")
    dtype = {"off": None, "bf16": torch.bfloat16, "fp16": torch.float16}[amp]
    autocast = lambda: torch.autocast("cpu", dtype=dtype) if dtype else contextlib.nullcontext()
    scaler = torch.amp.GradScaler("cpu", init_scale=c.get("scaler_scale", 65536.0),
                                  growth_interval=c.get("scaler_growth_interval", 2000), enabled=amp == "fp16")
    accumulate, clip, clip_value = c.get("accumulate", 1), c.get("clip_norm", 0), c.get("clip_value", 0)
    record.state(0, {})
    loader, sampler = loader_of(c, dataset, rank, world)
    step, epoch = 0, 0
    while step < c["steps"]:
        if sampler:
            sampler.set_epoch(epoch)
        window = []
        # As many as are trained on, before any forward: a window's tokens must be known in advance.
        batches = list(itertools.islice(loader, (c["steps"] - step) * accumulate))
        for i, (x, y, ids) in enumerate(batches):
            first = i // accumulate * accumulate
            size = min(accumulate, len(batches) - first)
            last = len(window) + 1 == size
            if not window:
                all_tokens = torch.tensor(sum(models.tokens(c, b[1]) for b in batches[first : first + size]))
                if ddp and all_tokens > 0:
                    dist.all_reduce(all_tokens)
                all_tokens = int(all_tokens)
            record.watch, record.local = last, {}
            with contextlib.nullcontext() if last or not ddp else model.no_sync():
                with autocast():
                    loss = models.loss_of(c, model(x), y)
                if all_tokens:
                    scaler.scale(loss * (world / all_tokens)).backward()
                else:
                    scaler.scale(loss / size if size > 1 else loss).backward()
            window.append((loss.item() / (models.tokens(c, y) or 1), ids.numpy()))
            if not last:
                continue
            step += 1
            v = {(LR, 0): bits(opt.param_groups[0]["lr"])}
            scale = scaler.get_scale() if dtype is torch.float16 else 1.0
            scaler.unscale_(opt)
            grads = record.grads()
            local_scale = scale if ddp else 1.0
            local = [record.local.get(n, p.numel()) for n, p in record.named] if ddp else grads
            record.gradient(v, local, local_scale, NORM_LOCAL, PROJ_LOCAL)
            record.gradient(v, grads, 1.0, NORM, PROJ)
            for (name, _), l, g in zip(record.named if record.per_tensor else [], local, grads):
                own = record.tensors.setdefault((step, name), {})
                if not isinstance(g, int):
                    own["reduced"], own["reduced_print"] = bits(m.norm([g])), m.fingerprint([g])
                if not isinstance(l, int):
                    own["local"], own["local_print"] = bits(m.norm([l]) / local_scale), m.fingerprint([l])
            if clip:
                v[NORM_TORCH, 0] = bits(torch.nn.utils.clip_grad_norm_(net.parameters(), clip).item())
            if clip_value:
                torch.nn.utils.clip_grad_value_(net.parameters(), clip_value)
            if clip or clip_value:
                v[NORM_CLIPPED, 0] = bits(m.norm([g for g in record.grads() if not isinstance(g, int)]))
            skipped = 0
            if dtype is torch.float16:
                skipped = int(any(f.item() for f in scaler._per_optimizer_states[id(opt)]["found_inf_per_device"].values()))
                v[SCALE, 0], v[FOUND_INF, 0], v[SKIPPED, 0] = bits(scale), skipped, skipped
            record.updates += 1 - skipped
            scaler.step(opt)
            scaler.update()
            if scheduler:
                scheduler.step()
            opt.zero_grad()
            v[LOSS, 0] = bits(sum(l for l, _ in window) / len(window))
            for k, (l, ids) in enumerate(window):
                v[LOSS_MICRO, k] = bits(l)
                record.samples[step, k] = ids.tolist()
            v[IDS, 0] = m.fingerprint([np.concatenate([ids for _, ids in window])])
            record.state(step, v)
            if c.get("eval_every") and step % c["eval_every"] == 0:
                v.update(evaluate(c, model, rank, world, autocast))
            window = []
            if step == c["steps"]:
                break
        epoch += 1
    with open(path, "wb") as f:
        pickle.dump({"steps": record.steps, "samples": record.samples, "tensors": record.tensors,
                     "model": {k: host(t) for k, t in net.state_dict().items()},
                     "lr": opt.param_groups[0]["lr"], "scaler": scaler.state_dict()}, f)


def prepare():
    """What holds for every rank; imports what torch would import in each of them at the first use."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False


def train_all(cases, folder):
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if any(c["mode"] == "ddp" for c in cases):
        dist.init_process_group("gloo")
    for k, c in enumerate(cases):
        train(c, rank, world, os.path.join(folder, f"{k}_r{rank}.pkl"))
    if dist.is_initialized():
        dist.destroy_process_group()
