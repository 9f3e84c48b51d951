"""PartiQL far enough to know table, index, key attributes, and whether DynamoDB would scan. It reads masked text."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from lark import Lark, Token
from msgspec import Struct

from analyzer.requests.grammar import Builder, parse_with
from analyzer.requests.rendering import attribute_of, canonical_condition, canonical_projection, canonical_update
from analyzer.requests.tree import Action, And, Call, Comparison, Condition, In, Not, Operand, Or, Path, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Statement", "is_pinned", "parse_statement", "statement_text"]

_REMEMBERED = 1024

_GRAMMAR = r"""
?start: statement ";"?
?statement: select | insert | update | delete | _EXISTS "(" select ")"
select: _SELECT (everything | projection) _FROM table where? order? limit?
everything: "*"
projection: path ("," path)*
insert: _INSERT _INTO table _VALUE item
update: _UPDATE table clause+ where? returning?
delete: _DELETE _FROM table where? returning?
table: NAME ("." NAME)?
where: _WHERE condition
order: _ORDER _BY sorting ("," sorting)*
sorting: path (ASCENDING | DESCENDING)?
limit: _LIMIT VALUE
returning: _RETURNING (_ALL | _MODIFIED) (_OLD | _NEW) "*"
clause: SET assignment ("," assignment)*
      | REMOVE path ("," path)*
assignment: path EQUAL operand

?condition: or_
?or_: and_ (_OR and_)*
?and_: not_ (_AND not_)*
?not_: _NOT not_ -> negated
     | comparison
?comparison: operand (COMPARATOR | EQUAL) operand -> compared
           | operand _BETWEEN addend _AND addend -> between
           | operand _IN "(" operands ")" -> listed
           | operand _IN "[" operands "]" -> listed
           | operand _IS (MISSING | NULL | NAME) -> state
           | operand _IS _NOT (MISSING | NULL | NAME) -> no_state
           | TEST "(" operands ")" -> call
           | "(" condition ")"
operands: operand ("," operand)*
?operand: addend
        | operand (PLUS | MINUS) addend -> arithmetic
?addend: path
       | VALUE -> value
       | FUNCTION "(" operands ")" -> call
       | (item | list | bag | NULL | MISSING) -> literal
       | "(" operand ")"
item: "{" (pair ("," pair)*)? "}"
pair: NAME ":" operand
list: "[" operands? "]"
bag: _BAG_OPENS operands? _BAG_CLOSES
path: NAME ("[" index "]" | "." NAME)*
index: VALUE

