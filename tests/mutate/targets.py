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
                own = _own(root, path)
                yield Target(_module(root, path), path, own, _of_users(root, path, own))


def _module(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


def _own(root: Path, path: Path) -> tuple[Path, ...]:
    """Return the tests of a module's name, and of a helper those beside them that import it."""
    folder = root / "tests" / path.relative_to(root / "analyzer").parent
    named = sorted({*folder.glob(f"test_{path.stem}.py"), *folder.glob(f"test_{path.stem}_*.py")})
    if path.parent.name != "detectors":
        return tuple(named)
    beside = [test for test in sorted(folder.glob("test_*.py")) if _module(root, path) in _imported(test)]
    return tuple(dict.fromkeys([*named, *beside]))


def _of_users(root: Path, path: Path, own: tuple[Path, ...]) -> tuple[Path, ...]:
    if path.parent.name != "detectors":
        return ()
    found = (test for user in _users(root, _module(root, path)) for test in _own(root, user))
    return tuple(test for test in dict.fromkeys(found) if test not in own)


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
