"""What one step gathers until it is recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import torch

from .measure import Gradient
from .samples import Batch


@dataclass
class Micro:
    """One backward pass."""

    loss: Any  # a float, or a detached tensor on a GPU that is read when the step is recorded
    factor: float = 1.0  # what the script multiplied the loss by
    tokens: int = 0
    batches: list[Batch] = field(default_factory=list)
    size: int = 0  # samples, also where no loader gave them

    def value(self) -> float:
        """The loss itself, without the factor."""
        return (float(self.loss) if isinstance(self.loss, torch.Tensor) else self.loss) / self.factor


@dataclass
class Facts:
    micros: list[Micro] = field(default_factory=list)
    local: Gradient = field(default_factory=Gradient)
    reduced: Gradient = field(default_factory=Gradient)
    clipped: Gradient = field(default_factory=Gradient)
    clip_called: bool = False
    clip_norm: Optional[float] = None
    rates: list[float] = field(default_factory=list)
    scale: Optional[float] = None
    found_inf: bool = False
    skipped: bool = False
    collectives: int = 0
    collective_bytes: int = 0
    logged: Optional[float] = None
    seconds: dict[str, float] = field(default_factory=lambda: {"data": 0.0, "forward": 0.0, "backward": 0.0, "wait": 0.0,
                                                              "optimizer": 0.0})

    def absorb(self, later: "Facts", pieces: list[int]) -> None:
        """Takes what came after this; gradients only of these pieces."""
        self.micros += later.micros
        self.local.take(later.local, pieces)
        self.reduced.take(later.reduced, pieces)
        self.clip_called = self.clip_called or later.clip_called
        self.clip_norm = later.clip_norm if later.clip_norm is not None else self.clip_norm
        self.scale = later.scale if later.scale is not None else self.scale
        self.found_inf = self.found_inf or later.found_inf
        self.logged = later.logged if later.logged is not None else self.logged
        self.collectives += later.collectives
        self.collective_bytes += later.collective_bytes
        for key, value in later.seconds.items():
            self.seconds[key] += value
