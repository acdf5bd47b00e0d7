"""Turns what a step gathered into records and sends them."""

from __future__ import annotations

import math
import time
from array import array
from typing import TYPE_CHECKING

import torch

from . import quantity as q
from . import wire
from .facts import Facts
from .gradient_sums import Gradient, in_order
from .measure import State

if TYPE_CHECKING:
    from .session import Session


class Recording:
    def __init__(self, session: "Session") -> None:
        self._s = session
        self._samples_seen = 0
        self._tokens_seen = 0
        self._epoch = 0
        self.micro_steps = 1  # of the last step
        self.micro_size = 0  # samples of its first micro-batch
        self._closed_at = time.perf_counter()
        self._generators: list[torch.Tensor] = []

    def initial(self) -> None:
        values = wire.StepValues()
        self._state(values)
        self._s.stream.send(wire.step(self._s.rank, 0, values))
        self._closed_at = time.perf_counter()

    def step(self, facts: Facts) -> None:
        s = self._s
        values = wire.StepValues()
        self._position(values, facts)
        self._times(values, facts)
        self._losses(values, facts)
        for group, rate in enumerate(facts.rates):
            values.real(q.LEARNING_RATE, rate, group)
        self._gradients(values, facts)
        if s.world > 1:
            values.integer(q.COLLECTIVE_COUNT, facts.collectives)
            values.integer(q.COLLECTIVE_BYTES, facts.collective_bytes)
            if facts.summed_as is not None:
                values.integer(q.COLLECTIVE_DTYPE, facts.summed_as)
        if facts.scale is not None:
            values.real(q.SCALER_SCALE, facts.scale)
            values.integer(q.FOUND_INF, int(facts.skipped))
            values.integer(q.STEP_SKIPPED, int(facts.skipped))
        state = self._state(values)
        s.acts.state_recorded(state)
        self._samples(values, facts)
        if s.measures.per_tensor:
            self._tensors(facts, state)
        # The step's own record comes last: who has it has the rest of the step, too.
        s.stream.send(wire.step(s.rank, s.step, values))

    def keep_generators(self) -> None:
        self._generators = _generators()

    def printed(self, value: float) -> None:
        """Comes after the step's own record: a series of its own may lag behind."""
        values = wire.StepValues()
        values.real(q.LOSS_LOGGED, value)
        self._s.stream.send(wire.step(self._s.rank, self._s.step, values))

    # The parts of a step

    def _position(self, values: wire.StepValues, facts: Facts) -> None:
        for micro in facts.micros:
            self._samples_seen += micro.size
            self._tokens_seen += micro.tokens
            for batch in micro.batches:
                self._epoch = batch.epoch
        self.micro_steps = max(1, len(facts.micros))
        self.micro_size = facts.micros[0].size if facts.micros else 0
        values.integer(q.EPOCH, self._epoch)
        values.integer(q.MICRO_STEPS, len(facts.micros))
        values.integer(q.SAMPLES_SEEN, self._samples_seen * self._s.world)
        if self._tokens_seen:
            values.integer(q.TOKENS_SEEN, self._tokens_seen * self._s.world)

    def _times(self, values: wire.StepValues, facts: Facts) -> None:
        now = time.perf_counter()
        for quantity, key in ((q.TIME_DATA, "data"), (q.TIME_FORWARD, "forward"), (q.TIME_BACKWARD, "backward"),
                              (q.TIME_WAIT, "wait"), (q.TIME_OPTIMIZER, "optimizer")):
            values.real(quantity, facts.seconds[key])
        values.real(q.TIME_STEP, now - self._closed_at)
        self._closed_at = now

    def _losses(self, values: wire.StepValues, facts: Facts) -> None:
        losses = [micro.value() for micro in facts.micros]
        tokens = [micro.tokens for micro in facts.micros]
        for index, (micro, loss) in enumerate(zip(facts.micros, losses)):
            values.real(q.LOSS_MICRO, loss, index)
            values.integer(q.SAMPLES, micro.size, index)
            if micro.tokens:
                values.integer(q.TOKENS, micro.tokens, index)
        if losses and all(tokens):  # the mean over all tokens
            values.real(q.LOSS, in_order([loss * n for loss, n in zip(losses, tokens)]) / sum(tokens))
        elif losses:
            values.real(q.LOSS, in_order(losses) / len(losses))
        if facts.logged is not None:
            values.real(q.LOSS_LOGGED, facts.logged)

    def _gradients(self, values: wire.StepValues, facts: Facts) -> None:
        share = q.SHARE if self._s.layout.sharded else 0
        own = self._own_gradient(facts)
        if not share and own:
            self._gradient(values, own, q.GRAD_NORM_LOCAL, q.GRAD_PROJ_LOCAL, 0)
        if share or facts.reduced:
            self._gradient(values, facts.reduced, q.GRAD_NORM, q.GRAD_PROJ, share)
        if facts.clip_called:
            if facts.clipped:
                values.real(q.GRAD_NORM_CLIPPED, facts.clipped.norm(), share)
            if facts.clip_norm is not None:
                values.real(q.CLIP_NORM_TORCH, facts.clip_norm)

    def _own_gradient(self, facts: Facts) -> Gradient:
        """Before the reduction; empty where the script reduced it in a way that was not seen. Without a reduction it is the
        gradient."""
        if facts.local:
            return facts.local
        if self._s.world == 1:
            return facts.reduced
        elements = sum(self._s.layout.pieces[i].count for i in facts.reduced.squares)
        return Gradient() if facts.summed >= elements else facts.reduced

    @staticmethod
    def _gradient(values: wire.StepValues, gradient: Gradient, norm: int, projection: int, share: int) -> None:
        values.real(norm, gradient.norm(), share)
        values.reals(projection, gradient.projection(), share)

    def _state(self, values: wire.StepValues) -> State:
        s = self._s
        share = q.SHARE if s.layout.sharded else 0
        state = s.measures.state(s.layout)
        if state.complete:
            values.real(q.UPDATE_NORM, math.sqrt(state.moved), share)
        values.bits(q.PARAM_FINGERPRINT, state.fingerprint, share)
        values.bits(q.OPTIMIZER_FINGERPRINT, s.measures.optimizer_print(s.layout, list(s.optimizers), s.rank == 0), share)
        values.bits(q.BUFFER_FINGERPRINT, s.measures.buffers_print(s.layout.buffer_values()))
        generators = self._generators or _generators()
        self._generators = []
        for quantity, generator in zip((q.RNG_CPU, q.RNG_CUDA), generators):
            values.bits(quantity, s.measures.fast.fingerprint(generator))
        values.integer(q.OPTIMIZER_STEP, self._optimizer_step())
        return state

    def _optimizer_step(self) -> int:
        """The counter in the state of the first parameter that has one, of an optimizer that has just stepped."""
        stepped = [optimizer for optimizer in self._s.optimizers if id(optimizer) in self._s.stepped]
        for optimizer in stepped or self._s.optimizers:
            for state in optimizer.state.values():
                step = state.get("step") if isinstance(state, dict) else None
                if step is not None:
                    return int(step)
                break
        return max(0, self._s.step)

    def _samples(self, values: wire.StepValues, facts: Facts) -> None:
        s = self._s
        all_have_ids = True
        ids, hashes = array("q"), array("Q")  # of the step
        for index, micro in enumerate(facts.micros):
            own, contents = array("q"), array("Q")
            for batch in micro.batches:
                if batch.ids is None:
                    all_have_ids = False
                else:
                    own += batch.ids
                contents += batch.hashes
            if own or contents:
                s.stream.send(wire.samples(s.rank, s.step, index, self._epoch, own, contents))
            ids += own
            hashes += contents
        if ids and all_have_ids:
            values.bits(q.SAMPLE_IDS, s.measures.fast.words_print(ids))
        if hashes:
            values.bits(q.SAMPLE_CONTENT, s.measures.fast.words_print(hashes))

    def _tensors(self, facts: Facts, state: State) -> None:
        s = self._s
        updates = state.updates() if state.complete else {}
        norms = s.measures.norms(s.layout)
        local = self._own_gradient(facts)
        for i, piece in enumerate(s.layout.pieces):
            if piece.count == 0 and not piece.share:
                continue
            has = wire.HAS_STATE | (wire.HAS_SHARE if s.layout.sharded else 0)
            has |= (wire.HAS_LOCAL if i in local.squares and not s.layout.sharded else 0)
            has |= (wire.HAS_REDUCED if i in facts.reduced.squares else 0) | (wire.HAS_UPDATE if updates else 0)
            s.stream.send(wire.tensor(
                s.rank, s.step, piece.name, False, has,
                math.sqrt(local.squares.get(i, 0.0)), local.prints.get(i, 0),
                math.sqrt(facts.reduced.squares.get(i, 0.0)), facts.reduced.prints.get(i, 0),
                math.sqrt(updates.get(i, 0.0)), math.sqrt(norms.get(i, 0.0)), state.prints.get(i, 0)))
        for name, buffer in s.layout.buffer_tensors():
            norm, fingerprint = s.measures.tensor_figures(buffer)
            s.stream.send(wire.tensor(s.rank, s.step, name, True, wire.HAS_STATE, state_norm=norm, state_print=fingerprint))


def _generators() -> list[torch.Tensor]:
    """States of the default generators: CPU, and the current GPU where one is in use."""
    states = [torch.default_generator.get_state()]
    if torch.cuda.is_initialized():
        states.append(torch.cuda.get_rng_state())
    return states
