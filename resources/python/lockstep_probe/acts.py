"""What the script did that no number of a step shows: how its losses were scaled, whether its forward and backward passes went
through DDP and its synchronisation, and whether copies of its model move. Told as events, when it changes and not too often."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any, Optional, Sequence

import torch
from torch import nn

from .by_object import ByObject
from .draws import WATCHED_STEPS
from .samples import batch_size, leaves
from .script_facts import dataset_length

if TYPE_CHECKING:
    from .facts import Facts
    from .measure import State
    from .session import Session

_TOLD = 8  # changes of one kind that are told; what changes more often is not a matter of how the script is written
_EVALUATIONS_TOLD = 64
_TARGETS_TOLD = 1024  # they are weights of a step, and change with it
_SHAPES_WATCHED = 64  # steps
_LARGEST_STATISTIC = 1 << 20  # elements of a buffer; what is larger holds rows of something
_SEARCHES = (2, 16)  # steps after which copies of the model are looked for; asking the garbage collector takes time


def last_told(last: bool) -> dict[str, Any]:
    """What an event of a kind says of which no more are told: what comes after it is not in the record."""
    return {"last_told": True} if last else {}


class Acts:
    def __init__(self, session: "Session") -> None:
        self._s = session
        self._last: dict[str, Any] = {}
        self._times: dict[str, int] = {}
        self._calls: list[str] = []  # of wrapped models since the last backward
        self._forward: list[str] = []  # by micro-batch
        self._backward: list[str] = []
        self._evaluated: dict[int, tuple[int, int]] = {}  # by loader: samples, and those of the largest batch
        self._evaluations: list[tuple[dict[str, Any], int]] = []  # that ended, with the number of gathers before them
        self._gathers = 0
        self._gathers_before: dict[int, int] = {}  # by loader: when its evaluation began
        self._schedule_steps = 0  # the most in one step
        self._trained: list[bool] = []  # by piece
        self._copies: list[tuple[Any, int]] = []  # weak references with the last fingerprint
        self._state_print: Optional[int] = None  # of the parameters after the last step
        self._known = (0, 0)  # parameters, optimizers
        self._untrained: list[int] = []  # pieces that are no optimizer's
        self._shapes = ByObject()  # by loader: of a sample in its batches
        self._shapes_vary = False
        self._buffers: list[tuple[str, torch.Tensor]] = []  # as they were before the first step

    def pieces_went(self) -> None:
        self._known = (0, 0)

    def wrapper_called(self, wrapper: Any) -> None:
        if torch.is_grad_enabled():
            self._calls.append("sync" if wrapper.require_backward_grad_sync else "no_sync")

    def backward_begins(self, wrappers: Sequence[Any]) -> None:
        self.evaluations_over()
        if wrappers:
            self._forward.append(self._calls[-1] if self._calls else "bypassed")
            sync = any(wrapper.require_backward_grad_sync for wrapper in wrappers)
            self._backward.append("sync" if sync else "no_sync")
        self._calls.clear()

    def training_begins(self) -> None:
        self._buffers = [(name, buffer.detach().clone()) for name, buffer in self._s.layout.buffer_tensors()
                         if buffer.numel() <= _LARGEST_STATISTIC]

    def fetched(self, loader: Any, data: Any) -> None:
        """Samples whose shape is that of their batch, as padded texts, have other contents in another batch."""
        if self._shapes_vary or self._s.step >= _SHAPES_WATCHED:
            return
        shapes = [tuple(leaf.shape[1:]) for leaf in leaves(data) if isinstance(leaf, torch.Tensor) and leaf.dim() > 1]
        before = self._shapes.get(loader, None)
        if before is None:
            self._shapes.set(loader, shapes)
        elif before != shapes:
            self._shapes_vary = True
            self._s.event("shapes", {"vary": True})

    def moving_buffers(self) -> dict[str, bool]:
        """The buffers that changed since the training began, by name: whether they may be statistics of a batch, which are
        numbers that change nearly all at once. A queue takes some rows, a position or a counter is an integer."""
        before = dict(self._buffers)
        moved: dict[str, bool] = {}
        for name, buffer in self._s.layout.buffer_tensors():
            first = before.get(name)
            if first is None or first.shape != buffer.shape:
                continue
            changed = int((first != buffer).sum())
            if changed:
                moved[name] = buffer.is_floating_point() and 2 * changed > buffer.numel()
        return moved

    def step_begins(self) -> None:
        """The first backward pass of a step comes. A script that reduces by itself may have averaged the parameters."""
        s = self._s
        if s.world > 1 and s.step > 0 and self._state_print is not None and not s.wrappers and not s.layout.sharded:
            now = s.measures.parameter_print(s.layout)
            moved = now != self._state_print
            if moved != self._last.get("between", False):
                self._last["between"] = moved
                self._tell_at_most("between", {"moved": moved, "fingerprint": f"{now:016x}"}, _TARGETS_TOLD)

    def state_recorded(self, state: "State") -> None:
        self._state_print = state.fingerprint
        known = (len(self._s.layout.pieces), len(self._s.watched))
        if known != self._known:
            self._known = known
            trained = {i for _, own in self._s.watched.values() for i in own}
            self._untrained = [i for i in range(known[0]) if i not in trained]
        if state.complete and self._untrained:  # momentum encoders and other parameters that follow the trained ones
            updates = state.updates()
            moved = any(updates.get(i, 0.0) > 0 for i in self._untrained)
            self._tell("followers", {"moved": moved}, {"moved": False})

    def step_closed(self, facts: "Facts") -> None:
        micros = facts.micros
        if self._s.step == 1 and micros and not facts.reduced and not facts.skipped:
            self._s.note("A backward pass was run and no parameter of the optimizer has a gradient: they are not those of the "
                         "model that was trained. Make the optimizer from the model's parameters, after the model was wrapped.")
        self._watch_frozen()
        self._tell("loss_factors", {"factors": [micro.factors for micro in micros]},
                   {"factors": [[] for _ in micros]})
        self._tell("targets", {"counted": [micro.counts() for micro in micros]}, {"counted": [micro.size for micro in micros]},
                   _TARGETS_TOLD)
        if self._s.step <= WATCHED_STEPS and (drawn := self._s.draws.told()):
            self._s.event("draws", drawn)
        self._tell("clipped", {"scale": facts.clip_scale}, {"scale": 1.0})
        steps = self._s.script.schedule_steps()
        if self._schedule_steps < steps <= 64:  # more are those of a file
            self._schedule_steps = steps
            self._s.event("schedule", {"calls": steps})
        if self._forward:
            self._tell("reduction", {"forward": self._forward, "backward": self._backward}, {})
            self._forward, self._backward = [], []
        self._watch_copies()

    def evaluation_begins(self, loader: Any) -> None:
        self._evaluated.pop(id(loader), None)  # of a turn that was given up
        self._gathers_before[id(loader)] = self._gathers

    def gathered(self) -> None:
        self._gathers += 1

    def evaluations_over(self) -> None:
        """The training goes on: what the script does with the answers is done."""
        for detail, gathers in self._evaluations:
            self._s.event("evaluation", dict(detail, gathered=self._gathers > gathers))
        self._evaluations.clear()

    def evaluated(self, loader: Any, data: Any) -> None:
        samples, largest = self._evaluated.get(id(loader), (0, 0))
        size = batch_size(data)
        self._evaluated[id(loader)] = (samples + size, max(largest, size))

    def evaluation_ended(self, loader: Any) -> None:
        """A loader was gone through without gradients, as for a metric."""
        samples, largest = self._evaluated.pop(id(loader), (0, 0))
        times = self._times["evaluation"] = self._times.get("evaluation", 0) + 1
        size = dataset_length(loader.dataset)
        if samples and times <= _EVALUATIONS_TOLD and size is not None:
            detail = {"samples": samples, "set": size, "batch": largest, **last_told(times == _EVALUATIONS_TOLD)}
            self._evaluations.append((detail, self._gathers_before.get(id(loader), self._gathers)))

    def _tell(self, kind: str, detail: dict[str, Any], usual: dict[str, Any], most: int = _TOLD) -> None:
        """`usual`: what goes without saying; `most`: changes that are told."""
        if self._last.get(kind, usual) == detail:
            return
        self._last[kind] = detail
        self._tell_at_most(kind, detail, most)

    def _tell_at_most(self, kind: str, detail: dict[str, Any], most: int) -> None:
        times = self._times[kind] = self._times.get(kind, 0) + 1
        if times <= most:
            self._s.event(kind, dict(detail, varies=True) if times == most else detail)

    def _watch_frozen(self) -> None:
        pieces = self._s.layout.pieces
        trained = [p.tensor.requires_grad for p in pieces]
        if self._trained and trained != self._trained:
            names = [p.name for p, now, before in zip(pieces, trained, self._trained) if now and not before]
            self._times["unfreeze"] = self._times.get("unfreeze", 0) + bool(names)
            if names and self._times["unfreeze"] <= _TOLD:  # a GAN may thaw and freeze in turn
                self._s.event("unfreeze", {"parameters": names[:16], "count": len(names),
                                           **last_told(self._times["unfreeze"] == _TOLD)})
        self._trained = trained

    # Averages of the weights, target networks: modules of the trained model's form that no optimizer trains

    def _watch_copies(self) -> None:
        step = self._s.step
        if self._s.layout.sharded:
            return
        if step in _SEARCHES:
            known = {id(reference()) for reference, _ in self._copies}
            self._copies += [(weakref.ref(copy), self._print_of(copy)) for copy in self._search() if id(copy) not in known]
        elif self._copies and step & (step - 1) == 0:
            still: list[tuple[Any, int]] = []
            for reference, before in self._copies:
                copy = reference()
                if copy is not None:
                    now = self._print_of(copy)
                    still.append((reference, now))
                    self._s.event("copy", {"module": type(copy).__name__, "moved": now != before})
            self._copies = still

    def _print_of(self, module: nn.Module) -> int:
        return self._s.measures.list_print([p.detach() for p in module.parameters()])

    def _search(self) -> list[nn.Module]:
        forms = {form for model in self._s.layout.models if (form := _form(model))}
        trained = {id(piece.tensor) for piece in self._s.layout.pieces}
        modules = [item for item in gc.get_objects() if issubclass(type(item), nn.Module) and "_parameters" in item.__dict__]
        return [m for m in modules if _form(m, trained) in forms]


def _form(module: nn.Module, without: "Optional[set[int]]" = None) -> tuple[Any, ...]:
    """Shapes of the parameters by name; empty where there are none, where some are `without`, or have no values yet."""
    parameters = dict(module.named_parameters())
    if any(p.is_meta or isinstance(p, nn.parameter.UninitializedParameter) for p in parameters.values()):
        return ()
    if without and any(id(p) in without for p in parameters.values()):
        return ()
    return tuple((name[len("module."):] if name.startswith("module.") else name, tuple(p.shape))
                 for name, p in parameters.items())
