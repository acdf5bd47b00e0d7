"""The command line: our options, then the script and its own."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Optional, Sequence

from . import __version__


@dataclass
class Options:
    script: str
    is_module: bool
    arguments: list[str]
    stream: Optional[str]
    record: str
    metric: Optional[str]

    def repeated(self) -> list[str]:
        """As they are given to another rank."""
        given = ["--record", self.record]
        for name, value in (("--stream", self.stream), ("--metric", self.metric)):
            if value:
                given += [name, value]
        return given


def parse(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="python -m lockstep_probe",
        usage="python -m lockstep_probe [options] train.py [its arguments]\n"
              "       torchrun ... -m lockstep_probe [options] train.py [its arguments]",
        description="Runs a training script and records its steps. The script is not changed.")
    parser.add_argument("-m", dest="module", action="store_true", help="the script is a module, as in python -m")
    parser.add_argument("--stream", metavar="FILE", help="write the records to FILE (%%r: the rank) when lockstep-cli does "
                                                         "not listen")
    parser.add_argument("--record", choices=("off", "step", "tensor"), default=os.environ.get("LOCKSTEP_RECORD", "step"),
                        help="how much: nothing, figures of each step (default), or of each parameter as well")
    parser.add_argument("--metric", metavar="REGEX", default=os.environ.get("LOCKSTEP_METRIC"),
                        help="the loss in what the script prints, its number in parentheses: 'loss=([0-9.e+-]+)'")
    parser.add_argument("--version", action="version", version=f"lockstep_probe {__version__}")
    parser.add_argument("script", help="path of the script, or with -m a module's name")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parsed = parser.parse_args(list(arguments))
    return Options(parsed.script, parsed.module, parsed.arguments, parsed.stream, parsed.record, parsed.metric)
