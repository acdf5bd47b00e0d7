"""Finds the modules whose parameters an optimizer trains. Scripts name them as they like, so the garbage collector is asked."""

from __future__ import annotations

import gc
from typing import Sequence

import torch
from torch import nn


def find_models(parameters: Sequence[torch.Tensor]) -> list[nn.Module]:
    """The outermost modules that hold any of these parameters, in the order of the first one they hold."""
    place = {id(parameter): i for i, parameter in enumerate(parameters)}
    holders: dict[int, nn.Module] = {}
    children: set[int] = set()
    for item in gc.get_objects():
        if not issubclass(type(item), nn.Module) or "_parameters" not in item.__dict__:
            continue
        holders[id(item)] = item
        children.update(id(child) for child in item._modules.values())
    found: list[tuple[int, int, int, nn.Module]] = []
    for order, (key, module) in enumerate(holders.items()):
        if key in children:
            continue
        held = [place[id(p)] for p in _parameters(module) if id(p) in place]
        if held:
            found.append((min(held), -len(held), order, module))
    return [module for *_, module in sorted(found, key=lambda entry: entry[:3])]


def _parameters(module: nn.Module) -> list[torch.Tensor]:
    own = list(module.parameters())
    for part in module.modules():  # FSDP1 keeps the flat parameter of use_orig_params beside the module's own
        flat = getattr(getattr(part, "_handle", None), "flat_param", None)
        if flat is not None:
            own.append(flat)
    return own
