"""Trees back to text: as they were, and in the one canonical form that a shape is made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.requests.masking import mask_name
from analyzer.requests.tree import Action, And, Arithmetic, Between, Call, Comparison, In, Not, Or, Path, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.requests.tree import Condition, Operand

__all__ = [
    "attribute_of",
    "attributes_of",
    "canonical_condition",
    "canonical_projection",
    "canonical_update",
    "render",
    "turned",
]

_PLAIN = re.compile(r"[^\W\d]\w*")
_MOST_PLAIN_ASSIGNMENTS = 8
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def render(tree: Condition | Operand | tuple[Path, ...] | tuple[Action, ...]) -> str:
    """Write a tree in DynamoDB's syntax, with no more brackets than it needs: parsing it gives the same tree."""
    return _Exact().write(tree) if not isinstance(tree, tuple) else _render_list(tree)


def _render_list(tree: tuple[Path, ...] | tuple[Action, ...]) -> str:
    exact = _Exact()
    written: list[str] = []
    clause = ""
    for member in tree:
        if isinstance(member, Path):
            written.append(", " if written else "")
            written.append(exact.write(member))
            continue
        written.append(", " if member.clause == clause else f"{' ' if written else ''}{member.clause} ")
        clause = member.clause
        written.append(exact.action(member))
    return "".join(written)


class _Exact:
    """Writes everything as it stands."""

    def write(self, tree: Condition | Operand) -> str:
        if isinstance(tree, Path | Value | Call | Arithmetic):
            return self.operand(tree)
        return self.condition(tree)

    def operand(self, tree: Operand) -> str:
        match tree:
            case Path(steps):
                return self.path(steps)
            case Value(name):
                return self.value(name)
            case Call(function, operands):
                return f"{function}({', '.join(self.write(operand) for operand in operands)})"
        inner = self.write(tree.right)
        return (
            f"{self.write(tree.left)} {tree.operator} {f'({inner})' if isinstance(tree.right, Arithmetic) else inner}"
        )

    def condition(self, tree: Comparison | Between | In | Not | And | Or) -> str:
        match tree:
            case Comparison():
                return self.comparison(tree)
            case Between(operand, low, high):
                return f"{self.write(operand)} BETWEEN {self.write(low)} AND {self.write(high)}"
            case In(operand, choices):
                return f"{self.write(operand)} IN ({', '.join(self.ordered(self.write(c) for c in choices))})"
            case Not(condition):
                return self.negation(condition)
        return self.joined(tree)

    def path(self, steps: tuple[str, ...]) -> str:
        return "".join(s if s[0] == "[" else f".{s}" if at else s for at, s in enumerate(steps))

    def value(self, name: str) -> str:
        return name

    def ordered(self, texts: Iterable[str]) -> list[str]:
        return list(texts)

    def comparison(self, tree: Comparison) -> str:
        return f"{self.write(tree.left)} {tree.operator} {self.write(tree.right)}"

    def negation(self, condition: Condition) -> str:
        inner = self.write(condition)
        return f"NOT ({inner})" if isinstance(condition, And | Or) else f"NOT {inner}"

    def joined(self, tree: And | Or) -> str:
        word, bracketed = (" AND ", (And, Or)) if isinstance(tree, And) else (" OR ", (Or,))
        return word.join(f"({self.write(c)})" if isinstance(c, bracketed) else self.write(c) for c in tree.conditions)

    def action(self, action: Action) -> str:
        if action.operand is None:
            return self.write(action.path)
        equals = " = " if action.clause == "SET" else " "
        return f"{self.write(action.path)}{equals}{self.write(action.operand)}"


