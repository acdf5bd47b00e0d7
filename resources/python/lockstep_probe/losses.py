"""What the graph behind a loss says: by what it was divided for accumulation, and how many tokens it averages over."""

from __future__ import annotations

from typing import Any, Optional

import torch

_DEPTH = 6  # nodes looked at between the loss and its loss function


def scalar_divisor(loss: torch.Tensor) -> float:
    """K for `loss / K` and `loss * (1 / K)`, else 1."""
    node = loss.grad_fn
    if node is None:
        return 1.0
    name = node.name()
    if name not in ("DivBackward0", "MulBackward0"):
        return 1.0
    other = getattr(node, "_saved_other", None)
    if isinstance(other, torch.Tensor):
        if other.numel() != 1 or other.requires_grad or not other.is_cpu or other.dim() != 0:
            return 1.0
        other = other.item()
    if not isinstance(other, (int, float)) or other == 0:
        return 1.0
    return float(other) if name == "DivBackward0" else 1.0 / float(other)


def averaged_targets(loss: torch.Tensor, samples: int) -> Optional[int]:
    """Targets that count in the cross entropy behind the loss, where it has more of them than samples: tokens. None where
    there is no such cross entropy within a few nodes."""
    nodes: list[Any] = [loss.grad_fn]
    for _ in range(_DEPTH):
        following: list[Any] = []
        for node in nodes:
            if node is None:
                continue
            if node.name().startswith("NllLoss"):
                target = getattr(node, "_saved_target", None)
                if target is None or target.numel() <= samples:
                    return None
                return int((target != getattr(node, "_saved_ignore_index", -100)).sum())
            following += [entry[0] for entry in node.next_functions]
        nodes = following[:4]
    return None
