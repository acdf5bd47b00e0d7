"""Where the streams of two runs part: the rules of core/align for runs as wholes, as far as the example scripts need them."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

from lockstep_probe import quantity as q
from stream_file import Recorded

TOLERANCE = 1e-3
Run = list[Recorded]  # by rank


def _ids(run: Run, step: int, what: str) -> Any:
    rows = [(s["micro"], rank, s[what]) for rank, r in enumerate(run) for s in r.samples if s["step"] == step]
    return [item for _, _, items in sorted(rows, key=lambda row: row[:2]) for item in items] or None


def _total(run: Run, step: int, quantity: int) -> Optional[int]:
    values = [bits for r in run for (number, _), bits in r.steps[step].items() if number == quantity]
    return sum(values) if values else None


def _mean_loss(run: Run, step: int) -> Optional[float]:
    weights = [_total([r], step, q.TOKENS) or _total([r], step, q.SAMPLES) or 1 for r in run]
    if any((q.LOSS, 0) not in r.steps[step] for r in run):
        return None
    return sum(w * r.real(step, q.LOSS) for w, r in zip(weights, run)) / sum(weights)


def _of_each_rank(quantity: int) -> Callable[[Run, int], Any]:
    """All values of a quantity that every rank should have alike."""

    def values(run: Run, step: int) -> Any:
        found = {rank: [run[rank].real(step, quantity, index) if quantity not in _WHOLE else bits
                        for (number, index), bits in run[rank].steps[step].items() if number == quantity]
                 for rank in range(len(run))}
        return found if any(found.values()) else None

    return values


_WHOLE = (q.MICRO_STEPS, q.STEP_SKIPPED)

# In causal order.
CHECKS: list[tuple[str, Callable[[Run, int], Any]]] = [
    ("micro_steps", _of_each_rank(q.MICRO_STEPS)),
    ("samples", lambda run, step: _total(run, step, q.SAMPLES)),
    ("tokens", lambda run, step: _total(run, step, q.TOKENS)),
    ("sample_ids", lambda run, step: _ids(run, step, "ids")),
    ("sample_content", lambda run, step: _ids(run, step, "hashes")),
    ("loss", _mean_loss),
    ("grad_norm", _of_each_rank(q.GRAD_NORM)),
    ("grad_norm_clipped", _of_each_rank(q.GRAD_NORM_CLIPPED)),
    ("scaler_scale", _of_each_rank(q.SCALER_SCALE)),
    ("lr", _of_each_rank(q.LEARNING_RATE)),
    ("update_norm", _of_each_rank(q.UPDATE_NORM)),
    ("step_skipped", _of_each_rank(q.STEP_SKIPPED)),
]


def _differ(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return False  # recorded by one run only
    if isinstance(a, dict):  # by rank: the one rank of a run in one process against each of the other run's
        return any(_differ(mine, other) for mine in a.values() for other in b.values())
    if isinstance(a, list) and a and isinstance(a[0], float):
        return len(a) != len(b) or any(_differ(x, y) for x, y in zip(a, b))
    if isinstance(a, float):
        if not (math.isfinite(a) and math.isfinite(b)):
            return repr(a) != repr(b)
        return abs(a - b) > TOLERANCE * max(abs(a), abs(b))
    return a != b


def first_difference(a: Run, b: Run) -> Optional[tuple[str, int]]:
    for step in range(1, min(max(a[0].steps), max(b[0].steps)) + 1):
        for name, value in CHECKS:
            if _differ(value(a, step), value(b, step)):
                return name, step
    return None


def ranks_part(run: Run) -> Optional[int]:
    """The first step after which the ranks hold different parameters."""
    for step in sorted(run[0].steps):
        if len({r.steps.get(step, {}).get((q.PARAM_FINGERPRINT, 0)) for r in run}) > 1:
            return step
    return None