_ALL.3: /ALL\b/i
_AND.3: /AND\b/i
_BAG_OPENS.4: "<<"
_BAG_CLOSES.4: ">>"
_BETWEEN.3: /BETWEEN\b/i
_BY.3: /BY\b/i
_DELETE.3: /DELETE\b/i
_EXISTS.3: /EXISTS\b/i
_FROM.3: /FROM\b/i
_IN.3: /IN\b/i
_INSERT.3: /INSERT\b/i
_INTO.3: /INTO\b/i
_IS.3: /IS\b/i
_LIMIT.3: /LIMIT\b/i
_MODIFIED.3: /MODIFIED\b/i
_NEW.3: /NEW\b/i
_NOT.3: /NOT\b/i
_OLD.3: /OLD\b/i
_OR.3: /OR\b/i
_ORDER.3: /ORDER\b/i
_RETURNING.3: /RETURNING\b/i
_SELECT.3: /SELECT\b/i
_UPDATE.3: /UPDATE\b/i
_VALUE.3: /VALUE\b/i
_WHERE.3: /WHERE\b/i
ASCENDING.3: /ASC\b/i
DESCENDING.3: /DESC\b/i
MISSING.3: /MISSING\b/i
NULL.3: /NULL\b/i
REMOVE.3: /REMOVE\b/i
SET.3: /SET\b/i
TEST.3: /(attribute_exists|attribute_not_exists|attribute_type|begins_with|contains)(?=\s*\()/i
FUNCTION.2: /[^\W\d]\w*(?=\s*\()/
COMPARATOR: "<=" | ">=" | "<>" | "!=" | "<" | ">"
EQUAL: "="
PLUS: "+"
MINUS: "-"
NAME.1: /[^\W\d]\w*|"(?:[^"]|"")*"/
VALUE: /\?\d*/
%import common.WS
%ignore WS
"""


class Statement(Struct, frozen=True, kw_only=True):
    """One statement; the values in it are named `?0`, `?1` … in the order of the masked text."""

    verb: str
    table: str
    index: str | None = None
    projection: tuple[Path, ...] = ()
    where: Condition | None = None
    actions: tuple[Action, ...] = ()
    item: tuple[tuple[str, Operand], ...] = ()
    forward: bool | None = None


class _Where(Struct, frozen=True):
    condition: Any


class _Order(Struct, frozen=True):
    forward: bool


class _Item(Struct, frozen=True):
    pairs: tuple[tuple[str, Any], ...]


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name[0] == '"' else str(name)


class _StatementBuilder(Builder):
    """Adds what only statements have."""

    def path(self, steps: list[Any]) -> Path:
        return Path(tuple(str(step) for step in steps))

    def index(self, found: list[Token]) -> str:
        del found
        return "[*]"

    def operands(self, found: list[Operand]) -> tuple[Operand, ...]:
        return tuple(found)

    def call(self, found: list[Any]) -> Call:
        return Call(str(found[0]).lower(), found[1])

    def listed(self, found: list[Any]) -> In:
        return In(found[0], found[1])

    def state(self, found: list[Any]) -> Call:
        return Call(f"is_{_unquoted(str(found[1])).lower()}", (found[0],))

    def no_state(self, found: list[Any]) -> Not:
        return Not(self.state(found))

    def literal(self, found: list[Any]) -> Value:
        del found
        return Value("?")

    def pair(self, found: list[Any]) -> tuple[str, Any]:
        return _unquoted(found[0]), found[1]

    def item(self, found: list[tuple[str, Any]]) -> _Item:
        return _Item(tuple(found))

    def everything(self, found: list[Any]) -> tuple[Path, ...]:
        del found
        return ()

    def table(self, found: list[Token]) -> tuple[str, str | None]:
        return _unquoted(found[0]), _unquoted(found[1]) if len(found) > 1 else None

    def where(self, found: list[Any]) -> _Where:
        return _Where(found[0])

    def sorting(self, found: list[Any]) -> bool:
        return not (len(found) > 1 and found[1].type == "DESCENDING")

    def order(self, found: list[bool]) -> _Order:
        return _Order(all(found))

    def select(self, found: list[Any]) -> Statement:
        return _statement("SELECT", found[1], found[2:], projection=found[0])

    def insert(self, found: list[Any]) -> Statement:
        return _statement("INSERT", found[0], [], item=found[1].pairs)

    def update(self, found: list[Any]) -> Statement:  # type: ignore[override]
        actions = tuple(action for clause in found if isinstance(clause, tuple) for action in clause)[2:]
        return _statement("UPDATE", found[0], found[1:], actions=actions)

    def delete(self, found: list[Any]) -> Statement:
        return _statement("DELETE", found[0], found[1:])


def _statement(verb: str, place: tuple[str, str | None], rest: list[Any], **fields: Any) -> Statement:  # noqa: ANN401
    where = next((part.condition for part in rest if isinstance(part, _Where)), None)
    forward = next((part.forward for part in rest if isinstance(part, _Order)), None)
    return Statement(verb=verb, table=place[0], index=place[1], where=where, forward=forward, **fields)


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", transformer=_StatementBuilder(), maybe_placeholders=False)


_QUESTION = re.compile(r'"(?:[^"]|"")*"|\?')


@lru_cache(maxsize=_REMEMBERED)
def parse_statement(masked: str) -> Statement:
    """Parse a statement that `mask_statement` has been over; raises ExpressionError."""
    seen = -1

    def numbered(found: re.Match[str]) -> str:
        nonlocal seen
        if found.group() != "?":
            return found.group()
        seen += 1
        return f"?{seen}"

    statement: Statement = parse_with(_parser(), _QUESTION.sub(numbered, masked))
    return statement


def is_pinned(where: Condition | None, attribute: str) -> bool:
    """Whether a condition binds an attribute to one or several given values, so that DynamoDB need not scan for it."""
    if isinstance(where, Comparison):
        sides = (where.left, where.right)
        values = [side for side in sides if isinstance(side, Value)]
        return where.operator == "=" and len(values) == 1 and attribute in {attribute_of(side) for side in sides}
    if isinstance(where, In):
        return attribute_of(where.operand) == attribute
    if isinstance(where, And):
        return any(is_pinned(member, attribute) for member in where.conditions)
    return isinstance(where, Or) and all(is_pinned(member, attribute) for member in where.conditions)


def statement_text(statement: Statement) -> str:
    """Write a statement in canonical form; the attributes of an item inserted are left out."""
    words = [statement.verb, *_HEADS[statement.verb]]
    if statement.verb == "SELECT":
        words[1:1] = [_listed(canonical_projection(statement.projection))]
    words.append(_place(statement))
    if statement.verb == "INSERT":
        words.append("VALUE {?}")
    if statement.verb == "UPDATE":
        words.append(canonical_update(statement.actions))
    if statement.where is not None:
        words += ["WHERE", canonical_condition(statement.where)]
    if statement.forward is not None:
        words.append("ORDER BY ASC" if statement.forward else "ORDER BY DESC")
    return " ".join(words)


_HEADS = {"SELECT": ("FROM",), "INSERT": ("INTO",), "UPDATE": (), "DELETE": ("FROM",)}


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(paths) or "*"


def _place(statement: Statement) -> str:
    return f'"{statement.table}"' if statement.index is None else f'"{statement.table}"."{statement.index}"'
