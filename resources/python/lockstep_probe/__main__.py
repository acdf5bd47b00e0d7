"""python -m lockstep_probe train.py ..."""

from __future__ import annotations

import os
import sys

from . import launch
from .options import parse


def main(arguments: "list[str]") -> None:
    options = parse(arguments)
    if options.record == "off" or not (os.environ.get("LOCKSTEP_CONNECT") or options.stream):
        launch.run_script(options)
        return
    from . import attach, recorded  # torch comes in here

    recorded.run_recorded(attach.attach(options), lambda: launch.run_script(options))


if __name__ == "__main__":
    main(sys.argv[1:])
