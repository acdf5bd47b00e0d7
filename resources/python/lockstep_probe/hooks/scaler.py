"""GradScaler: the loss before it is scaled, the scale, and steps that are skipped because of an inf or NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session


def install(session: "Session") -> None:
    scaler = getattr(torch.amp, "GradScaler", None)
    if scaler is None:  # torch before 2.3 has the one of CUDA only
        scaler = torch.cuda.amp.GradScaler

    def scaled(original: Any) -> Any:
        def scale(self: Any, outputs: Any) -> Any:
            result = original(self, outputs)
            if isinstance(outputs, torch.Tensor) and result is not outputs:
                session.scaled[id(result)] = (result, outputs, float(self.get_scale()))
                if session.compiled:  # else the forward tells
                    session.script.config.setdefault("amp", "fp16")
            return result

        return scale

    def stepped(original: Any) -> Any:
        def step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            before = session.steps_of.get(id(optimizer), 0)
            result = original(self, optimizer, *args, **kwargs)
            if self.is_enabled() and session.steps_of.get(id(optimizer), 0) == before:
                session.skipped_step(optimizer)
            return result

        return step

    def unscaled(original: Any) -> Any:
        def unscale_(self: Any, optimizer: Any) -> Any:
            result = original(self, optimizer)
            session.gradients.unscaled()
            return result

        return unscale_

    wrap(scaler, "scale", scaled)
    wrap(scaler, "unscale_", unscaled)
    wrap(scaler, "step", stepped)
