"""Key templates of the contract: `CASE#<caseId>`, `begins_with DUE#`, `between A and B`.

`<name>` is a variable, `<0..9>` a shard suffix, `<status=OPEN|CLOSED>` a variable with its values; all else is literal.
A variable does not contain the character that follows it; the last takes the rest.
"""

from __future__ import annotations

import re
from functools import cached_property

from msgspec import Struct

from analyzer.requests.languages import Language, overlap

__all__ = ["Template", "Variable"]

_OPERATOR = re.compile(r"(begins_with|between|<=|>=|<|>|=)\s+(?=\S)", re.IGNORECASE)
_BARE_OPERATOR = re.compile(r"(begins_with|between|<=|>=|<|>|=)", re.IGNORECASE)
_CALL = re.compile(r"begins_with\s*\(", re.IGNORECASE)
_AND = re.compile(r"""("[^"]*"|.+?)\s+and\s+("[^"]*"|.+)""", re.IGNORECASE | re.DOTALL)
_PIECE = re.compile(r"<([^<>]*)>|([^<>]+)|([<>])", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w .:-]*")
_RANGE = re.compile(r"(?:([^\W\d][\w-]*)=)?(\d+)\.\.(\d+)")
_DELIMITER = re.compile(r"([#|/])")
_TOKENS = "~[kd][a-z2-7]{8}|<id>|<n>"
_DIGIT_TOKENS = "~d[a-z2-7]{8}|<n>"
_MOST_ALTERNATIVES = 1024
_DOWN = frozenset({"<", "<="})
_UP = frozenset({">", ">="})


class Variable(Struct, frozen=True):
    """One variable; `values` are all it can take, where the template says so, `is_shard` tells a range of digits."""

    name: str
    values: tuple[str, ...] = ()
    is_shard: bool = False


Element = str | Variable


