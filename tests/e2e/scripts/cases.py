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


LOSS_PRINTED = ("--metric", "loss=([0-9.]+)")

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
    Case("plain", "C7", "loss", 1, ranks_part=0, cause="C7", shown_at=0),
    Case("plain", "D1", "lr", 1, cause="D1"),
    Case("plain", "D7", "update_norm", 1, cause="D7"),
    Case("trainer_class", quick=True),
    Case("trainer_class", "B8", "grad_norm", 4, ranks_part=4, cause="B8", quick=True),
    Case("trainer_class", "D2", "lr", 2, cause="D2"),
    Case("accumulation", quick=True),
    Case("accumulation", "B6", "grad_norm", 1, cause="B6", quick=True),
    Case("accumulation", "B8", "grad_norm", 1, ranks_part=1, cause="B8"),
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
    Case("ema", "F8", cause="F8"),
    Case("ema", "D1", "lr", 1, cause="D1"),
    Case("resume"),
    Case("resume", "F5", "update_norm", 7, cause="F5", quick=True),
    Case("iterable", quick=True),
    Case("iterable", "A2", "sample_content", 1, cause="A2"),
    Case("unfreeze"),
    Case("unfreeze", "C3", "grad_norm", 1, ranks_part=1, cause="C3"),
    Case("unfreeze", "C4", "grad_norm", 5, ranks_part=5, cause="C4"),
    Case("unfreeze", "C10", "grad_norm", 1, ranks_part=1, cause="C10"),
    Case("by_hand"),
    Case("by_hand", "D3", "grad_norm", 1, cause="D3"),
    Case("by_hand", "D6", "update_norm", 1, cause="D6"),
    Case("by_hand", "D7", "grad_norm", 2, cause="D7", shown_at=1),
    Case("by_hand", "E2", cause="E2", shown_at=1),
    Case("by_hand", "B3", "grad_norm", 1, cause="B3"),
    Case("by_hand", "B2", "grad_norm", 1, cause="B2"),
    Case("by_hand", "C11", "grad_norm", 1, ranks_part=1, cause="C11"),
    Case("ragged"),
    Case("ragged", "A3", "sample_ids", 5, cause="A3"),
    Case("ragged", "A5", "samples", 4, cause="A5"),
    Case("ragged", "A6", "samples", 4, cause="A6"),
    Case("ragged", "B4", "grad_norm", 4, cause="B4"),
    Case("logged", options=LOSS_PRINTED),
    Case("logged", "B10", cause="B10", options=LOSS_PRINTED),
    Case("logged", "B11", cause="B11", options=LOSS_PRINTED),
    Case("pretrained"),
    Case("pretrained", "F1", "loss", 1, cause="F1", shown_at=0),
    Case("pretrained", "D1", "lr", 1, cause="D1"),
    Case("augmented", "", "sample_content", 1),
    Case("augmented", "A8", "sample_content", 1, cause="A8"),
    Case("augmented", "E6", "sample_content", 1, cause="E6", shown_at=0),
    Case("continued"),
    Case("continued", "F1", "loss", 1, cause="F1", shown_at=0),
    Case("continued", "F5", "update_norm", 1, cause="F5"),
    Case("continued", "F7", "sample_ids", 1, cause="F7"),
    Case("evaluated"),
    Case("evaluated", "F9", cause="F9", shown_at=3),
    Case("evaluated", "gathered"),  # the repeats of the sampler are cut off
    Case("grouped"),
    Case("grouped", "D2", "lr", 2, cause="D2"),
    Case("grouped", "rank0", "lr", 2, ranks_part=2, cause="D2"),
    Case("grouped", "D3", "grad_norm_clipped", 1, cause="D3"),
    Case("grouped", "D7", "update_norm", 1, cause="D7"),
    # The comparison weighs losses by samples, the diagnosis by the targets that count.
    Case("masked", "", "loss", 1),
    Case("masked", "B5", "loss", 1, cause="B5"),
    # Written after the rules were made, to see what they are worth: docs/measurements.md has what came out at first.
    Case("lightning_like"),
    Case("lightning_like", "B6", "grad_norm", 1, cause="B6"),
    Case("lightning_like", "D2", "lr", 2, cause="D2"),
    Case("wgan"),
    Case("wgan", "B3", "grad_norm", 1, cause="B3"),
    Case("wgan", "D1", "lr", 1, cause="D1"),
    Case("distill"),
    Case("distill", "B1", "grad_norm", 1, cause="B1"),
    Case("distill", "C1", "grad_norm", 3, ranks_part=3, cause="C1"),
    Case("tied_gpt"),
    Case("tied_gpt", "B5", "grad_norm", 1, cause="B5"),
    Case("tied_gpt", "D7", "grad_norm", 6, cause="D7", shown_at=1),
    Case("simclr"),
    Case("simclr", "B9", "grad_norm", 1, cause="B9"),
    Case("file_resume"),
    Case("file_resume", "F5", "update_norm", 7, cause="F5"),
    Case("file_resume", "F7", "sample_ids", 7, cause="F7"),
    # Adagrad turns the rounding of gradients that cancel into steps of full size: a difference correct runs have.
    Case("best_checkpoint", "", "update_norm", 1),
    Case("best_checkpoint", "B8", "update_norm", 1, ranks_part=5, cause="B8", shown_at=5),
    Case("best_checkpoint", "F2", "update_norm", 1, cause="F2", shown_at=4),
    Case("flat_buffer"),
    Case("flat_buffer", "B3", "grad_norm", 1, cause="B3"),
    Case("flat_buffer", "B8", "grad_norm", 6, ranks_part=6, cause="B8"),
    Case("quasi_newton"),
    Case("quasi_newton", "A9", "samples", 1, cause="A9"),
    Case("quasi_newton", "D1", "loss", 1, cause="D1"),
    Case("stream_workers"),
    Case("stream_workers", "A2", "sample_content", 1, cause="A2"),
    Case("stream_workers", "B2", "grad_norm", 1, cause="B2"),
    # A second set, after what the first one showed was mended.
    Case("vae", "", "loss", 1),
    Case("vae", "E6", "loss", 1, cause="E6", shown_at=0),
    Case("two_heads"),
    Case("two_heads", "B2", "grad_norm", 2, cause="B2"),
    Case("two_heads", "D2", "lr", 3, cause="D2"),
    Case("hf_like"),
    Case("hf_like", "B5", "grad_norm", 1, cause="B5"),
    Case("swa"),
    Case("swa", "F8", cause="F8"),
    Case("listing"),
    Case("listing", "A7", "sample_content", 1, cause="A7"),
    Case("listing", "A10", "sample_ids", 1, cause="A10"),
    Case("compressed"),
    Case("compressed", "E2", cause="E2", shown_at=1),
    Case("compressed", "D1", "lr", 1, cause="D1"),
    Case("triplet"),
    Case("triplet", "C7", "grad_norm", 1, ranks_part=0, cause="C7", shown_at=0),
    Case("triplet", "B1", "loss", 1, cause="B1"),
    Case("schedule_free"),
    Case("schedule_free", "B6", "grad_norm", 1, cause="B6"),
    Case("schedule_free", "B8", "grad_norm", 1, ranks_part=1, cause="B8"),
]
