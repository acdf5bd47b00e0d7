"""What the script's own objects say of its configuration, in the words of RunConfig (core/config/run_config.h).

What RunConfig has no word for goes under `workload_options`, so that a comparison of two runs shows where they differ.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Optional

import torch

from .facts import format_code
from .weak_list import WeakList

if TYPE_CHECKING:
    from .facts import Facts
    from .session import Session

_OPTIMIZERS = {"SGD": "sgd", "Adam": "adam", "AdamW": "adamw"}
_SCHEDULERS = {"StepLR": "step", "CosineAnnealingLR": "cosine", "LinearLR": "warmup"}


_AUTOCAST_DEVICES = ("cpu", "cuda")


def _autocast_enabled(device: str) -> bool:
    try:
        return bool(torch.is_autocast_enabled(device))
    except TypeError:  # torch before 2.4 has a function for each device
        return bool(torch.is_autocast_cpu_enabled() if device == "cpu" else torch.is_autocast_enabled())


def _autocast_type(device: str) -> torch.dtype:
    if hasattr(torch, "get_autocast_dtype"):
        return torch.get_autocast_dtype(device)
    return torch.get_autocast_cpu_dtype() if device == "cpu" else torch.get_autocast_gpu_dtype()


def dataset_length(dataset: Any) -> Optional[int]:
    """None: a stream, or one that does not say."""
    try:
        return len(dataset)
    except (TypeError, NotImplementedError, AttributeError, RuntimeError):
        return None


def _outermost(optimizers: Iterable[torch.optim.Optimizer]) -> list[torch.optim.Optimizer]:
    """Without those that another one holds and steps, as a sharding optimizer does: their groups are parts of its own."""
    known = list(optimizers)
    held = {id(value) for optimizer in known for value in vars(optimizer).values()}
    return [optimizer for optimizer in known if id(optimizer) not in held]


def _groups(optimizers: Iterable[torch.optim.Optimizer]) -> str:
    """How the parameter groups are set, but for the learning rates, which are recorded in every step."""
    texts = []
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            settings = {key: value for key, value in group.items()
                        if key not in ("params", "lr", "initial_lr") and isinstance(value, (int, float, tuple, bool))}
            texts.append(", ".join(f"{key}={value}" for key, value in sorted(settings.items()) if value))
    return "; ".join(texts)


def _members(optimizers: Iterable[torch.optim.Optimizer]) -> str:
    """How many parameters there are by group, and how many elements."""
    texts = []
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            parameters = group["params"]
            texts.append(f"{len(parameters)} parameters of {sum(p.numel() for p in parameters)} elements")
    return "; ".join(texts)


_MOVES = ("last_epoch", "verbose", "best", "num_bad_epochs", "cooldown_counter", "T_cur")  # of a schedule, as it steps


def _schedule(scheduler: Any) -> str:
    """A schedule's parameters as it was made: periods, factors, limits."""
    settings = {key: value for key, value in vars(scheduler).items()
                if not key.startswith("_") and key not in _MOVES and isinstance(value, (int, float)) and not isinstance(value, bool)}
    milestones = getattr(scheduler, "milestones", None)
    if isinstance(milestones, dict):  # a Counter
        settings["milestones"] = sorted(milestones)
    return f"{type(scheduler).__name__}({', '.join(f'{key}={value}' for key, value in sorted(settings.items()))})"


