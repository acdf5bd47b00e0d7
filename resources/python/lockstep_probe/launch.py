"""Runs the script as python itself would: as the module __main__, with its own arguments and its folder on the path."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import CodeType, ModuleType

from .options import Options


def run_script(options: Options) -> None:
    sys.argv = [options.script, *options.arguments]
    if options.is_module:
        sys.path.insert(0, os.getcwd())
        code, module = _of_module(options.script)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.script))
        code, module = _of_file(options.script)
    # Processes that are spawned find the script by this entry, as they would without the probe.
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


def _of_file(path: str) -> tuple[CodeType, ModuleType]:
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__, __spec__=None, __cached__=None)
    return code, module


def _of_module(name: str) -> tuple[CodeType, ModuleType]:
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None or spec.loader is None or spec.origin is None:
        raise ModuleNotFoundError(f"There is no module {name} to run")
    code = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
    module = ModuleType("__main__")
    module.__dict__.update(__file__=spec.origin, __builtins__=__builtins__, __spec__=spec, __package__=spec.parent,
                           __loader__=spec.loader)
    sys.argv[0] = spec.origin
    return code, module
