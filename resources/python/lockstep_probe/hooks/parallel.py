"""DistributedDataParallel: the gradients of this rank as they arrive, before the reducer takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel

from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session


def install(session: "Session") -> None:
    def made(original: Any) -> Any:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            session.wrappers.add(self)
            for parameter in self.parameters():
                if parameter.requires_grad:
                    parameter.register_post_accumulate_grad_hook(session.gradient_ready)

        return init

    wrap(DistributedDataParallel, "__init__", made)
