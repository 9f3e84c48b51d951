"""Filters, key conditions and projections, evaluated on items of the mirror.

What comes here was accepted by moto before, so that only valid expressions need to be understood.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from deploy.demo.emulator.store import comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["ORDERS", "Node", "matches", "parse", "parse_paths", "pick", "sort_conditions"]

_TOKEN = re.compile(r"\s*(<>|<=|>=|[<>=(),]|[#:]?[\w.\-#\[\]]+)")
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_FUNCTIONS = frozenset(
    {"begins_with", "contains", "attribute_exists", "attribute_not_exists", "attribute_type", "size"}
)
ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Comparisons of two scalar values of one type."""
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression: `kind` is an operator, a function, `path` or `value`."""

    kind: str
    parts: tuple[Node, ...] = ()
    path: Path = ()
    value: str = ""


class _Parser:
    def __init__(self, text: str, names: Mapping[str, str]) -> None:
        self._tokens = _TOKEN.findall(text)
        self._names = names
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        self._at += 1
        return str(self._tokens[self._at - 1])

    def _accept(self, word: str) -> bool:
        if self._peek().upper() != word:
            return False
        self._at += 1
        return True

    def disjunction(self) -> Node:
        parts = [self._conjunction()]
        while self._accept("OR"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Node("or", tuple(parts))

    def _conjunction(self) -> Node:
        parts = [self._negation()]
        while self._accept("AND"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else Node("and", tuple(parts))

    def _negation(self) -> Node:
        if self._accept("NOT"):
            return Node("not", (self._negation(),))
        if self._accept("("):
            inner = self.disjunction()
            self._next()
            return inner
        return self._comparison()

    def _comparison(self) -> Node:
        left = self._operand()
        if self._peek() in _COMPARISONS:
            return Node(self._next(), (left, self._operand()))
        if self._accept("BETWEEN"):
            low = self._operand()
            self._next()
            return Node("between", (left, low, self._operand()))
        if self._accept("IN"):
            return Node("in", (left, *self._arguments()))
        return left

    def _arguments(self) -> list[Node]:
        self._next()
        parts = [self._operand()]
        while self._accept(","):
            parts.append(self._operand())
        self._next()
        return parts

    def _operand(self) -> Node:
        token = self._next()
        if token in _FUNCTIONS and self._peek() == "(":
            return Node(token, tuple(self._arguments()))
        if token.startswith(":"):
            return Node("value", value=token)
        return Node("path", path=_path(token, self._names))


def _path(text: str, names: Mapping[str, str]) -> Path:
    steps = [(name, number) for name, number in _STEP.findall(text)]
    return tuple(int(number) if number else names.get(name, name) for name, number in steps)


@lru_cache(maxsize=512)
def _parse(text: str, names: tuple[tuple[str, str], ...]) -> Node:
    return _Parser(text, dict(names)).disjunction()


def parse(text: str, names: Mapping[str, str] | None) -> Node:
    """Read a condition, filter or key condition."""
    return _parse(text, tuple(sorted((names or {}).items())))


def parse_paths(text: str, names: Mapping[str, str] | None) -> tuple[Path, ...]:
    """Read a projection."""
    return tuple(_path(part.strip(), names or {}) for part in text.split(","))


def pick(item: Mapping[str, Any], paths: tuple[Path, ...]) -> dict[str, Any]:
    """Return the parts of an item that a projection names; of lists only the elements named, in order."""
    if all(len(path) == 1 for path in paths):
        return {str(path[0]): item[str(path[0])] for path in paths if path[0] in item}
    return dict(_pick({"M": item}, paths)["M"])


def _pick(value: Mapping[str, Any], paths: tuple[Path, ...]) -> dict[str, Any]:
    if any(not path for path in paths):
        return dict(value)
    if "L" in value:
        wanted = sorted({int(path[0]) for path in paths if isinstance(path[0], int) and path[0] < len(value["L"])})
        return {"L": [_pick(value["L"][i], tuple(path[1:] for path in paths if path[0] == i)) for i in wanted]}
    found = {}
    for name in dict.fromkeys(path[0] for path in paths):
        below = tuple(path[1:] for path in paths if path[0] == name)
        if name in value.get("M", {}) and any(_resolve(value["M"][name], path) is not None for path in below):
            found[str(name)] = _pick(value["M"][name], below)
    return {"M": found}


def _resolve(value: Mapping[str, Any] | None, path: Path) -> Mapping[str, Any] | None:
    for step in path:
        if value is None:
            return None
        if isinstance(step, int):
            elements = value.get("L", ())
            value = elements[step] if step < len(elements) else None
        else:
            value = value.get("M", {}).get(step)
    return value


def matches(node: Node, item: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether an item fulfils a condition."""
    kind, parts = node.kind, node.parts
    if kind in {"and", "or"}:
        return (all if kind == "and" else any)(matches(part, item, values) for part in parts)
    if kind == "not":
        return not matches(parts[0], item, values)
    operands = [_operand(part, item, values) for part in parts]
    first, *others = operands
    if kind in {"attribute_exists", "attribute_not_exists"}:
        return (first is not None) is (kind == "attribute_exists")
    if kind == "<>":
        return not _equal(first, others[0])
    if first is None or any(other is None for other in others):
        return False
    return _holds(kind, first, [other for other in others if other is not None])


