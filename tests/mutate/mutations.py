"""Small wrong changes to a module, one at a time: what a slip of the hand would make of it."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Mutant", "mutants"]

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_RECKONED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
_SHOWN_WITHIN = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Call, ast.keyword, ast.AnnAssign, ast.Assign)
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """One wrong change: `was` became `became`, in `scope` at `line`; `tree` is the module with it.

    `nth` tells those apart that read the same: an explanation stands for one of them alone.
    """

    scope: str
    line: int
    was: str
    became: str
    tree: ast.Module

    nth: int = 1

    @property
    def name(self) -> str:
        """What it is called where survivors are explained: no line number, which moves; each has its own."""
        nth = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.scope}: {self.was} → {self.became}{nth}"


class _Spot(NamedTuple):
    """A node that can be changed, and how."""

    scope: str
    path: tuple[tuple[str, int | None], ...]
    change: Callable[[ast.AST], ast.AST]


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module's source; text, annotations and imports are left as they are.

    A number is shown with what it stands in: `values ** 2 → values ** 3`.
    """
    tree = ast.parse(source)
    seen: Counter[tuple[str, str, str]] = Counter()
    for spot in _spots(tree, (), ""):
        whole, parent, place = _at(tree, spot.path)
        old = _get(parent, place)
        is_shown_within = isinstance(old, ast.Constant) and isinstance(parent, _SHOWN_WITHIN)
        was = ast.unparse(parent if is_shown_within else old)
        new = ast.fix_missing_locations(ast.copy_location(spot.change(old), old))
        _put(parent, place, new)
        told = (spot.scope or "module", was, ast.unparse(parent if is_shown_within else new))
        seen[told] += 1
        yield Mutant(told[0], getattr(old, "lineno", 0), *told[1:], whole, seen[told])


def _spots(node: ast.AST, path: tuple[tuple[str, int | None], ...], scope: str) -> Iterator[_Spot]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        scope = f"{scope}.{node.name}" if scope else node.name
    for change in _changes(node):
        yield _Spot(scope, path, change)
    for field, value in ast.iter_fields(node):
        if _is_left(node, field):
            continue
        if isinstance(value, ast.AST):
            yield from _spots(value, (*path, (field, None)), scope)
        elif isinstance(value, list):
            for position, part in enumerate(value):
                if isinstance(part, ast.AST) and not _is_inert(part) and not _is_width(node, field, position):
                    yield from _spots(part, (*path, (field, position)), scope)


def _is_left(node: ast.AST, field: str) -> bool:
    """Say whether a part decides nothing while the program runs.

    `zip(…, strict=True)` is among them: it guards against a slip of ours, and no right program ever sees it refuse.
    """
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return field in {"annotation", "returns", "decorator_list"} or (
        isinstance(node, ast.ClassDef) and field in {"bases", "keywords"}
    )


def _is_width(node: ast.AST, field: str, position: int) -> bool:
    """Say whether a part is the number of places that a number is rounded to: how it is shown, never what it is."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (node.func.id, field, position) == ("round", "args", 1)
    )


def _is_inert(node: ast.AST) -> bool:
    """Say whether a statement is a docstring, an import, the list of public names, or for type checkers alone."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case (
            ast.AnnAssign(annotation=ast.Name(id="ClassVar"))
            | ast.AnnAssign(annotation=ast.Subscript(value=ast.Name(id="ClassVar")))
        ):
            return True
    return False


def _changes(node: ast.AST) -> Iterator[Callable[[ast.AST], ast.AST]]:
    """Yield what a slip could make of one node."""
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield lambda old: _with(old, op=other)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield lambda _old: copy.copy(operand)
        case ast.BinOp(op=operator) if type(operator) in _RECKONED and not _is_text(node):
            yield lambda old: _with(old, op=_RECKONED[type(operator)]())
        case ast.Constant(value=bool() | int() | float()):
            yield lambda _old: ast.Constant(_another(node.value))
        case ast.Call(func=ast.Name(id=name)) if name in _CALLED:
            yield lambda old: _with(old, func=ast.Name(_CALLED[name], ast.Load()))
        case ast.Return(value=ast.expr() as value) if not _is_no(value):
            yield lambda _old: ast.Return(ast.Constant(None))
        case ast.Break() | ast.Continue():
            yield lambda _old: ast.Continue() if isinstance(node, ast.Break) else ast.Break()


def _is_no(value: ast.expr) -> bool:
    """Say whether nothing in its place reads the same: a predicate's `False` is asked for its truth alone."""
    return isinstance(value, ast.Constant) and (value.value is None or value.value is False)


def _compared(node: ast.Compare) -> Iterator[Callable[[ast.AST], ast.AST]]:
    for position, operator in enumerate(node.ops):
        swapped = [*node.ops[:position], _COMPARED[type(operator)](), *node.ops[position + 1 :]]
        yield lambda old, swapped=swapped: _with(old, ops=swapped)  # type: ignore[misc]


def _another(value: object) -> bool | int | float:
    """Return another constant: a flag turned, a whole number one up, any other half as much again."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else float(str(value)) * 1.5 + 0.1


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )


def _with(old: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(old)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _at(
    tree: ast.Module, path: tuple[tuple[str, int | None], ...]
) -> tuple[ast.Module, ast.AST, tuple[str, int | None]]:
    """Return the tree with copies of all that lies on a path, the last of them, and the place in it."""
    whole = copy.copy(tree)
    node: ast.AST = whole
    for step in path[:-1]:
        part = copy.copy(_get(node, step))
        _put(node, step, part)
        node = part
    return whole, node, path[-1]


def _get(parent: ast.AST, place: tuple[str, int | None]) -> ast.AST:
    value = getattr(parent, place[0])
    found = value if place[1] is None else value[place[1]]
    assert isinstance(found, ast.AST)
    return found


def _put(parent: ast.AST, place: tuple[str, int | None], new: ast.AST) -> None:
    """Put a part in its place; a list of parts is made anew, since other trees share it."""
    field, position = place
    if position is None:
        setattr(parent, field, new)
    else:
        parts = list(getattr(parent, field))
        parts[position] = new
        setattr(parent, field, parts)
