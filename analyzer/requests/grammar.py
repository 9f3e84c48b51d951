"""The grammars of DynamoDB's expressions and of its PartiQL, and the one place that calls lark."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from analyzer.requests.tree import (
    Action,
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    In,
    Not,
    Or,
    Path,
    Value,
)

if TYPE_CHECKING:
    from analyzer.requests.tree import Condition, Operand

__all__ = ["Builder", "ExpressionError", "build_parsers", "parse_with", "run"]

_DEEPEST = 60
_MOST_SUMS = 200
_NOT = re.compile(r"\bnot\b", re.IGNORECASE)
_OPENING = "([{"
_CLOSING = ")]}"

_CONDITIONS = r"""
?condition: or_
?or_: and_ (_OR and_)*
?and_: not_ (_AND not_)*
?not_: _NOT not_ -> negated
     | comparison
?comparison: operand COMPARATOR operand -> compared
           | operand _BETWEEN operand _AND operand -> between
           | operand _IN "(" operand ("," operand)* ")" -> among
           | TEST "(" operand ("," operand)* ")" -> call
           | "(" condition ")"
?operand: path
        | VALUE -> value
        | MEASURE "(" operand ("," operand)* ")" -> call
        | "(" operand ")"
path: NAME (INDEX | "." NAME)*

