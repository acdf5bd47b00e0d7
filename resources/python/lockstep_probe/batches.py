"""Batches that were fetched and not yet trained on, and which of them a backward pass belongs to."""

from __future__ import annotations

from .samples import Batch


class Batches:
    def __init__(self) -> None:
        self.seen = False  # a loader gave one
        self._waiting: list[Batch] = []
        self._looked_at: list[Batch] = []
        self._ahead: dict[int, int] = {}  # by loader: how many batches it is ahead of the training
        self._ended: set[int] = set()
        self.wrapped: set[int] = set()  # loaders that another object's iterator goes through

    def add(self, batch: Batch) -> None:
        if self._looked_at:
            self._waiting = [other for other in self._waiting if not any(other is seen for seen in self._looked_at)]
            self._looked_at = []
        self._waiting.append(batch)

    def looked_at(self) -> None:
        """The model was called with the batches in evaluation mode. If the next one is fetched without a backward pass, that
        was all they were for."""
        self._looked_at = list(self._waiting)

    def clear(self) -> None:
        self._waiting.clear()

    def loader_begins(self, source: int) -> None:
        """A new turn; what the last one was ahead when the script left it was never trained on."""
        self._ended.discard(source)
        self._ahead.pop(source, None)
        self._waiting = [batch for batch in self._waiting if batch.source != source or not batch.may_be_ahead]

    def loader_ended(self, source: int) -> None:
        """What it is still ahead will be trained on; nothing follows."""
        self._ended.add(source)

    def for_passes_without(self, count: int) -> list[Batch]:
        """After the first step, where all batches of a step were fetched before its first pass: those of its other passes, which
        were taken for ones that are ahead."""
        source = self._waiting[0].source if self._waiting else 0
        if self._ahead.get(source, 0) < count or any(batch.source != source for batch in self._waiting):
            return []
        self._ahead[source] -= count
        given, self._waiting = self._waiting[:count], self._waiting[count:]
        return given

    def take(self) -> list[Batch]:
        """Those of the backward pass that begins."""
        self._looked_at = []
        if len(self._waiting) == 1 and not self._ahead.get(self._waiting[0].source, 0):  # as in most scripts
            self._ahead.setdefault(self._waiting[0].source, 0)
            taken, self._waiting = self._waiting, []
            return taken
        # A script may train in evaluation mode; then the batches of an evaluation come before the last one.
        waiting = [batch for batch in self._waiting if not batch.aside] or self._waiting[-1:]
        kept: list[Batch] = []
        for source in {batch.source for batch in waiting}:
            own = [batch for batch in waiting if batch.source == source]
            # Some loaders (accelerate's) fetch the next batch before they hand out one: seen by the first backward.
            ahead = self._ahead.setdefault(source, len(own) - 1 if own[0].may_be_ahead else 0)
            if ahead and source not in self._ended:
                kept += own[len(own) - ahead :]
            elif ahead:
                kept += own[1:]  # the last ones, one by one
        taken = [batch for batch in waiting if not any(batch is other for other in kept)]
        self._waiting = kept
        return taken
