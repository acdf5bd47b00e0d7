"""What the graph behind a loss says: the factors the script put on it, and how many targets it was taken over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional

import torch

_DEPTH = 6  # nodes looked at between the loss and its loss function


def constant_factors(loss: torch.Tensor) -> list[float]:
    """What the script multiplied its loss by before it called backward, the last first: 1 / K for accumulation, W, a weight of
    the rank. Empty where there is nothing of the kind, or nothing that can be taken back."""
    factors: list[float] = []
    node, output = loss.grad_fn, loss.output_nr
    for _ in range(_DEPTH):
        name = node.name() if node is not None else ""
        if name == "_DDPSinkBackward" and output < len(node.next_functions):  # DDP hands its outputs through
            node, output = node.next_functions[output]
            continue
        if name not in ("DivBackward0", "MulBackward0"):
            break
        inputs = [entry[0] for entry in node.next_functions]
        if sum(entry is not None for entry in inputs) != 1:
            break  # a product of two results, as with a learned temperature
        first = inputs[0] is not None  # the loss is the left operand
        value = _number(getattr(node, "_saved_other" if first else "_saved_self", None))
        if value is None or (name == "DivBackward0" and not first):
            break
        factors.append(1 / value if name == "DivBackward0" and value else value)
        node, output = node.next_functions[0 if first else 1]
    product = math.prod(factors)
    return factors if product and math.isfinite(product) else []


def _number(value: Any) -> Optional[float]:
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 and value.is_cpu else None
    return float(value) if isinstance(value, (int, float)) else None


@dataclass(frozen=True)
class Targets:
    """What a cross entropy was taken over."""

    all: int
    not_ignored: Any  # their number; on a GPU a tensor that is read when the step is recorded
    summed: bool  # not averaged

    @property
    def counted(self) -> int:
        return int(self.not_ignored)


def _not(target: torch.Tensor, ignored: int) -> Any:
    """How many elements are not this one: a number, on a GPU a tensor."""
    if not target.is_cpu:
        return (target != ignored).sum()
    if target.dim() == 1 and target.numel() <= 256:  # a list is faster than two operations on a tensor
        return target.numel() - target.tolist().count(ignored)
    return int((target != ignored).sum())


def targets_behind(loss: torch.Tensor, samples: int) -> Optional[Targets]:
    """Of the cross entropy behind the loss; None where there is none within a few nodes, and where it is a mean over as many
    targets as the batch has samples (which need not be known: 0)."""
    nodes: list[Any] = [loss.grad_fn]
    added_up = False  # by the script, of the losses of all targets
    for _ in range(_DEPTH):
        following: list[Any] = []
        added_up = added_up or any(node is not None and node.name().startswith("SumBackward") for node in nodes)
        for node in nodes:
            if node is None:
                continue
            if node.name().startswith("NllLoss"):
                target = getattr(node, "_saved_target", None)
                if target is None:
                    return None
                reduction = getattr(node, "_saved_reduction", 1)
                summed = reduction == 2 or (reduction == 0 and added_up)
                ignored = getattr(node, "_saved_ignore_index", -100)
                if ignored >= 1 << 63:  # torch shows a negative one without its sign
                    ignored -= 1 << 64
                counted = _not(target, ignored)
                if not summed and target.numel() == samples and target.is_cpu and counted == samples:
                    return None
                return Targets(target.numel(), counted, summed)
            following += [entry[0] for entry in node.next_functions]
        nodes = following[:4]
    return None