class Template:
    """What a contract says of one key attribute: an operator and one operand, or two for `between`. Equal by text."""

    def __init__(self, text: str, operator: str, operands: tuple[tuple[Element, ...], ...]) -> None:
        self.text = text
        self.operator = operator
        self.operands = operands
        self.literal_characters = sum(len(e) for operand in operands for e in operand if isinstance(e, str))

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template; raises ValueError that says what to write instead."""
        stripped = text.strip()
        if not stripped:
            raise ValueError("a key template is empty; name a value such as `CASE#<caseId>`")
        if _CALL.match(stripped):
            raise ValueError("an operator is followed by a space; write `begins_with CASE#` without brackets")
        if _BARE_OPERATOR.fullmatch(stripped):
            raise ValueError("an operator stands alone; write what it compares with, such as `begins_with CASE#`")
        found = _OPERATOR.match(stripped)
        if found is None:
            return cls(stripped, "=", (_parse_operand(stripped),))
        operator, rest = found.group(1).lower(), stripped[found.end() :]
        if operator != "between":
            return cls(stripped, operator, (_parse_operand(rest),))
        ends = _AND.fullmatch(rest)
        if ends is None:
            raise ValueError("`between` needs two values; write `between A and B`")
        return cls(stripped, operator, (_parse_operand(ends.group(1)), _parse_operand(ends.group(2))))

    def __repr__(self) -> str:
        return f"Template({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables in order; a range is named by its text, such as `0..9`."""
        return tuple(variable.name for variable in self.slots)

    @property
    def slots(self) -> tuple[Variable, ...]:
        """The variables in order, with the values that they can take."""
        return tuple(e for operand in self.operands for e in operand if isinstance(e, Variable))

    @property
    def _is_prefix(self) -> bool:
        return self.operator == "begins_with"

    @cached_property
    def _sure(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_pattern(operand, is_prefix=self._is_prefix, is_guess=False) for operand in self.operands)

    @cached_property
    def _possible(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_pattern(operand, is_prefix=self._is_prefix, is_guess=True) for operand in self.operands)

    @cached_property
    def _languages(self) -> tuple[Language, ...]:
        return tuple(_language(operand, is_prefix=self._is_prefix) for operand in self.operands)

    def matches(self, value: str) -> bool:
        """Whether a value, clear or as token, fits the template; of `between`, whether it fits either end."""
        return any(pattern.fullmatch(value) for pattern in self._sure)

    def takes(self, operator: str, values: tuple[str, ...]) -> bool:
        """Whether a request's condition falls under this one: narrower or equal, never wider."""
        return _takes(self.operator, self._sure, operator, values)

    def may_take(self, operator: str, values: tuple[str, ...]) -> bool:
        """Whether it would, if each token stood for the literal that it hides."""
        return _takes(self.operator, self._possible, operator, values)

    def overlaps(self, other: Template) -> bool:
        """Whether some request falls under both."""
        if not _is_taken(self.operator, other.operator) and not _is_taken(other.operator, self.operator):
            return False
        mine, theirs = self._languages, other._languages
        width = max(len(mine), len(theirs))
        pairs = zip(mine * (width // len(mine)), theirs * (width // len(theirs)), strict=True)
        return all(overlap(one, two) for one, two in pairs)

    def segments_literal(self) -> frozenset[str]:
        """Return the segments between delimiters that are literal, or one of a variable's declared values."""
        return frozenset(
            literal
            for operand in self.operands
            for segment in _segments(operand)
            if len(segment) == 1
            for literal in _literals(segment[0])
        )


def _is_taken(declared: str, asked: str) -> bool:
    """Whether a declared operator covers a request's; `=` covers IN, and a prefix covers a range inside it."""
    if declared in _DOWN or declared in _UP:
        return asked in (_DOWN if declared in _DOWN else _UP)
    return asked == declared or (declared, asked) in {("=", "IN"), ("begins_with", "between")}


def _takes(declared: str, patterns: tuple[re.Pattern[str], ...], asked: str, values: tuple[str, ...]) -> bool:
    if not values or not _is_taken(declared, asked):
        return False
    if len(patterns) == 1:
        return all(patterns[0].fullmatch(value) for value in values)
    return len(values) == len(patterns) and all(p.fullmatch(v) for p, v in zip(patterns, values, strict=True))


def _parse_operand(text: str) -> tuple[Element, ...]:
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    elements: list[Element] = []
    for piece in _PIECE.finditer(text):
        if piece.group(3):
            raise ValueError("`<` and `>` enclose a variable; close it, as in `<caseId>`")
        element: Element = piece.group(2) or _parse_variable(piece.group(1))
        if elements and isinstance(element, Variable) and isinstance(elements[-1], Variable):
            raise ValueError("two variables touch; put a literal such as `#` between them")
        elements.append(element)
    if not elements:
        raise ValueError("a quoted key template is empty; name a value")
    return tuple(elements)


def _parse_variable(text: str) -> Variable:
    span = _RANGE.fullmatch(text)
    if span is not None:
        name, low, high = span.group(1) or text, span.group(2), span.group(3)
        if int(low) > int(high):
            raise ValueError(f"the range `<{text}>` runs backwards; write the smaller number first")
        if int(high) - int(low) >= _MOST_ALTERNATIVES:
            raise ValueError(f"the range `<{text}>` is too wide for a shard suffix; write a name such as `<number>`")
        width = len(low) if len(low) == len(high) else 0
        return Variable(name, tuple(str(n).zfill(width) for n in range(int(low), int(high) + 1)), is_shard=True)
    name, equals, values = text.partition("=")
    if not _NAME.fullmatch(name):
        raise ValueError(f"`<{text}>` names no variable; write a name, a range or values: `<id>`, `<0..9>`, `<s=A|B>`")
    if not equals:
        return Variable(name)
    listed = tuple(value.strip() for value in values.split("|"))
    if not all(listed):
        raise ValueError(f"`<{text}>` lists an empty value; write `<{name}=A|B>`")
    return Variable(name, listed)


def _segments(operand: tuple[Element, ...]) -> list[list[Element]]:
    """Split an operand at its delimiters: every second item is a delimiter alone."""
    segments: list[list[Element]] = [[]]
    for element in operand:
        if isinstance(element, Variable):
            segments[-1].append(element)
            continue
        for position, part in enumerate(_DELIMITER.split(element)):
            if position % 2:
                segments += [[part], []]
            elif part:
                segments[-1].append(part)
    return segments


def _literals(element: Element) -> list[str]:
    if isinstance(element, str):
        return [] if _DELIMITER.fullmatch(element) else [element]
    return [] if element.is_shard else [s for value in element.values for s in re.split(r"[#|/]", value) if s]


def _pattern(operand: tuple[Element, ...], *, is_prefix: bool, is_guess: bool) -> re.Pattern[str]:
    """Build the expression that a value, clear or as token, has to match; a guess lets a token hide a literal."""
    segments = _segments(operand)
    written = []
    for position, segment in enumerate(segments):
        is_last = position + 1 == len(segments)
        exact = _exact(segment, None if is_last or position % 2 else segments[position + 1][0])
        is_partial = is_prefix and is_last
        if len(segment) > 1 or (is_partial and segment):
            exact = f"(?:{exact}|{_TOKENS})"
        elif segment and isinstance(segment[0], Variable) and segment[0].values:
            exact = f"(?:{exact}|{_DIGIT_TOKENS if segment[0].is_shard else _TOKENS})"
        elif is_guess and segment and position % 2 == 0 and isinstance(segment[0], str):
            exact = f"(?:{exact}|{_TOKENS})"
        written.append(exact)
    return re.compile("".join(written) + (".*" if is_prefix else ""), re.DOTALL)


def _exact(segment: list[Element], following: Element | None) -> str:
    written = []
    for position, element in enumerate(segment):
        after = segment[position + 1] if position + 1 < len(segment) else following
        if isinstance(element, str):
            written.append(re.escape(element))
        elif element.values:
            written.append("(?:" + "|".join(re.escape(value) for value in element.values) + ")")
        else:
            written.append(f"[^{re.escape(after[0])}]+" if isinstance(after, str) else ".+")
    return "".join(written)


def _language(operand: tuple[Element, ...], *, is_prefix: bool) -> Language:
    language = Language()
    for position, element in enumerate(operand):
        after = operand[position + 1] if position + 1 < len(operand) else None
        if isinstance(element, str):
            language.add_choice((element,))
        elif element.values:
            language.add_choice(element.values)
        else:
            language.add_run(after[0] if isinstance(after, str) else None)
    if is_prefix:
        language.add_rest()
    return language
