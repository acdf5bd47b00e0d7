"""DistributedDataParallel: the gradients of this rank as they arrive, before the reducer takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel

from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session


def install(session: "Session") -> None:
    def called(wrapper: torch.nn.Module, inputs: Any) -> None:
        session.wrapper_called(wrapper)

    def made(original: Any) -> Any:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            session.wrappers.add(self)
            if not session.compiled:  # hooks would change what is compiled
                session.wrapper_hooks.append(self.register_forward_pre_hook(called))
            for parameter in self.parameters():
                if parameter.requires_grad:
                    parameter.register_post_accumulate_grad_hook(session.gradients.ready)

        return init

    def hooked(original: Any) -> Any:
        def register_comm_hook(self: Any, state: Any, hook: Any, *args: Any, **kwargs: Any) -> Any:
            session.script.communicates_by(getattr(hook, "__name__", type(hook).__name__))
            return original(self, state, hook, *args, **kwargs)

        return register_comm_hook

    wrap(DistributedDataParallel, "__init__", made)
    wrap(DistributedDataParallel, "register_comm_hook", hooked)
