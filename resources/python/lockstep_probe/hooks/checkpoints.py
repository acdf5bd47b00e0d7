"""torch.save, torch.load and load_state_dict: which files, and what a tolerant load left out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch

from .patching import wrap

if TYPE_CHECKING:
    from ..session import Session


def install(session: "Session") -> None:
    def saved(original: Any) -> Any:
        def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(obj, f, *args, **kwargs)
            if isinstance(f, (str, os.PathLike)):
                path = os.path.abspath(f)
                session.event("checkpoint", {"path": path, "bytes": os.path.getsize(path) if os.path.exists(path) else 0})
            return result

        return save

    def loaded(original: Any) -> Any:
        def load(f: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(f, *args, **kwargs)
            if isinstance(f, (str, os.PathLike)):
                session.event("resume", {"path": os.path.abspath(f)})
            return result

        return load

    def taken(original: Any) -> Any:
        def load_state_dict(self: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, state_dict, *args, **kwargs)
            session.loaded("model", {"tensors": len(state_dict)})
            missing, unexpected = list(result.missing_keys), list(result.unexpected_keys)
            if missing or unexpected:
                session.note(_partial_load(type(self).__name__, missing, unexpected))
                if unexpected and not set(state_dict) - set(unexpected):
                    session.event("nothing_loaded", {"missing": missing[0] if missing else "", "unexpected": unexpected[0]})
            return result

        return load_state_dict

    def optimizer_taken(original: Any) -> Any:
        def load_state_dict(self: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, state_dict, *args, **kwargs)
            session.loaded("optimizer", {"states": len(self.state)})
            return result

        return load_state_dict

    wrap(torch, "save", saved)
    wrap(torch, "load", loaded)
    wrap(torch.nn.Module, "load_state_dict", taken)
    wrap(torch.optim.Optimizer, "load_state_dict", optimizer_taken)


def _partial_load(model: str, missing: list[str], unexpected: list[str]) -> str:
    text = (f"load_state_dict(strict=False) left {len(missing)} tensors of {model} as they were and ignored "
            f"{len(unexpected)} of the file")
    if unexpected and missing:
        text += f", for example {missing[0]} and {unexpected[0]}"
        prefix = unexpected[0][: -len(missing[0])] if unexpected[0].endswith(missing[0]) else ""
        if prefix:
            return text + f". The keys differ by the prefix \"{prefix}\": nothing was loaded. Remove the prefix and load with strict=True."
    return text + ". Load with strict=True to see every key."
