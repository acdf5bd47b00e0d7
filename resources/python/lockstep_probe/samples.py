"""Sample ids and content hashes of a batch as the training script gets it.

The content hash of a sample is the fingerprint of its values in the batch: its row of every tensor, the elements numbered
through from tensor to tensor, and all of what stands in its place of a list. It is the same whatever batch the sample comes
in, and on every rank.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Iterator, Optional

import torch

from .measure import Measures
from .reference import MASK


@dataclass
class Batch:
    """What was fetched for one micro-batch and is not yet trained on."""

    ids: "Optional[array[int]]"
    hashes: "array[int]" = field(default_factory=lambda: array("Q"))
    size: int = 0
    epoch: int = 0
    aside: bool = False  # fetched while the model was in evaluation mode
    source: int = 0  # the loader
    may_be_ahead: bool = False  # the loader has an iterator of its own


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor) or isinstance(value, (str, bytes)):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, (list, tuple)):
        if value and all(isinstance(item, (str, bytes, int, float)) for item in value):
            yield value
        else:
            for item in value:
                yield from leaves(item)
    elif is_dataclass(value):
        for item in fields(value):
            yield from leaves(getattr(value, item.name))
    elif hasattr(value, "__dict__"):
        for item in vars(value).values():
            if isinstance(item, torch.Tensor):
                yield item


def batch_size(data: Any) -> int:
    for leaf in leaves(data):
        if isinstance(leaf, torch.Tensor) and leaf.dim() > 0:
            return int(leaf.shape[0])
        if isinstance(leaf, list):
            return len(leaf)
    return 0


def parts(data: Any, size: int) -> Iterator[tuple[Optional[int], Any]]:
    """The leaves of a batch, each with the sample it belongs to; None: it has a row or an entry of every sample. A list of one
    mapping per sample, as detection has them, and one of tensors that are not all batches belong to the samples."""
    if isinstance(data, (list, tuple)) and len(data) == size and _by_sample(data, size):
        for i, item in enumerate(data):
            for leaf in leaves(item):
                yield i, leaf
    elif isinstance(data, (list, tuple)) and not (data and all(isinstance(item, (str, bytes, int, float)) for item in data)):
        for item in data:
            yield from parts(item, size)
    else:
        for leaf in leaves(data):
            yield None, leaf


def _by_sample(items: Any, size: int) -> bool:
    if all(isinstance(item, Mapping) for item in items):
        return True
    tensors = all(isinstance(item, torch.Tensor) and item.dim() > 0 for item in items)
    return tensors and any(item.shape[0] != size for item in items)


def content_hashes(measures: Measures, data: Any, size: int) -> "array[int]":
    """One hash per sample; empty where the batch cannot be split into `size` samples."""
    hashes = array("Q", bytes(8 * max(0, size)))
    if not hashes:
        return hashes
    place = 0
    found = False
    of_sample = [0] * size  # elements in front of the next ones of a sample's own
    for sample, leaf in parts(data, size):
        if sample is not None:
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided and leaf.numel():
                own = leaf if leaf.is_cpu and leaf.is_contiguous() else leaf.detach().cpu().contiguous()
                hashes[sample] = (hashes[sample] + measures.fast.fingerprints([own], [(1 << 40) + of_sample[sample]])[0]) & MASK
                of_sample[sample] += own.numel()
                found = True
        elif isinstance(leaf, torch.Tensor):
            if leaf.dim() == 0 or leaf.shape[0] != size or leaf.layout != torch.strided or leaf.numel() == 0:
                continue
            rows = leaf if leaf.is_cpu and leaf.is_contiguous() else leaf.detach().cpu().contiguous()
            measures.fast.rows(rows, place, hashes)
            place += rows.numel() // size
            found = True
        elif isinstance(leaf, (list, tuple)) and len(leaf) == size:
            for i, item in enumerate(leaf):
                hashes[i] = (hashes[i] + _text_print(measures, item, place)) & MASK
            place += 1
            found = True
    return hashes if found else array("Q")


def _text_print(measures: Measures, item: Any, place: int) -> int:
    data = item if isinstance(item, bytes) else str(item).encode("utf-8", "replace")
    if not data:
        return 0
    return measures.fast.fingerprints([torch.frombuffer(bytearray(data), dtype=torch.uint8)], [place << 32])[0]
