"""The house rules that no linter knows: finished work, our own words, nothing of one machine, empty packages."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
ROOMS = ("analyzer", "collectors", "dashboards", "deploy")
SKIPPED = frozenset({"node_modules", "__pycache__", "generated", "data", "golden"})
TEXTS = frozenset({".py", ".md", ".toml", ".yaml", ".yml", ".sh", ".lock", ".json", ".cfg", ".txt"})
OTHERS = frozenset({"Makefile", "LICENSE", ".importlinter", ".gitignore"})
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
MACHINE = re.compile(r"/(?:home|Users|root|work)/[A-Za-z.]")
REGISTRY = re.compile(r"(?:files\.pythonhosted|pypi|npmjs|artifactory|nexus)\.[a-z]+|registry\.[a-z]+\.[a-z]+")
FORBIDDEN = frozenset(
    {"issue", "problem", "info", "job", "manager", "handler", "util", "utils", "common", "base", "data"}
)
LEAST_BODY = 20
"""Nodes of a syntax tree; what is shorter is a phrase and no body."""
BRITISH = re.compile(
    r"colour|favour|behaviour|neighbour|analyse|catalogue|cancelled|centre"
    r"|(?:normal|serial|token|initial|optim|minim|maxim|recogn|organ|summar|general|capital|synchron)is(?:e|ing|ation)"
)
THE_FIELDS = frozenset({"INFO", "info", "base"})
"""Prometheus' _info and the base table are the field's words, where a name is nothing else."""


def files(*rooms: str) -> Iterator[Path]:
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*")):
            inner = path.relative_to(ROOT)
            if path.is_file() and not SKIPPED & set(inner.parts) and (path.suffix in TEXTS or path.name in OTHERS):
                yield path


def published() -> Iterator[Path]:
    yield from (path for path in ROOT.iterdir() if path.suffix in TEXTS or path.name in OTHERS)
    yield from files(*ROOMS, "docs", "tests")


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in files(*ROOMS):
        if path.suffix == ".py":
            yield path.relative_to(ROOT), ast.parse(path.read_text("utf-8"))


def found(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in published()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if (match := pattern.search(line))
    ]


def test_no_work_is_left_unfinished() -> None:
    assert found(UNFINISHED) == []


def test_nothing_is_of_one_machine() -> None:
    assert found(MACHINE) == []


def test_no_registry_is_named() -> None:
    assert found(REGISTRY) == []


def test_nothing_is_left_unimplemented() -> None:
    raised = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        and ast.unparse(node) in {"raise NotImplementedError", "raise NotImplementedError()"}
    ]
    assert raised == []


def names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield every name that a module gives; those of parameters may be another library's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_our_own_names_say_something() -> None:
    told = [str(path) for path, _ in modules() if words(path.stem) & FORBIDDEN]
    told += [
        f"{path}:{line}: {name}"
        for path, tree in modules()
        for name, line in names(tree)
        if words(name) & FORBIDDEN and name not in THE_FIELDS
    ]
    assert told == []


def test_identifiers_are_spelled_as_in_the_united_states() -> None:
    told = [f"{path}:{line}: {n}" for path, tree in modules() for n, line in names(tree) if BRITISH.search(n.lower())]
    assert told == []


@pytest.mark.parametrize("path", [path for path in files(*ROOMS) if path.name == "__init__.py"], ids=str)
def test_a_package_is_empty_or_holds_one_tuple(path: Path) -> None:
    if path.parent.name == "dynascope_sampler":
        return  # a library: its names are what it exports
    tree = ast.parse(path.read_text("utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    others = [
        node for node in tree.body if not isinstance(node, ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom)
    ]
    tuples = [node for node in assigned if isinstance(node.value, ast.Tuple)]
    assert (len(assigned), len(tuples)) in {(0, 0), (1, 1)}, path
    assert all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in others), path


def test_no_property_fails_since_the_machine_is_busy() -> None:
    assert settings().deadline is None


def test_no_two_modules_have_one_function_each() -> None:
    """But for the reader of a record, which the hot loop keeps to itself, and what an operation does to a table."""
    found: dict[tuple[str, ...], set[str]] = {}
    names: dict[tuple[str, ...], str] = {}
    for path in files(*ROOMS):
        if path.suffix != ".py":
            continue
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if sum(1 for one in body for _ in ast.walk(one)) >= LEAST_BODY:
                    same = (ast.dump(node.args), *map(ast.dump, body))
                    found.setdefault(same, set()).add(str(path.relative_to(ROOT)))
                    names[same] = node.name
    twice = {names[same]: sorted(places) for same, places in found.items() if len(places) > 1}
    assert {name: places for name, places in twice.items() if name not in {"_read", "_direction"}} == {}
