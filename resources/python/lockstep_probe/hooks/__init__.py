"""The places where the probe listens. Each module has `install(session)`; the script's own calls pass through unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..options import Options
    from ..session import Session


def install(session: "Session", options: "Options") -> None:
    from . import backward, checkpoints, clipping, collectives, forward, loader, optimizers, parallel, processes, scaler

    processes.install(session, options)
    for module in (optimizers, backward, loader, forward, parallel, collectives, clipping, scaler, checkpoints):
        module.install(session)