class _Canonical(_Exact):
    """Writes what two requests of one shape have in common: no values, operands of AND and OR in order and once."""

    def path(self, steps: tuple[str, ...]) -> str:
        return super().path(
            tuple(
                "[*]" if step[0] == "[" else _spelled(_name(step, is_nested=position > 0))
                for position, step in enumerate(steps)
            )
        )

    def value(self, name: str) -> str:
        del name
        return "?"

    def ordered(self, texts: Iterable[str]) -> list[str]:
        return sorted(set(texts))

    def comparison(self, tree: Comparison) -> str:
        tree = turned(tree)
        if tree.operator in {"=", "<>"} and not isinstance(tree.right, Value):
            return f" {tree.operator} ".join(sorted((self.write(tree.left), self.write(tree.right))))
        return super().comparison(tree)

    def negation(self, condition: Condition) -> str:
        return self.write(condition.condition) if isinstance(condition, Not) else super().negation(condition)

    def joined(self, tree: And | Or) -> str:
        members = list(_flattened(tree.conditions, type(tree)))
        texts = sorted({self.write(member): member for member in members}.items(), key=lambda item: item[0])
        if len(texts) == 1 or isinstance(tree, Or):
            return " OR ".join(text for text, _ in texts)
        return " AND ".join(f"({t})" if isinstance(member, Or) and " OR " in t else t for t, member in texts)


def _bare(condition: Condition) -> Condition:
    """Take double negations off."""
    while isinstance(condition, Not) and isinstance(condition.condition, Not):
        condition = condition.condition.condition
    return condition


def _flattened(conditions: tuple[Condition, ...], kind: type[And | Or]) -> Iterable[Condition]:
    for condition in conditions:
        bare = _bare(condition)
        if isinstance(bare, kind):
            yield from _flattened(bare.conditions, kind)
        else:
            yield bare


def turned(tree: Comparison) -> Comparison:
    """Put the attribute left of the value."""
    if isinstance(tree.left, Value) and not isinstance(tree.right, Value):
        return Comparison(tree.right, _MIRRORED[tree.operator], tree.left)
    return tree


def _name(step: str, *, is_nested: bool = False) -> str:
    if step[0] == "#":
        return "#"
    name = step[1:-1].replace('""', '"') if step[0] == '"' else step
    return mask_name(name, is_nested=is_nested)


def _spelled(name: str) -> str:
    if _PLAIN.fullmatch(name) or name in {"*", "#"}:
        return name
    return '"' + name.replace('"', '""') + '"'


def attribute_of(operand: Operand) -> str | None:
    """Return the attribute that a path of one step names; None for any other operand."""
    if not isinstance(operand, Path) or len(operand.steps) > 1 or operand.steps[0][0] == "#":
        return None
    step = operand.steps[0]
    return step[1:-1].replace('""', '"') if step[0] == '"' else step


def attributes_of(tree: Condition | Operand) -> frozenset[str]:
    """Return the top-level attributes that a tree looks at."""
    if isinstance(tree, Path):
        return frozenset() if tree.steps[0][0] == "#" else frozenset({_name(tree.steps[0])})
    found: set[str] = set()
    for field in tree.__struct_fields__:
        held = getattr(tree, field)
        for member in held if isinstance(held, tuple) else (held,):
            if isinstance(member, Struct):  # all that a tree holds beside text
                found |= attributes_of(member)  # type: ignore[arg-type]
    return frozenset(found)


_CANONICAL = _Canonical()


def canonical_condition(tree: Condition) -> str:
    """Write a condition or filter in canonical form."""
    return _CANONICAL.write(tree)


def canonical_projection(paths: Iterable[Path]) -> tuple[str, ...]:
    """Write the paths of a projection in order, each once."""
    return tuple(sorted({_CANONICAL.write(path) for path in paths}))


def canonical_update(actions: Iterable[Action]) -> str:
    """Write an update in canonical form; many plain assignments become `* = ?`, or each set of fields were a shape."""
    clauses: dict[str, set[str]] = {"SET": set(), "REMOVE": set(), "ADD": set(), "DELETE": set()}
    for action in actions:
        clauses[action.clause].add(_CANONICAL.action(action))
    plain = {text for text in clauses["SET"] if text.endswith(" = ?")}
    if len(plain) > _MOST_PLAIN_ASSIGNMENTS:
        clauses["SET"] = (clauses["SET"] - plain) | {"* = ?"}
    return " ".join(f"{clause} {', '.join(sorted(texts))}" for clause, texts in clauses.items() if texts)
