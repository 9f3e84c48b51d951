from __future__ import annotations

import ast
from pathlib import Path

import pytest

from analyzer.statistics import change_points
from tests.mutate.mutations import mutants


def names(source: str) -> list[str]:
    return [mutant.name for mutant in mutants(source)]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("a < b", ["module: a < b → a <= b"]),
        ("a >= b", ["module: a >= b → a > b"]),
        ("a == b", ["module: a == b → a != b"]),
        ("a is b", ["module: a is b → a is not b"]),
        ("a not in b", ["module: a not in b → a in b"]),
        ("a < b < c", ["module: a < b < c → a <= b < c", "module: a < b < c → a < b <= c"]),
        ("a and b", ["module: a and b → a or b"]),
        ("not a", ["module: not a → a"]),
        ("a + b", ["module: a + b → a - b"]),
        ("a ** b", ["module: a ** b → a * b"]),
        ("min(a, b)", ["module: min(a, b) → max(a, b)"]),
        ("any(a)", ["module: any(a) → all(a)"]),
        ("_LEAST = 3", ["module: _LEAST = 3 → _LEAST = 4"]),
        ("_IS = True", ["module: _IS = True → _IS = False"]),
        ("_SHARE = 0.5", ["module: _SHARE = 0.5 → _SHARE = 0.85"]),
        ("def f():\n    return a", ["f: return a → return None"]),
        ("def f():\n    return False", ["f: False → True"]),
        ("for a in b:\n    break", ["module: break → continue"]),
    ],
)
def test_every_kind_of_slip_is_made(source: str, told: list[str]) -> None:
    assert names(source) == told


def test_the_thresholds_of_a_class_are_changed_too() -> None:
    source = "class HotKey(Struct, frozen=True):\n    warm: Share = 0.5\n    seconds: Whole = 60"
    assert names(source) == [
        "HotKey: warm: Share = 0.5 → warm: Share = 0.85",
        "HotKey: seconds: Whole = 60 → seconds: Whole = 61",
    ]


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring with 3 words."""',
        "from a import b",
        "__all__ = ['a']",
        "if TYPE_CHECKING:\n    a = 1",
        "class A:\n    sight: ClassVar[int] = 3\n    horizon: ClassVar = 4",
        "def f(a: Literal[3]) -> Literal[4]:\n    return None",
        "@lru_cache(maxsize=9)\ndef f():\n    return None",
        "a = 'text' + b",
        "a = f'{b}' + c",
        "zip(a, b, strict=True)",
        "round(a, 3)",
    ],
)
def test_what_decides_nothing_is_left(source: str) -> None:
    assert names(source) == []


def test_a_mutant_says_where_it_is_and_is_the_module_with_one_change() -> None:
    source = "def f(a):\n    return a > 3\n"
    compared = next(mutants(source))
    assert (compared.scope, compared.line) == ("f", 2)
    assert [ast.unparse(mutant.tree).split("\n    ")[1] for mutant in mutants(source)] == [
        "return None",
        "return a >= 3",
        "return a > 4",
    ]


def test_those_that_read_the_same_are_numbered() -> None:
    assert names("a + b\na + b") == ["module: a + b → a - b", "module: a + b → a - b (2)"]


def test_no_explanation_stands_for_two() -> None:
    told = names(Path(change_points.__file__).read_text(encoding="utf-8"))
    assert len(told) == len(set(told)) > 90
