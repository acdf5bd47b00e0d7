"""Which script is run with which fault, and what is to be found.

`quantity` and `step`: the first difference against the script in one process, in causal order at the earliest step; None for
a clean pair. `ranks_part`: the first step after which the ranks do not hold the same parameters. `cause`: the catalogue id
that a diagnosis should name first (facts of the catalogue: docs), "" where no recorded number can tell.
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

    @property
    def name(self) -> str:
        return f"{self.script}-{self.fault}" if self.fault else self.script


CASES = [
    Case("plain", quick=True),
    Case("plain", "A1", "samples", 1, cause="A1"),
    Case("plain", "A3", "sample_ids", 7, cause="A3", quick=True),
    Case("plain", "A4", "sample_ids", 1, cause="A4"),
    Case("plain", "A9", "samples", 1, cause="A9"),
    Case("plain", "A10", "sample_ids", 1, cause="A10"),
    Case("plain", "B1", "loss", 1, cause="B1"),
    Case("plain", "B2", "grad_norm", 1, cause="B2", quick=True),
    Case("plain", "B3", "grad_norm", 1, cause="B3"),
    Case("plain", "C1", "grad_norm", 3, ranks_part=3, cause="C1", quick=True),
    Case("plain", "C7", "loss", 1, ranks_part=0, cause="C7"),
    Case("plain", "D1", "lr", 1, cause="D1"),
    Case("plain", "D7", "update_norm", 1, cause="D7"),
    Case("trainer_class", quick=True),
    Case("trainer_class", "B8", "grad_norm", 4, ranks_part=4, cause="B8", quick=True),
    Case("trainer_class", "D2", "lr", 2, cause="D2"),
    Case("accumulation", quick=True),
    Case("accumulation", "B6", "grad_norm", 1, cause="B6", quick=True),
    Case("accumulation", "B7", "grad_norm", 1, ranks_part=1, cause="B7"),
    Case("amp", quick=True),
    Case("amp", "D8", "grad_norm", 5, ranks_part=5, cause="D8"),
    Case("amp", "E3", "grad_norm", 1, cause="E3"),
    Case("gan", quick=True),
    Case("gan", "B2", "grad_norm", 1, cause="B2"),
    Case("gan", "D1", "lr", 1, cause="D1"),
    Case("contrastive"),
    Case("contrastive", "B9", "grad_norm", 1, cause="B9", quick=True),
    Case("token_lm", quick=True),
    Case("token_lm", "B5", "grad_norm", 1, cause="B5", quick=True),
    Case("batchnorm_cnn"),
    Case("batchnorm_cnn", "C8", "loss", 1, cause="C8"),
    Case("batchnorm_cnn", "C9", "loss", 1, cause="C9"),
    Case("batchnorm_cnn", "D1", "lr", 1, cause="D1"),
    Case("ema"),
    Case("ema", "F8"),  # the average is kept in a dictionary of the script's own: nothing recorded shows it
    Case("ema", "D1", "lr", 1, cause="D1"),
    Case("resume"),
    Case("resume", "F5", "update_norm", 7, cause="F5", quick=True),
    Case("iterable", quick=True),
    Case("iterable", "A2", "sample_content", 1, cause="A2"),
]