_AND.3: /AND\b/i
_OR.3: /OR\b/i
_NOT.3: /NOT\b/i
_IN.3: /IN\b/i
_BETWEEN.3: /BETWEEN\b/i
TEST.2: /(attribute_exists|attribute_not_exists|attribute_type|begins_with|contains)(?=\s*\()/i
COMPARATOR: "<=" | ">=" | "<>" | "!=" | "=" | "<" | ">"
%import common.WS
%ignore WS
"""

_EXPRESSIONS = (
    _CONDITIONS
    + r"""
projection: path ("," path)*
update: clause+
clause: SET assignment ("," assignment)* -> clause
      | REMOVE path ("," path)* -> clause
      | (ADD | DELETE) change ("," change)* -> clause
assignment: path "=" sum
change: path operand
?sum: addend
    | sum (PLUS | MINUS) addend -> arithmetic
?addend: path
       | VALUE -> value
       | (FALLBACK | MEASURE) "(" sum ("," sum)* ")" -> call
       | "(" sum ")"

SET.3: /SET\b/i
REMOVE.3: /REMOVE\b/i
ADD.3: /ADD\b/i
DELETE.3: /DELETE\b/i
PLUS: "+"
MINUS: "-"
FALLBACK.2: /(if_not_exists|list_append)(?=\s*\()/i
MEASURE.2: /size(?=\s*\()/i
NAME.1: /#?[^\W\d]\w*|#\w+|"(?:[^"]|"")*"/
VALUE: /:(\w+|\*)/
INDEX: /\[\s*(\d+|\*)\s*\]/
"""
)


class ExpressionError(ValueError):
    """Text that DynamoDB would not take: where, and what would fit there. It never quotes the text."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(f"at character {position + 1}: {message}")
        self.position = position


class Builder(Transformer[Token, Any]):
    """Turns what the grammar saw into values of the tree."""

    def path(self, steps: list[Token]) -> Path:
        """Join the steps of a document path; indexes lose their spaces."""
        return Path(tuple("".join(step.split()) if step.type == "INDEX" else str(step) for step in steps))

    def value(self, found: list[Token]) -> Value:
        """Name a value by its placeholder."""
        return Value(str(found[0]))

    def call(self, found: list[Any]) -> Call:
        """Name a function in lower case."""
        return Call(str(found[0]).lower(), tuple(found[1:]))

    def compared(self, found: list[Any]) -> Comparison:
        """Compare two operands; `!=` is PartiQL's spelling of `<>`."""
        operator = str(found[1])
        return Comparison(found[0], "<>" if operator == "!=" else operator, found[2])

    def between(self, found: list[Operand]) -> Between:
        """Bound an operand."""
        return Between(found[0], found[1], found[2])

    def among(self, found: list[Operand]) -> In:
        """Compare an operand with several."""
        return In(found[0], tuple(found[1:]))

    def negated(self, found: list[Condition]) -> Not:
        """Turn a condition round."""
        return Not(found[0])

    def and_(self, found: list[Condition]) -> And:
        """Join conditions that all hold."""
        return And(tuple(found))

    def or_(self, found: list[Condition]) -> Or:
        """Join conditions of which one holds."""
        return Or(tuple(found))

    def projection(self, found: list[Path]) -> tuple[Path, ...]:
        """List the paths to return."""
        return tuple(found)

    def arithmetic(self, found: list[Any]) -> Arithmetic:
        """Add or subtract."""
        return Arithmetic(found[0], str(found[1]), found[2])

    def assignment(self, found: list[Any]) -> tuple[Path, Operand]:
        """Pair a path with what it is set to."""
        return found[0], found[-1]

    change = assignment

    def clause(self, found: list[Any]) -> tuple[Action, ...]:
        """Spread a clause over its members."""
        name = str(found[0]).upper()
        return tuple(
            Action(name, member) if isinstance(member, Path) else Action(name, *member) for member in found[1:]
        )

    def update(self, found: list[tuple[Action, ...]]) -> tuple[Action, ...]:
        """Put the clauses one after the other."""
        return tuple(action for clause in found for action in clause)


_TOGETHER = ("condition", "projection")
"""Rules that one parser serves: building one takes longer than all that it parses. An update has its own `=`."""


@cache
def _parser(start: tuple[str, ...]) -> Lark:
    return Lark(_EXPRESSIONS, parser="lalr", start=list(start), transformer=Builder(), maybe_placeholders=False)


def build_parsers() -> None:
    """Build the parsers ahead of the first text."""
    _parser(_TOGETHER)
    _parser(("update",))


def run(start: str, text: str) -> Any:  # noqa: ANN401 - what comes back depends on the rule
    """Parse a text by a rule of the grammar of expressions; raises ExpressionError."""
    return parse_with(_parser(_TOGETHER if start in _TOGETHER else (start,)), text, start)


def parse_with(parser: Lark, text: str, start: str | None = None) -> Any:  # noqa: ANN401 - what comes back depends on the rule
    """Parse a text, having made sure that it does not nest deeper than the stack; raises ExpressionError."""
    _refuse_depth(text)
    try:
        return parser.parse(text, start)
    except (UnexpectedCharacters, UnexpectedToken) as error:
        raise _explain(error, len(text)) from None


def _refuse_depth(text: str) -> None:
    if sum(map(text.count, "+-")) > _MOST_SUMS:
        raise ExpressionError(0, f"it adds up more than {_MOST_SUMS} terms; split the update")
    depth = len(_NOT.findall(text))
    for position, character in enumerate(text):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        if depth > _DEEPEST:
            raise ExpressionError(position, f"it nests deeper than {_DEEPEST}; join the conditions flat")


_WORDING = {
    "_AND": "AND",
    "_OR": "OR",
    "_NOT": "NOT",
    "_IN": "IN",
    "_BETWEEN": "BETWEEN",
    "ADD": "ADD",
    "COMMA": "`,`",
    "COMPARATOR": "a comparator",
    "DELETE": "DELETE",
    "DOT": "`.`",
    "EQUAL": "`=`",
    "FALLBACK": "a function",
    "INDEX": "an index",
    "LPAR": "`(`",
    "MEASURE": "a function",
    "MINUS": "`-`",
    "NAME": "an attribute name",
    "PLUS": "`+`",
    "REMOVE": "REMOVE",
    "RPAR": "`)`",
    "SET": "SET",
    "TEST": "a function",
    "VALUE": "a value",
    "$END": "the end",
}


def _explain(error: UnexpectedCharacters | UnexpectedToken, length: int) -> ExpressionError:
    if isinstance(error, UnexpectedCharacters):
        expected, position = set(error.allowed or ()), error.pos_in_stream
    else:
        expected = set(error.accepts or error.expected)
        position = length if error.token.type == "$END" else error.token.start_pos
    wanted = sorted({_WORDING.get(name, name.strip("_").lower()) for name in expected - {"WS"}})
    mend = f"write {' or '.join(wanted)}" if wanted else "leave it out"
    return ExpressionError(position or 0, f"this cannot stand here; {mend}")
