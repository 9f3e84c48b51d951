"""Which modules are mutated, and which tests are their own."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from tests.mutate.trial import Target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["targets"]

_ROOMS = ("analyzer/statistics", "analyzer/detectors")


def targets(root: Path) -> Iterator[Target]:
    """Yield detectors and statistics: tests mirror a module's name, and those of a helper are its users' too."""
    for room in _ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            if path.name != "__init__.py":
                yield Target(_module(root, path), path, _tests(root, path))


def _module(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


def _tests(root: Path, path: Path) -> tuple[Path, ...]:
    folder = root / "tests" / path.relative_to(root / "analyzer").parent
    own = sorted({*folder.glob(f"test_{path.stem}.py"), *folder.glob(f"test_{path.stem}_*.py")})
    if path.parent.name != "detectors":
        return tuple(own)
    users = _users(root, _module(root, path))
    return tuple(dict.fromkeys([*own, *(test for user in users for test in _tests(root, user))]))


def _users(root: Path, module: str) -> list[Path]:
    """Return the detectors that import a helper, at first or second hand."""
    found: list[Path] = []
    waiting = [module]
    while waiting:
        name = waiting.pop()
        for path in sorted((root / "analyzer/detectors").rglob("*.py")):
            if path not in found and path.name != "__init__.py" and name in _imported(path):
                found.append(path)
                if path.parent.name == "detectors":
                    waiting.append(_module(root, path))
    return [path for path in found if path.parent.name != "detectors"]


@cache
def _imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