class ScriptFacts:
    def __init__(self) -> None:
        self.loader: dict[str, Any] = {}
        self.options: dict[str, str] = {}
        self.config: dict[str, Any] = {}
        self.sharded = False
        self.collectives: set[str] = set()  # the script's own, by name
        self._sent_as = format_code(torch.float32)
        self._schedulers = WeakList()
        self._scheduled: dict[int, int] = {}  # by scheduler: how often it had stepped

    def loader_used(self, loader: Any) -> None:
        """The first loader the training takes a batch from."""
        if self.loader:
            return
        sampler = getattr(loader, "sampler", None)
        name = type(sampler).__name__
        self.loader = {"batch": loader.batch_size or 1}  # until a step shows it
        self.options["sampler"] = name
        if loader.batch_size is None:
            self.options["batch_sampler"] = type(loader.batch_sampler).__name__
        if name == "DistributedSampler":
            self.loader.update(order="aligned", shuffle=bool(sampler.shuffle), drop_last=bool(sampler.drop_last),
                               sampler_seed=int(sampler.seed))
            self.options["sampler_replicas"] = str(sampler.num_replicas)
        elif name in ("RandomSampler", "SequentialSampler"):
            self.loader.update(order="python", shuffle=name == "RandomSampler", drop_last=bool(loader.drop_last))
        if loader.num_workers:
            self.options["loader_workers"] = str(loader.num_workers)
        length = dataset_length(loader.dataset)
        self.options["dataset_length"] = "unknown" if length is None else str(length)

    def scheduler_made(self, scheduler: Any) -> None:
        name = type(scheduler).__name__
        self.config["scheduler"] = _SCHEDULERS.get(name, self.config.get("scheduler", "none"))
        self.options["scheduler"] = name
        self._schedulers.add(scheduler)

    def schedule_steps(self) -> int:
        """How often the scheduler that stepped most did so since the last call; 0 at the first."""
        most = 0
        for scheduler in self._schedulers:
            count = getattr(scheduler, "_step_count", 0)
            most = max(most, count - self._scheduled.get(id(scheduler), count))
            self._scheduled[id(scheduler)] = count
        return most

    def forward_seen(self) -> None:
        """Inside the forward of some module: the format that autocast chooses there."""
        for device in _AUTOCAST_DEVICES:
            if _autocast_enabled(device):
                self.config["amp"] = "bf16" if _autocast_type(device) == torch.bfloat16 else "fp16"

    def parallel(self, wrapper: Any) -> None:
        self.config.update(
            find_unused=bool(getattr(wrapper, "find_unused_parameters", False)),
            static_graph=bool(getattr(wrapper, "static_graph", False)),
            bucket_view=bool(getattr(wrapper, "gradient_as_bucket_view", False)),
            broadcast_buffers=bool(getattr(wrapper, "broadcast_buffers", True)))

    def communicates_by(self, hook: str) -> None:
        """DDP's buckets go through this function of torch's or of the script."""
        self.options["comm_hook"] = hook
        for word, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
            if word in hook:
                self._sent_as = format_code(dtype)

    def count_reduction(self, wrappers: Iterable[Any], facts: "Facts") -> None:
        """DDP's own all-reduces of this backward: one per bucket."""
        for wrapper in wrappers:
            buckets = self._buckets(wrapper)
            facts.collectives += len(buckets)
            facts.collective_bytes += sum(buckets)
            # A hook that sums by the script's own all_reduce was measured there.
            if buckets and (facts.summed_as is None or 4 * facts.summed < sum(buckets)):
                facts.summed_as = self._sent_as

    def _buckets(self, wrapper: Any) -> list[int]:
        try:
            data = wrapper._get_ddp_logging_data()
        except (AttributeError, RuntimeError):
            return []
        text = data.get("rebuilt_bucket_sizes") or data.get("bucket_sizes") or ""
        return [int(part) for part in str(text).split(",") if part.strip().isdigit()]

    def configuration(self, session: "Session") -> dict[str, Any]:
        optimizer = next(iter(session.optimizers))
        group = optimizer.param_groups[0]
        kind = type(optimizer).__name__
        facts: dict[str, Any] = {
            "mode": "fsdp" if session.layout.sharded else "ddp" if session.world > 1 else "single",
            "world": session.world,
            "workload": Path(sys.argv[0]).stem,
            "optimizer": _OPTIMIZERS.get(kind, kind.lower()),
            "lr": float(group.get("lr", 0.0)),
            "momentum": float(group.get("momentum", 0.0)),
            "weight_decay": float(group.get("weight_decay", 0.0)),
            "accumulate": session.recording.micro_steps,
            "threads": torch.get_num_threads(),
            "seed": torch.initial_seed(),
            "device": "cuda" if any(p.tensor.is_cuda for p in session.layout.pieces) else "cpu",
            "record": "tensor" if session.measures.per_tensor else "step",
        }
        if session.world > 1 and torch.distributed.is_initialized():
            facts["backend"] = "nccl" if "nccl" in str(torch.distributed.get_backend()) else "gloo"
        facts.update(self.loader)
        if session.recording.micro_size:  # a batch sampler of the script's own has no size to tell
            facts["batch"] = session.recording.micro_size
        facts.update(self.config)
        options = dict(self.options)
        options["script"] = os.path.basename(sys.argv[0])
        optimizers = _outermost(session.optimizers)
        options["optimizer_groups"] = _groups(optimizers)
        if not session.layout.sharded:
            options["optimizer_members"] = _members(optimizers)
        if schedule := "; ".join(_schedule(scheduler) for scheduler in self._schedulers):
            options["schedule"] = schedule
        if self.collectives:
            options["collectives"] = ",".join(sorted(self.collectives))
        if moving := session.acts.moving_buffers():
            options["moving_buffers"] = ",".join(list(moving)[:16])
            options["batch_statistics"] = "yes" if any(moving.values()) else "no"
        if len(optimizers) > 1:
            options["optimizers"] = str(len(optimizers))
        facts["workload_options"] = options
        return facts

