"""Which parameters there are, under which global names, and which part of each this rank holds.

The names and the order are those of the same model in one process: the wrappers of DDP, FSDP, torch.compile and activation
checkpointing leave no trace. So single, DDP and FSDP runs number the elements of the model alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Optional

import torch
from torch import nn

# Class -> the attribute under which it keeps the module it wraps.
_WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "OptimizedModule": "_orig_mod",
    "CheckpointWrapper": "_checkpoint_wrapped_module",
    "AveragedModel": "module",
}


GONE = torch.empty(0)  # in the place of a parameter that is no more


@dataclass
class Piece:
    """The elements [first, first + count) of a parameter; they lie in `tensor` from `offset` on."""

    name: str
    tensor: torch.Tensor
    numel: int  # of the whole parameter
    offset: int = 0
    count: int = 0
    first: int = 0
    base: int = 0  # elements of the parameters before this one
    share: bool = False  # other ranks hold the rest
    whole: bool = True  # `tensor` holds the parameter as it is

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """This piece of a tensor shaped like `self.tensor` (the parameter, its gradient, its state), on the CPU, contiguous."""
        if self.whole and is_plain(tensor):
            return tensor
        tensor = getattr(tensor, "_local_tensor", tensor)
        if tensor.layout != torch.strided:
            tensor = tensor.detach().coalesce().to_dense() if tensor.layout == torch.sparse_coo else tensor.detach().to_dense()
        if not tensor.is_cpu:
            tensor = tensor.detach().cpu()
        if not tensor.is_contiguous():
            tensor = tensor.detach().contiguous()
        return tensor if self.whole else tensor.detach().reshape(-1)[self.offset : self.offset + self.count]


def is_plain(tensor: torch.Tensor) -> bool:
    """Its memory can be read as it is."""
    kind = type(tensor)
    return ((kind is torch.Tensor or kind is nn.Parameter) and tensor.layout is torch.strided and tensor.is_cpu
            and tensor.is_contiguous())


def _here(tensor: torch.Tensor) -> torch.Tensor:
    """What this rank holds of it."""
    return tensor if type(tensor) is torch.Tensor else getattr(tensor, "_local_tensor", tensor)


def wrapped_child(module: nn.Module) -> Optional[str]:
    for cls in type(module).__mro__:
        if cls is nn.Module:
            return None
        if cls.__name__ in _WRAPPERS:
            return _WRAPPERS[cls.__name__]
    return None


def plain_modules(root: nn.Module, prefix: str = "", seen: Optional[set[int]] = None) -> Iterator[tuple[str, nn.Module]]:
    """Like named_modules, with names as if nothing were wrapped; prefixes end with a dot or are empty."""
    seen = set() if seen is None else seen
    if id(root) in seen:
        return
    seen.add(id(root))
    yield prefix, root
    inner = wrapped_child(root)
    for name, child in root._modules.items():
        if child is not None:
            yield from plain_modules(child, prefix if name == inner else f"{prefix}{name}.", seen)


class Layout:
    """Parameters and buffers of the models in the order in which they were found, then parameters no model owns."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.buffers: list[tuple[str, nn.Module, str]] = []  # looked up anew each time: a buffer may be replaced
        self.models: list[nn.Module] = []
        self.total = 0  # elements of all parameters
        self.sharded = False
        self.notes: list[str] = []
        self.by_tensor: dict[int, list[int]] = {}
        self._seen: set[int] = set()  # modules

    def add_model(self, model: nn.Module) -> None:
        self.models.append(model)
        prefix = "" if len(self.models) == 1 else f"model{len(self.models)}."
        flattened = _flattened_parameters(model)
        for name, module in plain_modules(model, prefix, self._seen):
            for key, parameter in module._parameters.items():
                if parameter is not None and not getattr(parameter, "_is_flat_param", False):
                    self._add(_piece_of(name + key, parameter, flattened.get(id(parameter)), self.notes))
            for key, piece in flattened.get(id(module), []):
                piece.name = name + key
                self._add(piece)
            self.buffers += [(name + key, module, key) for key, buffer in module._buffers.items() if buffer is not None]

    def add_loose(self, name: str, parameter: torch.Tensor) -> None:
        self._add(_piece_of(name, parameter, None, self.notes))

    def settle(self, rank: int) -> None:
        """Where some parameters are sharded, rank 0 speaks for those that every rank holds whole."""
        if self.sharded and rank != 0:
            for piece in self.pieces:
                if not piece.share:
                    piece.count = 0

    def numbered_anew(self) -> None:
        """After pieces or models went: those that are left keep their numbers, and the next model is the first where none is."""
        self.total = max((piece.base + piece.numel for piece in self.pieces if piece.tensor is not GONE), default=0)
        self._seen = {id(module) for model in self.models for module in model.modules()}
        self.by_tensor = {}
        for i, piece in enumerate(self.pieces):
            if piece.tensor is not GONE:
                self.by_tensor.setdefault(id(piece.tensor), []).append(i)

    def owns(self, parameter: torch.Tensor) -> bool:
        return id(parameter) in self.by_tensor

    def indices_of(self, parameters: Iterable[torch.Tensor]) -> list[int]:
        return [i for parameter in parameters for i in self.by_tensor.get(id(parameter), ())]

    def buffer_tensors(self) -> list[tuple[str, torch.Tensor]]:
        found = [(name, module._buffers.get(key)) for name, module, key in self.buffers]
        return [(name, _here(buffer)) for name, buffer in found if buffer is not None]

    def buffer_values(self) -> list[torch.Tensor]:
        found = [module._buffers.get(key) for _, module, key in self.buffers]
        return [_here(buffer) for buffer in found if buffer is not None]

    def _add(self, piece: Piece) -> None:
        known = self.by_tensor.get(id(piece.tensor))
        if known and any(self.pieces[i].name == piece.name or self.pieces[i].whole for i in known):
            return  # a parameter under two names counts once, under the first
        piece.base = self.total
        self.total += piece.numel
        self.sharded = self.sharded or piece.share
        self.by_tensor.setdefault(id(piece.tensor), []).append(len(self.pieces))
        self.pieces.append(piece)


