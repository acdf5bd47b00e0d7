"""One rank's recording: follows the script from event to event and closes a step when its optimizers have stepped.

A step is one turn of the training loop in which every optimizer steps at most once: the usual optimizer step, and for a
GAN the steps of both. It ends when all optimizers that are in use have stepped, or when one of them steps again.

Nothing here touches what the script computes: tensors are only read, no random number is drawn, no collective is called.
"""

from __future__ import annotations

import json
import time
from array import array
from typing import Any, Callable, Optional, Sequence

import torch
from torch.utils.data import DataLoader

from . import wire
from .acts import Acts, last_told
from .batches import Batches
from .draws import WATCHED_STEPS, Draws
from .dropped import Dropped
from .environment import rank_and_world
from .facts import Facts, Micro, settle
from .find_models import find_models
from .gradients import GradientWatch
from .hooks.clipping import watch_sharded
from .layout import Layout
from .losses import constant_factors, targets_behind
from .measure import Measures
from .records import Recording
from .samples import Batch, batch_size, content_hashes
from .script_facts import ScriptFacts, dataset_length
from .stream import Stream
from .watching import watching
from .weak_list import WeakList

_LOADS_TOLD = 64
_COLLECT_AFTER = 16  # steps between two collections of garbage; a script may make a model in every step
_IDLE_STEPS = 3  # an optimizer that did not step for so long is not waited for


