"""Optimizer steps through torch's global hooks; optimizers and schedulers as they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session


def install(session: "Session") -> None:
    def before(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        session.before_step(optimizer)

    def after(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        session.after_step(optimizer)

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)

    def made(original: Any) -> Any:
        def init(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            session.optimizer_made(self)

        return init

    wrap(torch.optim.Optimizer, "__init__", made)

    def scheduled(original: Any) -> Any:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            session.script.scheduler_made(self)

        return init

    wrap(torch.optim.lr_scheduler.LRScheduler, "__init__", scheduled)
    wrap(torch.optim.lr_scheduler.ReduceLROnPlateau, "__init__", scheduled)  # does not call that of its base