def _piece_of(name: str, parameter: torch.Tensor, shard: Any, notes: list[str]) -> Piece:
    if shard is not None:  # FSDP1 with use_orig_params: the parameter is this rank's part
        info, numel = shard
        count = info.numel_in_shard if info.in_shard else 0
        return Piece(name, parameter, numel, 0, count, info.intra_param_start_idx or 0, share=True, whole=False)
    if hasattr(parameter, "_local_tensor"):
        return _piece_of_dtensor(name, parameter, notes)
    return Piece(name, parameter, parameter.numel(), count=parameter.numel())


def _piece_of_dtensor(name: str, parameter: Any, notes: list[str]) -> Piece:
    numel = parameter.numel()
    local = parameter._local_tensor
    mesh = parameter.device_mesh
    begin, rows = 0, parameter.shape[0] if parameter.dim() else 1
    sharded, counts_here = False, True
    for dim, placement in enumerate(parameter.placements):
        place = mesh.get_local_rank(dim)
        if placement.is_shard(0):
            sharded = True
            chunk = -(-rows // mesh.size(dim))
            begin, rows = begin + min(rows, place * chunk), max(0, min(rows, (place + 1) * chunk) - place * chunk)
        elif placement.is_replicate():
            counts_here = counts_here and place == 0
        else:
            notes.append(f"{name} is sharded as {placement}; only shards along the first dimension have a global identity, "
                         "so it is recorded as this rank's own")
            return Piece(name, parameter, local.numel(), count=local.numel(), whole=True)
    if not sharded:
        return Piece(name, parameter, numel, count=numel)
    per_row = numel // parameter.shape[0] if parameter.shape[0] else 0
    count = local.numel() if counts_here else 0
    return Piece(name, parameter, numel, 0, count, begin * per_row, share=True, whole=False)


def _flattened_parameters(model: nn.Module) -> dict[int, Any]:
    """FSDP1: by the id of a module, the parameters that were flattened out of it; by the id of an original parameter
    that FSDP keeps (use_orig_params), its shard and whole size."""
    found: dict[int, Any] = {}
    for module in model.modules():
        flat = getattr(getattr(module, "_handle", None), "flat_param", None)
        if flat is None or not hasattr(flat, "_shard_param_infos"):
            continue
        originals = getattr(flat, "_params", None)
        for i, (info, shard, numel) in enumerate(zip(flat._param_infos, flat._shard_param_infos, flat._numels)):
            if originals:
                found[id(originals[i])] = (shard, numel)
                continue
            count = shard.numel_in_shard if shard.in_shard else 0
            piece = Piece("", flat, numel, shard.offset_in_shard or 0, count, shard.intra_param_start_idx or 0,
                          share=True, whole=False)
            found.setdefault(id(info.module), []).append((info.param_name, piece))
    return found