class Session:
    def __init__(self, stream: Stream, per_tensor: bool, open_stream: "Callable[[Session], None]") -> None:
        self.stream = stream
        self.active = True
        self.rank, self.world = rank_and_world()
        self.is_launcher = False  # starts the processes that train, and does not train itself
        self._open_stream = open_stream
        self.step = -1  # last recorded; 0 is the state before training
        self.measures = Measures(per_tensor)
        self.layout = Layout()
        self.script = ScriptFacts()
        self.recording = Recording(self)
        self.acts = Acts(self)
        self.gradients = GradientWatch(self)
        self.draws = Draws()
        self.optimizers = WeakList()
        self.wrappers = WeakList()  # DistributedDataParallel
        self.forward_hooks: list[Any] = []
        self.wrapper_hooks: list[Any] = []
        self.compiled = False
        self.notes: set[str] = set()
        self.scaled: dict[int, tuple[torch.Tensor, torch.Tensor, float]] = {}
        self.pending = Facts()  # since the last optimizer step
        self.cycle = Facts()  # up to it
        self.stepped: set[int] = set()
        self.idle: dict[int, int] = {}
        self.watched: dict[int, tuple[int, list[int]]] = {}  # by optimizer: number of parameters, their pieces
        self.steps_of: dict[int, int] = {}  # by optimizer
        self.nested: list[int] = []
        self.batches = Batches()
        self.loss_scale = 1.0
        self.in_backward = False
        self.ready_at = time.perf_counter()
        self.backwards = 0
        self.backward_begin = self.optimizer_begin = self.ready_at
        self.printed_step = -1
        self.loads = 0
        self.forgot_at = -_COLLECT_AFTER  # the step in which dropped models were looked for
        self.forward_size = 0  # samples of the last forward pass of the first step

    def announce(self) -> None:
        """Tells the host of this rank, once it is one."""
        if self.is_launcher or self.stream.is_open:
            return
        self.rank, self.world = rank_and_world()
        self._open_stream(self)

    # What the hooks report

    @watching
    def optimizer_made(self, optimizer: torch.optim.Optimizer) -> None:
        self.watched.pop(id(optimizer), None)  # of one that is no more and lay at the same place
        self.optimizers.add(optimizer)
        self.announce()

    @watching
    def fetched(self, loader: Any, data: Any, ids: "Callable[[], Optional[array[int]]]", epoch: int, seconds: float) -> None:
        self.stream.stage = wire.STAGE_FORWARD
        self.pending.seconds["data"] += seconds
        self.ready_at = time.perf_counter()
        if not torch.is_grad_enabled():
            self.acts.evaluated(loader, data)
            return
        self.acts.evaluations_over()
        numbers = ids()
        size = len(numbers) if numbers is not None else batch_size(data)
        aside = bool(self.layout.models) and not any(model.training for model in self.layout.models)
        own_iterator = type(loader).__iter__ is not DataLoader.__iter__ or id(loader) in self.batches.wrapped
        self.script.loader_used(loader)
        self.batches.add(Batch(numbers, content_hashes(self.measures, data, size), size, epoch, aside, id(loader), own_iterator))
        self.batches.seen = True
        self.acts.fetched(loader, data)
        if self.step < WATCHED_STEPS:
            self.draws.batch_came()

    @watching
    def epoch_begins(self, loader: Any, wrapped: bool) -> None:
        """`wrapped`: the iterator of another object, which may fetch ahead, goes through this loader."""
        (self.batches.wrapped.add if wrapped else self.batches.wrapped.discard)(id(loader))
        self.batches.loader_begins(id(loader))
        if not torch.is_grad_enabled():
            self.acts.evaluation_begins(loader)

    @watching
    def epoch_ended(self, loader: Any, epoch: int, base_seed: Optional[int]) -> None:
        """`base_seed`: what the loader seeded its worker processes from."""
        self.batches.loader_ended(id(loader))
        if not torch.is_grad_enabled():
            self.acts.evaluation_ended(loader)
        if torch.is_grad_enabled() and self.step > 0:
            detail: dict[str, Any] = {"epoch": epoch, "has_length": dataset_length(loader.dataset) is not None}
            if loader.num_workers and base_seed is not None:
                detail["base_seed"] = base_seed
            self.event("epoch_end", detail)

    @watching
    def forward_of(self, module: torch.nn.Module, inputs: Sequence[Any]) -> None:
        """An outermost module is called. Seen until the first step, and later where no loader gives the batches."""
        if not torch.is_grad_enabled() or not module.training:
            if not self.batches.seen:
                self.batches.clear()
            elif self.step < 1:
                self.batches.looked_at()
            return
        if not any(p.requires_grad for p in module.parameters()):
            return
        self.begin()
        self.forward_size = batch_size(inputs)
        if not self.batches.seen:
            size = self.forward_size
            self.batches.add(Batch(None, content_hashes(self.measures, inputs, size), size))

    @watching
    def before_backward(self, tensors: Any) -> None:
        self.begin()
        root = tensors if isinstance(tensors, torch.Tensor) else tensors[0] if tensors else None
        now = time.perf_counter()
        self.pending.seconds["forward"] += now - self.ready_at
        self.backward_begin = now
        self.stream.stage = wire.STAGE_BACKWARD
        if not self.pending.micros and not self.stepped:
            self.acts.step_begins()
        if self.step < WATCHED_STEPS:
            self.draws.backward_comes()
        if isinstance(root, torch.Tensor):
            self.pending.micros.append(self._micro(root))
            self.acts.backward_begins(list(self.wrappers))
        self.gradients.backward_begins()

    @watching
    def after_backward(self) -> None:
        now = time.perf_counter()
        self.pending.seconds["backward"] += now - self.backward_begin
        self.gradients.backward_ended(now)
        self.ready_at = now
        self.backwards += 1
        self.scaled.clear()

    @watching
    def inside_forward(self) -> None:
        self.script.forward_seen()

    @watching
    def wrapper_called(self, wrapper: Any) -> None:
        self.acts.wrapper_called(wrapper)

    @watching
    def loaded(self, what: str, detail: dict[str, Any]) -> None:
        """State was put into a model or an optimizer."""
        if self.loads < _LOADS_TOLD:
            self.loads += 1
            self.event("loaded", dict(detail, what=what, **last_told(self.loads == _LOADS_TOLD)))

    @watching
    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        if id(optimizer) in self.nested:
            self.nested.clear()  # its last step raised an exception and never ended
        self.nested.append(id(optimizer))
        if len(self.nested) > 1:
            return  # an optimizer inside an optimizer
        self.steps_of[id(optimizer)] = self.steps_of.get(id(optimizer), 0) + 1
        self.optimizers.add(optimizer)
        self.watch(optimizer)
        self.begin()
        if id(optimizer) in self.stepped:
            self.close()
        self._take(optimizer)
        self.cycle.rates += [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
        self.stream.stage = wire.STAGE_OPTIMIZER
        self.optimizer_begin = time.perf_counter()

    @watching
    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        if not self.nested or self.nested[-1] != id(optimizer):
            return
        self.nested.pop()
        if self.nested:
            return
        self.cycle.seconds["optimizer"] += time.perf_counter() - self.optimizer_begin
        if self.pending.micros:  # a closure ran the backward inside the step
            self._take(optimizer)
        self.stepped.add(id(optimizer))
        self.idle[id(optimizer)] = 0
        if all(id(o) in self.stepped or self.idle.get(id(o), 0) >= _IDLE_STEPS for o in self.optimizers):
            self.close()
        else:
            self.recording.keep_generators()  # the step may be closed later, and they move on

    @watching
    def skipped_step(self, optimizer: torch.optim.Optimizer) -> None:
        """The gradient scaler found an inf or NaN and did not call the optimizer."""
        self.before_step(optimizer)
        self.cycle.skipped = True
        self.after_step(optimizer)

    @watching
    def printed(self, value: float) -> None:
        """The loss as the script shows it: of the step that is being made, else of the one just made."""
        if self.pending.micros:
            self.pending.logged = value
        elif self.step > 0 and self.step != self.printed_step:
            self.recording.printed(value)
        self.printed_step = self.step

    # Steps

    def begin(self) -> None:
        """Records step 0 once: the state before training."""
        if self.step >= 0 or not self.optimizers:
            return
        for optimizer in self.optimizers:
            self.watch(optimizer)
        watch_sharded(self)
        self.step = 0
        self.recording.initial()
        self.acts.training_begins()
        self.ready_at = time.perf_counter()

    def watch(self, optimizer: torch.optim.Optimizer) -> None:
        """Makes sure that the layout holds every parameter of the optimizer."""
        known = self.watched.get(id(optimizer))
        if known and known[0] == sum(len(group["params"]) for group in optimizer.param_groups):
            return
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        missing = [p for p in parameters if not self.layout.owns(p)]
        if missing and self.step > 0:
            self._forget_dropped()
        self._add_parameters(parameters, missing)
        if missing and self.step > 0:
            self.measures.remember(self.layout)
        self.watched[id(optimizer)] = self._pieces_of(optimizer)

    def _pieces_of(self, optimizer: torch.optim.Optimizer) -> tuple[int, list[int]]:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        return len(parameters), self.layout.indices_of(parameters)

    def _forget_dropped(self) -> None:
        self.measures.let_go()
        dropped = Dropped(self.layout)
        gone = dropped.put_back(collect=self.step - self.forgot_at >= _COLLECT_AFTER)
        self.forgot_at = self.step
        if not gone:
            return
        self.measures.forget(gone)
        self.acts.pieces_went()
        known = [optimizer for optimizer in self.optimizers if id(optimizer) in self.watched]
        self.watched = {id(optimizer): self._pieces_of(optimizer) for optimizer in known}

    def _add_parameters(self, parameters: Sequence[torch.Tensor], missing: Sequence[torch.Tensor]) -> None:
        if not missing:
            return
        for model in find_models(missing):
            self.layout.add_model(model)
        for place, parameter in enumerate(parameters):
            if not self.layout.owns(parameter):
                self.layout.add_loose(f"optimizer.{place}", parameter)
        self.layout.settle(self.rank)
        for text in self.layout.notes:
            self.note(text)
        for wrapper in self.wrappers:
            self.script.parallel(wrapper)

    def close(self) -> None:
        self.step += 1
        micros = self.cycle.micros
        if len(micros) > 1 and len(micros[0].batches) == 1 and not any(micro.batches for micro in micros[1:]):
            for micro, batch in zip(micros[1:], self.batches.for_passes_without(len(micros) - 1)):
                micro.batches = [batch]
        settle(micros, self.batches.seen, self.forward_size)
        self.forward_size = 0
        self.recording.step(self.cycle)
        self.acts.step_closed(self.cycle)
        if self.step == 1:
            self.event("config", self.script.configuration(self))
            self._stop_watching_forward()
        for optimizer in self.optimizers:
            if id(optimizer) not in self.stepped:
                self.idle[id(optimizer)] = self.idle.get(id(optimizer), 0) + 1
        self.cycle = Facts()
        self.stepped.clear()
        self.stream.step = self.step
        self.stream.stage = wire.STAGE_DATA

    @watching
    def end(self, well: bool) -> None:
        """The script is over: a step whose other optimizers never came is complete now."""
        if self.stepped:
            self.close()
        self.acts.evaluations_over()
        if not well or self.is_launcher:
            return
        if self.step < 0:
            if not self.optimizers:
                self.note("The script made no optimizer, so no training step was seen. Check that this script trains by "
                          "itself, and does not only start another program that does.")
            elif not self.backwards:
                self.note("The script never called backward, so no training step was seen.")
        elif self.step == 0:
            what = "called no optimizer step" if self.backwards else "never called backward"
            self.note(f"The script {what}, so there is only the state before training.")

    # Words

    def event(self, kind: str, detail: dict[str, Any]) -> None:
        self.stream.send(wire.event(self.rank, max(0, self.step), kind, time.monotonic_ns(), json.dumps(detail)))

    def note(self, sentence: str) -> None:
        """Something people should know; said once."""
        if sentence not in self.notes:
            self.notes.add(sentence)
            self.event("note", {"sentence": sentence})

    # Inside

    def _micro(self, root: torch.Tensor) -> Micro:
        original = root
        if id(root) in self.scaled:
            _, original, self.loss_scale = self.scaled[id(root)]
        else:
            self.loss_scale = 1.0
        self.pending.scale = self.loss_scale if original is not root else None
        loss: Any = float("nan")
        if original.numel() == 1:
            loss = original.detach()
            loss = loss.item() if loss.is_cpu else loss.clone()
        batches = self.batches.take()
        node = original.grad_fn  # torch makes it anew for each who asks, unless one still has it
        factors, targets = constant_factors(original), targets_behind(original, sum(batch.size for batch in batches))
        del node
        return Micro(loss, factors, targets, batches)

    def _take(self, optimizer: torch.optim.Optimizer) -> None:
        _, pieces = self.watched[id(optimizer)]
        if self.pending.clip_called:
            self.cycle.clipped.add(self.measures.gradient(self.layout, pieces))
        if missing := self.pending.reduced.without(pieces):
            self.pending.reduced.add(self.measures.gradient(self.layout, missing))
        self.cycle.absorb(self.pending, pieces)
        left = self.pending
        self.pending = Facts()
        # Gradients of other optimizers stay for their own step.
        self.pending.local, self.pending.reduced = left.local, left.reduced

    def _stop_watching_forward(self) -> None:
        if self.batches.seen or self.compiled:
            for handle in self.forward_hooks:
                handle.remove()
            self.forward_hooks.clear()
