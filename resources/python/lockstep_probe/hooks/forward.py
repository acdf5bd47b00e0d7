"""The first outermost module call: there training begins. The hooks are taken out after the first step, except where the
script makes its batches without a DataLoader. With torch.compile there are none: they would change what is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session


def install(session: "Session") -> None:
    outermost: Optional[Any] = None

    def before(module: torch.nn.Module, inputs: Any) -> None:
        nonlocal outermost
        if session.in_backward:
            return  # activation checkpointing runs parts of the forward again, and leaves them by an exception
        # Also after an exception in a forward, which has no hook: the next turn begins with a call of the same module.
        session.inside_forward()
        if outermost is None or outermost is module:
            outermost = module
            session.forward_of(module, inputs)

    def after(module: torch.nn.Module, inputs: Any, output: Any) -> None:
        nonlocal outermost
        if outermost is module:
            outermost = None

    session.forward_hooks += [register_module_forward_pre_hook(before), register_module_forward_hook(after)]

    def compiled(original: Any) -> Any:
        def compile(*args: Any, **kwargs: Any) -> Any:
            session.compiled = True
            for handle in (*session.forward_hooks, *session.wrapper_hooks):
                handle.remove()
            session.forward_hooks.clear()
            session.wrapper_hooks.clear()
            session.note("The script uses torch.compile: the forward pass is not watched, so batches that come without a "
                         "DataLoader have no content hash. Everything else is recorded.")
            return original(*args, **kwargs)

        return compile

    wrap(torch, "compile", compiled)
