"""Where in the text of a contract something can be added: the ends of its lists and mappings, by character.

The text is read as ruamel reads it, for its nodes and its tokens; it is never written anew.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.tokens import (
    AliasToken,
    AnchorToken,
    BlockEntryToken,
    FlowEntryToken,
    FlowMappingEndToken,
    FlowSequenceEndToken,
    KeyToken,
    ScalarToken,
    TagToken,
    ValueToken,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Collection", "Insertion", "Places", "UnplaceableError", "spliced"]

Collection = SequenceNode | MappingNode

_MARKS = (ValueToken, BlockEntryToken, AnchorToken, TagToken)
_CONTENT = (ScalarToken, AliasToken, FlowSequenceEndToken, FlowMappingEndToken, *_MARKS)
_LINE_END = re.compile(r"\r?\n")
_INDENT = re.compile(r" *(?:[-?:] +)*")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_MERGE = "<<"


class UnplaceableError(ValueError):
    """Nothing can be added there; `line` is where, counted from 1, and `mend` what to do instead."""

    def __init__(self, line: int, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.mend = mend


class Insertion(NamedTuple):
    """Text, before which character it goes, and how many characters from there on it takes the place of."""

    at: int
    text: str
    instead: int = 0


def spliced(text: str, insertions: Iterable[Insertion]) -> str:
    """Return a text with insertions; of those at one place the first comes first."""
    pieces: list[str] = []
    at = 0
    for one in sorted(insertions, key=lambda each: each.at):
        pieces += [text[at : one.at], one.text]
        at = one.at + one.instead
    return "".join([*pieces, text[at:]])


class Places:
    """The places of one text. Raises ruamel's errors where it is no YAML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.has_lines = _LINE_END.search(text.strip()) is not None
        self.root: Any = _yaml().compose(text)
        self._starts: dict[type, list[int]] = {KeyToken: [], BlockEntryToken: [], FlowEntryToken: []}
        self._begins: list[int] = []
        self._ends: list[int] = []
        for token in _yaml().scan(text):
            if type(token) in self._starts:
                self._starts[type(token)].append(token.start_mark.index)
            if isinstance(token, _CONTENT):
                self._begins.append(token.start_mark.index)
                self._ends.append(self._end(token))
        self._uses: dict[int, int] = {}
        self._count(self.root)

    def _end(self, token: Any) -> int:  # noqa: ANN401 -- ruamel's tokens
        """Return where the text of a token ends, without the blank lines after a block of text that drops them."""
        start, end = token.start_mark.index, token.end_mark.index
        style = getattr(token, "style", None)
        if style in ("|", ">") and "+" not in _first_line(self.text[start:end]):
            return int(start + len(self.text[start:end].rstrip()))
        return int(end)

    def _count(self, node: object) -> None:
        """Count how often each collection is used: an alias is the very node that it names."""
        pending = [node]
        while pending:
            one = pending.pop()
            self._uses[id(one)] = self._uses.get(id(one), 0) + 1
            if self._uses[id(one)] > 1:
                continue
            if isinstance(one, MappingNode):
                pending += [member for pair in one.value for member in pair]
            elif isinstance(one, SequenceNode):
                pending += one.value

    def is_shared(self, node: Node) -> bool:
        """Whether something stands there by an alias too."""
        return self._uses.get(id(node), 0) > 1

    def line(self, node: Node | None) -> int:
        """Return the line that a node begins on, counted from 1."""
        return 1 if node is None else int(node.start_mark.line) + 1

    def field(self, node: object, *names: str) -> Node | None:
        """Return what a mapping holds under one of these names, itself."""
        if not isinstance(node, MappingNode):
            return None
        return next((value for key, value in node.value if isinstance(key, ScalarNode) and key.value in names), None)

    def inherited(self, node: object, *names: str) -> Node | None:
        """Return what a mapping holds by `<<` alone."""
        merged = self.field(node, _MERGE)
        sources = merged.value if isinstance(merged, SequenceNode) else [merged]
        found = (self.field(one, *names) or self.inherited(one, *names) for one in sources if one is not None)
        return next(filter(None, found), None)

    # where things stand

    def column(self, node: Collection) -> int:
        """Return the column of the dashes of a block list, or of the keys of a block mapping."""
        starts = self._starts[BlockEntryToken if isinstance(node, SequenceNode) else KeyToken]
        first = starts[bisect_left(starts, node.start_mark.index)]
        return first - self.line_start(first)

    def block_end(self, node: Collection) -> int:
        """Return the start of the line after a block, and after the comments that stand deeper than it begins."""
        column = self.column(node)
        at = self.last(node)
        if self.text[at - 1] != "\n":  # where a text ends that keeps its blank lines, a line begins already
            at = self.next_line(at)
        end = at
        while at < len(self.text):
            line = _first_line(self.text, at)
            at = self.next_line(at)
            if not line.strip():
                continue
            if not line.lstrip().startswith("#") or len(line) - len(line.lstrip()) <= column:
                break
            end = at
        return end

    def last(self, node: Collection) -> int:
        """Return where the last thing inside a collection ends; of a flow one, its bracket is not inside."""
        start, end = node.start_mark.index, node.end_mark.index
        if node.flow_style:
            end -= 1
        found = bisect_left(self._begins, end) - 1
        is_inside = found >= 0 and self._begins[found] >= start
        return self._ends[found] if is_inside else int(end if node.flow_style else start)

    def has_comma(self, node: Collection) -> bool:
        """Whether a comma stands after the last thing of a flow collection."""
        commas = self._starts[FlowEntryToken]
        place = bisect_left(commas, self.last(node))
        return place < len(commas) and commas[place] < node.end_mark.index

    def bare_brackets(self, node: Collection) -> slice | None:
        """Return where `[]` stands, with the blanks before it, where it is the last of its line but for a comment."""
        end = node.end_mark.index
        start = self.text.rfind("[", node.start_mark.index, end)
        if node.value or self.text[start + 1 : end - 1].strip(" "):
            return None
        after = _first_line(self.text, end).strip()
        return slice(len(self.text[:start].rstrip(" ")), end) if not after or after.startswith("#") else None

    def member_column(self, node: Collection, step: int) -> int:
        """Return the column for one more member of a flow collection: that of the last, where it begins its line."""
        if node.value:
            last = node.value[-1]
            at = (last[0] if isinstance(last, tuple) else last).start_mark.index
            if node.start_mark.index < at < node.end_mark.index and self.starts_line(at):
                return int(at - self.line_start(at))
        return self._indent(node.start_mark.index) + step

    def _indent(self, at: int) -> int:
        """Return where the first thing of a line stands, after its dashes."""
        start = self.line_start(at)
        found = _INDENT.match(self.text, start)
        return (found.end() if found else start) - start

    def starts_line(self, at: int) -> bool:
        """Whether only blanks stand before a character on its line."""
        return not self.text[self.line_start(at) : at].strip()

    def ending(self, at: int) -> str:
        """Return the line end before a character, else the first of the text."""
        before = self.text[:at]
        for end in ("\r\n", "\n"):
            if before.endswith(end):
                return end
        found = _LINE_END.search(self.text)
        return found.group() if found else "\n"

    def block(self, at: int, lines: Sequence[str]) -> Insertion:
        """Return lines that go before a line, with the ends that the lines around them have."""
        ending = self.ending(at)
        is_open = at == len(self.text) and at > 0 and self.text[at - 1] != "\n"
        return Insertion(at, (ending if is_open else "") + "".join(f"{line}{ending}" for line in lines))

    def line_start(self, at: int) -> int:
        """Return the first character of the line of a character."""
        return self.text.rfind("\n", 0, at) + 1

    def next_line(self, at: int) -> int:
        """Return the first character of the line after one."""
        found = _LINE_END.search(self.text, at)
        return found.end() if found else len(self.text)


def _yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def _first_line(text: str, at: int = 0) -> str:
    found = _REST_OF_LINE.match(text, at)
    return found.group() if found else ""
