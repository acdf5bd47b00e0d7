"""Models that the script has dropped, as one of each fold does: what the probe alone still holds of them is given back.

The probe keeps a model for as long as no other begins to train: when the garbage collector takes an object differs from rank to
rank, and what is recorded must not. The first step of the next model is the same event on every rank.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any, Optional

from .layout import GONE, Layout

class Dropped:
    """Stands between the two moments; in between nobody of the probe holds what the layout held."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._tensors = [None if piece.tensor is GONE else weakref.ref(piece.tensor) for piece in layout.pieces]
        self._models = [weakref.ref(model) for model in layout.models]
        self._buffers = [(name, weakref.ref(module), key) for name, module, key in layout.buffers]
        for piece in layout.pieces:
            piece.tensor = GONE
        layout.models, layout.buffers = [], []

    def put_back(self, collect: bool) -> set[int]:
        """Gives the layout back what is still there. Returns the pieces that went; their places stay empty."""
        if collect:
            gc.collect()  # optimizers and schedulers hold each other
        layout = self._layout
        gone: set[int] = set()
        for i, (piece, reference) in enumerate(zip(layout.pieces, self._tensors)):
            if reference is None:
                continue
            tensor: Optional[Any] = reference()
            if tensor is not None:
                piece.tensor = tensor
            else:
                piece.count, piece.share = 0, False
                gone.add(i)
        layout.models = [model for reference in self._models if (model := reference()) is not None]
        layout.buffers = [(name, module, key) for name, reference, key in self._buffers if (module := reference()) is not None]
        layout.numbered_anew()
        return gone
