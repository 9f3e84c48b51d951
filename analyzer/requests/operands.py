"""Where in a statement names may stand, and where values: read word by word, it needs no grammar and never fails."""

from __future__ import annotations

__all__ = ["FUNCTIONS", "Operands"]

FUNCTIONS = frozenset(
    {
        *("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "exists"),
        *("if_not_exists", "list_append", "missing", "set_add", "set_delete", "size"),
    }
)
"""Functions by name; no other word before a bracket is one of DynamoDB's."""

_OPENING = frozenset({"(", "[", "{", "<<"})
_CLOSING = frozenset({")", "]", "}", ">>"})
_TESTS = frozenset({"ATTRIBUTE_TYPE", "BEGINS_WITH", "CONTAINS"})
_COMPARATORS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!="})
_VALUE_FOLLOWS = _COMPARATORS | {":", "IN", "BETWEEN", "LIMIT"}
_NAME_FOLLOWS = frozenset({"OR", "WHERE", "RETURNING", "ORDER", "BY", "SET", "REMOVE", "FROM", "INTO", "VALUE"})
_STATES = frozenset({"NOT", "NULL", "MISSING", "STRING", "NUMBER", "BINARY", "BOOLEAN", "BOOL", "LIST", "MAP"})


class Operands:
    """Follows the brackets, comparisons and commas of one statement.

    Right of a comparison a name survives only where the left names it too, as in `SET n = n + 1`, or nothing, as in
    `1 = n`: a value in the wrong quotes, or in none, looks like a name.
    """

    def __init__(self) -> None:
        self._tests: list[bool] = []
        self._since: int | None = None
        self._between = False
        self._left: set[str] = set()
        self._is_turned = False
        self._last = ""

    @property
    def is_value(self) -> bool:
        """Whether what comes next belongs to a value."""
        return self._since is not None

    def keeps(self, name: str) -> bool:
        """Whether a name that comes next may stay."""
        if self._last == "IS":
            return name.upper() in _STATES
        return self._since is None or self._is_turned or name in self._left

    def name(self, name: str) -> None:
        """Note a name that stayed."""
        self._last = name
        if self._since is None:
            self._left.add(name)

    def word(self, word: str) -> None:
        """Note a mark or keyword."""
        if word in _OPENING:
            self._tests.append(word == "(" and self._last in _TESTS)
        elif word in _CLOSING:
            self._close()
        elif word == ",":
            self._comma()
        elif word in _VALUE_FOLLOWS:
            self._between |= word == "BETWEEN"
            if self._since is None:
                self._since = len(self._tests)
                self._is_turned = word in _COMPARATORS and not self._left
        elif word == "AND" and self._between:
            self._between = False
        elif word == "AND" or word in _NAME_FOLLOWS:
            self._end()
        self._last = "IS" if word == "NOT" and self._last == "IS" else word

    def _close(self) -> None:
        if self._tests:
            self._tests.pop()
        if self._since is not None and len(self._tests) < self._since:
            self._end()

    def _comma(self) -> None:
        if self._since == len(self._tests):
            self._end()
        if self._since is None and self._tests and self._tests[-1]:
            self._since = len(self._tests)

    def _end(self) -> None:
        self._since = None
        self._between = self._is_turned = False
        self._left.clear()
