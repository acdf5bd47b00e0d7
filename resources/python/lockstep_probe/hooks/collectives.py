"""Collectives the script calls itself: counted, and where one sums gradients, the local ones are measured before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ..facts import format_code
from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session

_NAMES = ("all_reduce", "all_gather", "all_gather_into_tensor", "broadcast", "reduce", "reduce_scatter",
          "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "gather", "scatter", "barrier")
_GATHERS = ("all_gather", "all_gather_into_tensor", "gather")


def install(session: "Session") -> None:
    if not torch.distributed.is_available():
        return

    def counted(name: str) -> Any:
        def make(original: Any) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                tensor = next((a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)), None)
                session.pending.collectives += 1
                session.script.collectives.add(name)
                if name in _GATHERS:
                    session.acts.gathered()
                if tensor is not None:
                    session.pending.collective_bytes += tensor.numel() * tensor.element_size()
                    if name == "all_reduce":
                        # Before a backward pass there are no gradients to sum: parameters, or figures to print.
                        if tensor.is_floating_point() and session.pending.micros:
                            session.pending.sums(tensor.numel(), format_code(tensor.dtype))
                        session.gradients.before_manual_reduction(tensor)
                return original(*args, **kwargs)

            return call

        return make

    def noted(original: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            session.acts.gathered()
            return original(*args, **kwargs)

        return call

    for name in _NAMES:
        wrap(torch.distributed, name, counted(name))
    for name in ("all_gather_object", "gather_object"):
        wrap(torch.distributed, name, noted)
