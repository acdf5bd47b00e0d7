"""clip_grad_norm_ and clip_grad_value_: the gradient before, and the norm torch worked with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Optional

import torch
from torch.nn.utils import clip_grad

from .patching import wrap, wrap_everywhere

if TYPE_CHECKING:
    from ..session import Session

_MARK = "_lockstep_probe"


def install(session: "Session") -> None:
    def with_norm(original: Any) -> Any:
        def clip_grad_norm_(parameters: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
            parameters = _kept(parameters)
            session.gradients.before_clip([parameters] if isinstance(parameters, torch.Tensor) else parameters)
            norm = original(parameters, max_norm, *args, **kwargs)
            session.script.config["clip_norm"] = float(max_norm)
            session.gradients.after_clip(_number(norm))
            return norm

        return clip_grad_norm_

    def with_value(original: Any) -> Any:
        def clip_grad_value_(parameters: Any, clip_value: float, *args: Any, **kwargs: Any) -> Any:
            parameters = _kept(parameters)
            session.gradients.before_clip([parameters] if isinstance(parameters, torch.Tensor) else parameters)
            result = original(parameters, clip_value, *args, **kwargs)
            session.script.config["clip_value"] = float(clip_value)
            session.gradients.after_clip(None)
            return result

        return clip_grad_value_

    wrap_everywhere([clip_grad, torch.nn.utils], "clip_grad_norm_", with_norm)
    wrap_everywhere([clip_grad, torch.nn.utils], "clip_grad_value_", with_value)


def watch_sharded(session: "Session") -> None:
    """FSDP1 clips with a method of its own. The class is there only once the script has imported it."""
    module = sys.modules.get("torch.distributed.fsdp.fully_sharded_data_parallel")
    if module is None or hasattr(module.FullyShardedDataParallel.clip_grad_norm_, _MARK):
        return

    def of_model(original: Any) -> Any:
        def clip_grad_norm_(self: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
            session.gradients.before_clip(list(self.parameters()))
            norm = original(self, max_norm, *args, **kwargs)
            session.script.config["clip_norm"] = float(max_norm)
            session.gradients.after_clip(_number(norm))
            return norm

        setattr(clip_grad_norm_, _MARK, True)
        return clip_grad_norm_

    wrap(module.FullyShardedDataParallel, "clip_grad_norm_", of_model)


def _kept(parameters: Any) -> Any:
    """A generator can be read once only, and the script's call comes after ours."""
    return parameters if isinstance(parameters, torch.Tensor) else list(parameters)


def _number(norm: Any) -> Optional[float]:
    # The norm of sharded parameters is a promise of a collective; to ask for it would start one.
    return None if hasattr(norm, "_local_tensor") else float(norm)
