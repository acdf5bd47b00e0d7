"""What the text of the script shows and no recorded number can: on one machine RANK and LOCAL_RANK are the same."""

from __future__ import annotations

import ast
from typing import Iterator


def warnings_of(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return []
    return [f"Line {line} takes the rank from LOCAL_RANK. With more than one machine several processes get the same number: "
            "each machine's first one then acts as rank 0 and writes the same files. Use RANK, and LOCAL_RANK only to choose "
            "the device." for line in _rank_from_local_rank(tree)]


def _rank_from_local_rank(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(_is_rank(target) for target in targets) and _reads_local_rank(node.value):
                yield node.lineno
        elif isinstance(node, ast.keyword) and node.arg == "rank" and _reads_local_rank(node.value):
            yield node.value.lineno


def _is_rank(target: ast.AST) -> bool:
    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
    return name.lower() in ("rank", "global_rank")


def _reads_local_rank(value: ast.AST) -> bool:
    return any(isinstance(node, ast.Constant) and node.value == "LOCAL_RANK" for node in ast.walk(value))
