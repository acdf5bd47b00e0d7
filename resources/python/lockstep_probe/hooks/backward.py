"""The tensor on which backward is called. Tensor.backward calls torch.autograd.backward, so one place sees both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session


def install(session: "Session") -> None:
    depth = 0

    def observed(original: Any) -> Any:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            nonlocal depth
            # A backward inside a backward (activation checkpointing) belongs to the outer one.
            if depth:
                return original(tensors, *args, **kwargs)
            session.before_backward(tensors)
            depth += 1
            session.in_backward = True
            try:
                original(tensors, *args, **kwargs)
            finally:
                depth -= 1
                session.in_backward = False
            session.after_backward()

        return backward

    wrap(torch.autograd, "backward", observed)
