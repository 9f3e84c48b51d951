"""What expressions and statements parse to. Names and values are as written; nothing here holds a key value."""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "Action",
    "And",
    "Arithmetic",
    "Between",
    "Call",
    "Comparison",
    "Condition",
    "In",
    "Not",
    "Operand",
    "Or",
    "Path",
    "Value",
]


class Path(Struct, frozen=True):
    """A document path: a step is a name (`a`, `#a` or `"a"`), or an index (`[3]`, after masking `[*]`)."""

    steps: tuple[str, ...]


class Value(Struct, frozen=True):
    """A value's placeholder: `:v`, or in a statement `?`, then with its position from 0."""

    name: str


class Call(Struct, frozen=True):
    """A function of operands; also stands as a condition."""

    function: str
    operands: tuple[Operand, ...]


class Arithmetic(Struct, frozen=True):
    """A sum or difference."""

    left: Operand
    operator: str
    right: Operand


Operand = Path | Value | Call | Arithmetic


class Comparison(Struct, frozen=True):
    """Two operands and one of `=`, `<>`, `<`, `<=`, `>`, `>=`."""

    left: Operand
    operator: str
    right: Operand


class Between(Struct, frozen=True):
    """An operand within two bounds, both included."""

    operand: Operand
    low: Operand
    high: Operand


class In(Struct, frozen=True):
    """An operand equal to one of several."""

    operand: Operand
    choices: tuple[Operand, ...]


class Not(Struct, frozen=True):
    """A condition turned round."""

    condition: Condition


class And(Struct, frozen=True):
    """Two or more conditions that all hold."""

    conditions: tuple[Condition, ...]


class Or(Struct, frozen=True):
    """Two or more conditions of which one holds."""

    conditions: tuple[Condition, ...]


Condition = Comparison | Between | In | Call | Not | And | Or


class Action(Struct, frozen=True):
    """One action of an update: `SET path = operand`, `REMOVE path`, `ADD path value`, `DELETE path value`."""

    clause: str
    path: Path
    operand: Operand | None = None