def _holds(kind: str, first: Mapping[str, Any], others: list[Mapping[str, Any]]) -> bool:
    match kind:
        case "=" | "in":
            return any(_equal(first, other) for other in others)
        case "between":
            return _ordered(others[0], first, "<=") and _ordered(first, others[1], "<=")
        case "begins_with":
            return _same_type(first, others[0]) and bool(comparable(first).startswith(comparable(others[0])))
        case "contains":
            return _contains(first, others[0])
        case "attribute_type":
            return others[0].get("S") in first
    return _ordered(first, others[0], kind)


def _operand(node: Node, item: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if node.kind == "value":
        found: Mapping[str, Any] = values[node.value]
        return found
    if node.kind == "size":
        measured = _operand(node.parts[0], item, values)
        return None if measured is None else {"N": str(_size(measured))}
    return _resolve({"M": item}, node.path)


def _size(value: Mapping[str, Any]) -> int:
    kind, content = next(iter(value.items()))
    return len(comparable(value)) if kind in {"S", "B"} else len(content)


def _same_type(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return next(iter(one)) == next(iter(other))


def _equal(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    if one is None or other is None or not _same_type(one, other):
        return False
    kind = next(iter(one))
    match kind:
        case "N" | "S" | "B":
            return bool(comparable(one) == comparable(other))
        case "NS":
            return set(map(Decimal, one[kind])) == set(map(Decimal, other[kind]))
        case "SS" | "BS":
            return set(one[kind]) == set(other[kind])
    return bool(one == other)


def _ordered(one: Mapping[str, Any], other: Mapping[str, Any], order: str) -> bool:
    if not _same_type(one, other) or next(iter(one)) not in {"S", "N", "B"}:
        return False
    return bool(ORDERS[order](comparable(one), comparable(other)))


def _contains(whole: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    kind, content = next(iter(whole.items()))
    if kind in {"S", "B"}:
        return _same_type(whole, part) and comparable(part) in comparable(whole)
    if kind == "L":
        return any(_equal(element, part) for element in content)
    return kind in {"SS", "NS", "BS"} and any(_equal({kind[0]: element}, part) for element in content)


def sort_conditions(node: Node) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return a key condition as attribute → (operator, placeholders of its values)."""
    parts = node.parts if node.kind == "and" else (node,)
    found = {}
    for part in parts:
        attribute, *values = part.parts
        found[str(attribute.path[0])] = (part.kind, tuple(value.value for value in values))
    return found
