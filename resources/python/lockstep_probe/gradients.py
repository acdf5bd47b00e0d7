"""Gradients on their way to the optimizer: this rank's own before a reduction, what is clipped, what a scaler's factor is still
on. The optimizer's step itself is session.py's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Optional, Sequence

import torch

from .watching import watching

if TYPE_CHECKING:
    from .session import Session


class GradientWatch:
    def __init__(self, session: "Session") -> None:
        self._s = session
        self._armed = False  # hooks see the gradients of a backward that is reduced afterwards
        self._last_ready = 0.0
        self._clipped_at = -1  # backward passes before the clipping that came last

    def backward_begins(self) -> None:
        self._armed = any(getattr(w, "require_backward_grad_sync", True) for w in self._s.wrappers)

    def backward_ended(self, now: float) -> None:
        s = self._s
        if self._armed:
            if self._last_ready > s.backward_begin:
                s.pending.seconds["wait"] += now - self._last_ready
            s.script.count_reduction(s.wrappers, s.pending)
        self._armed = False

    @watching
    def ready(self, parameter: torch.Tensor) -> None:
        """Under DDP: a gradient has arrived and is not yet reduced."""
        if not self._armed:
            return
        s = self._s
        pieces = s.layout.by_tensor.get(id(parameter))
        if pieces:
            s.pending.local.add(s.measures.gradient(s.layout, pieces, 1.0 / s.loss_scale))
        self._last_ready = time.perf_counter()

    @watching
    def before_manual_reduction(self, tensor: torch.Tensor) -> None:
        """An all_reduce of the script's own is about to sum something; if it is a gradient, this is the local one."""
        s = self._s
        if s.wrappers or s.step < 0 or not tensor.numel():
            return
        storage = tensor.data_ptr()
        pieces = [i for i, p in enumerate(s.layout.pieces) if p.tensor.grad is not None and p.tensor.grad.data_ptr() == storage]
        early = [i for i in pieces if i in s.pending.reduced]
        if early:  # what was clipped was this rank's own
            s.pending.local.take(s.pending.reduced, early)
            s.pending.clip_called, s.pending.clip_norm = False, None
        pieces = s.pending.local.without(pieces)
        if pieces:
            s.pending.local.add(s.measures.gradient(s.layout, pieces, 1.0 / s.loss_scale))

    @watching
    def before_clip(self, parameters: Sequence[torch.Tensor]) -> None:
        s = self._s
        scale = s.pending.scale if s.pending.scale and not s.pending.unscaled else 1.0
        pieces = s.layout.indices_of(parameters)
        if self._clipped_at == s.backwards:  # clipped twice: the gradient is what came to the first
            pieces = s.pending.reduced.without(pieces)
        self._clipped_at = s.backwards
        s.pending.clip_scale = scale
        s.pending.reduced.add(s.measures.gradient(s.layout, pieces, 1.0 / scale))

    @watching
    def unscaled(self) -> None:
        """The gradient scaler has taken its factor out of the gradients."""
        self._s.pending.unscaled = True

    @watching
    def after_clip(self, norm: Optional[float]) -> None:
        self._s.pending.clip_called = True
        self._s.pending.clip_norm = norm
