"""Which script is run with which fault, and what is to be found.

`quantity` and `step`: the first difference against the script in one process, in causal order at the earliest step; None
where no series differs. `ranks_part`: the first step after which the ranks do not hold the same parameters. `cause`: the
catalogue id that the diagnosis has to name first, "" for a clean pair; several ids ("B8 C2") where the same evidence is left
by each of them. `shown_at`: the step the finding has to stand at where that is not `step`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Case:
    script: str
    fault: str = ""
    quantity: Optional[str] = None
    step: Optional[int] = None
    ranks_part: Optional[int] = None
    cause: str = ""
    quick: bool = False  # part of the default test run
    shown_at: Optional[int] = None
    options: tuple[str, ...] = ()  # of lockstep-cli probe, for both runs

    @property
    def causes(self) -> list[str]:
        return self.cause.split()

    @property
    def name(self) -> str:
        return f"{self.script}-{self.fault}" if self.fault else self.script
