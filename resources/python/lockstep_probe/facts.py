"""What one step gathers until it is recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Optional

import torch

from .losses import Targets
from .gradient_sums import Gradient
from .samples import Batch


_FORMATS = {torch.float16: 5, torch.float32: 6, torch.float64: 7, torch.bfloat16: 15}  # c10::ScalarType


def format_code(dtype: torch.dtype) -> Optional[int]:
    return _FORMATS.get(dtype)


@dataclass
class Micro:
    """One backward pass."""

    loss: Any  # a float, or a detached tensor on a GPU that is read when the step is recorded
    factors: list[float] = field(default_factory=list)  # what the script multiplied the loss by
    targets: Optional[Targets] = None
    batches: list[Batch] = field(default_factory=list)
    size: int = 0  # samples, also where no loader gave them
    tokens: int = 0
    divisor: float = 1.0  # what takes the factors back

    def settle(self, loaders: bool) -> None:
        """Once it is known which batches are its own. `loaders`: batches come from loaders, so that a pass without one uses
        samples of another pass."""
        self.size = sum(batch.size for batch in self.batches)
        self.divisor = math.prod(self.factors)
        if self.targets is None:
            return
        if (self.size or not loaders) and self.targets.all > self.size:
            self.tokens = self.targets.counted
        # A sum that the script divides by a number of targets is a mean with a weight: its own targets in those of all, of
        # however many micro-batches. A weight far above 1 is that of a sum which was divided by something else.
        weight = self.divisor * self.targets.counted
        if self.targets.summed and self.factors and 0 < weight < 5:
            self.divisor = weight
            self.factors = [weight] if abs(weight - 1) > 1e-6 else []

    def counts(self) -> int:
        """Its samples, but for those whose target does not count or that the loss does not take."""
        left = self.targets is not None and self.targets.all <= self.size and self.targets.counted < self.size
        return self.targets.counted if left and self.targets is not None else self.size

    def value(self) -> float:
        """The loss itself, without the factors."""
        value = float(self.loss) if isinstance(self.loss, torch.Tensor) else self.loss
        return value / self.divisor


def settle(micros: list[Micro], loaders: bool, forward_size: int) -> None:
    """Some scripts (accelerate's and Hugging Face's trainers among them) fetch all batches of a step before its first pass;
    others pass over batches, to go on where an earlier training ended. `forward_size`: samples of the last forward pass, where
    it was seen."""
    first = micros[0].batches if micros else []
    late = len(micros) > 1 and len(first) == len(micros) and not any(micro.batches for micro in micros[1:])
    if late and len({batch.source for batch in first}) == 1:
        for micro, batch in zip(micros, list(first)):
            micro.batches = [batch]
    for micro in micros:
        last = {batch.source: batch for batch in micro.batches}
        if loaders and len(last) == 1 and forward_size == micro.batches[-1].size:
            micro.batches = list(last.values())
        micro.settle(loaders)


@dataclass
class Facts:
    micros: list[Micro] = field(default_factory=list)
    local: Gradient = field(default_factory=Gradient)
    reduced: Gradient = field(default_factory=Gradient)
    clipped: Gradient = field(default_factory=Gradient)
    clip_called: bool = False
    clip_norm: Optional[float] = None
    unscaled: bool = False  # the scaler's factor was taken out of the gradients
    clip_scale: float = 1.0  # that was still on them when they were clipped
    rates: list[float] = field(default_factory=list)
    scale: Optional[float] = None
    found_inf: bool = False
    skipped: bool = False
    collectives: int = 0
    collective_bytes: int = 0
    summed: int = 0  # elements that all-reduces of the script's own added up
    summed_as: Optional[int] = None  # the number format of the largest, as c10 numbers them
    logged: Optional[float] = None
    seconds: dict[str, float] = field(default_factory=lambda: {"data": 0.0, "forward": 0.0, "backward": 0.0, "wait": 0.0,
                                                              "optimizer": 0.0})

    def sums(self, elements: int, code: Optional[int]) -> None:
        if elements > self.summed:  # it is larger than those before together
            self.summed_as = code
        self.summed += elements

    def absorb(self, later: "Facts", pieces: list[int]) -> None:
        """Takes what came after this; gradients only of these pieces."""
        self.micros += later.micros
        self.local.take(later.local, pieces)
        self.reduced.take(later.reduced, pieces)
        self.clip_called = self.clip_called or later.clip_called
        self.clip_norm = later.clip_norm if later.clip_norm is not None else self.clip_norm
        self.clip_scale = later.clip_scale if later.clip_scale != 1.0 else self.clip_scale
        self.scale = later.scale if later.scale is not None else self.scale
        self.found_inf = self.found_inf or later.found_inf
        self.logged = later.logged if later.logged is not None else self.logged
        self.collectives += later.collectives
        self.collective_bytes += later.collective_bytes
        self.summed += later.summed
        self.summed_as = later.summed_as if later.summed_as is not None else self.summed_as
        for key, value in later.seconds.items():
            self.seconds[key] += value
