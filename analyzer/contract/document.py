"""Documents that remember on which line everything stands: the text of a YAML or JSON file as mappings and lists."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from analyzer.errors import ContractError, Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ListNode", "MapNode", "line_at", "parse_document", "to_node"]

_MOST_NODES = 200_000
_DEEPEST = 40
_LONGEST_NUMBER = 300
_LONG_COMMENT = re.compile(r"^([ \t]*#[^\n]{0,400})[^\n]*", re.MULTILINE)
"""The parser takes quadratic time for the rest, and nothing reads it."""


class MapNode(dict[str, Any]):
    """A mapping with its line, and the line of each of its keys; None where it did not come from a file."""

    def __init__(self, items: Iterable[tuple[str, Any]] = (), line: int | None = None) -> None:
        super().__init__(items)
        self.line = line
        self.lines: dict[str, int] = {}

    def line_of(self, key: str) -> int | None:
        """Return the line of a key, or else that of the mapping."""
        return self.lines.get(key, self.line)

    def put(self, key: str, value: object, line: int | None) -> None:
        """Set a key that stands on a line."""
        self[key] = value
        if line is not None:
            self.lines[key] = line

    def take(self, old: str, other: MapNode, new: str) -> None:
        """Move a key of another mapping, or of this one, to this one under a new name, line and all."""
        line = other.line_of(old)
        self.put(new, other.pop(old), line)


class ListNode(list[Any]):
    """A list with its line, and the line of each of its members."""

    def __init__(self, items: Iterable[Any] = (), line: int | None = None) -> None:
        super().__init__(items)
        self.line = line
        self.lines: list[int | None] = [getattr(item, "line", line) for item in self]


def line_at(node: object, path: Sequence[str | int]) -> int | None:
    """Return the line of the deepest part of a path that the document holds."""
    line = getattr(node, "line", None)
    for step in path:
        if isinstance(node, MapNode) and step in node:
            line = node.line_of(str(step)) or line
            node = node[str(step)]
        elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node):
            line = node.lines[step] or line
            node = node[step]
        else:
            break
    return line


def to_node(value: object) -> Any:  # noqa: ANN401 (a document is what its author wrote)
    """Turn a decoded document into nodes, with the lines that ruamel knows."""
    return _Converter().convert(value, None, 0)


def parse_document(text: str, file: str, *, is_json: bool) -> Any:  # noqa: ANN401 (a document is what its author wrote)
    """Read YAML or JSON; raises ContractError with the line and the mend. An empty text is None."""
    if not text.strip():
        return None
    if is_json:
        try:
            json.loads(text, parse_int=str)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            message = f"this is no JSON: {getattr(error, 'msg', error)}"
            raise ContractError((Fault(file, line, "", message, "mend the syntax at this line"),)) from error
        text = text.replace("\t", " ")  # JSON allows tabs between its tokens, YAML does not
    try:
        yaml = YAML(typ="rt", pure=True)
        yaml.Constructor = _Constructor
        return to_node(yaml.load(_LONG_COMMENT.sub(r"\1", text)))
    except (YAMLError, ValueError, RecursionError) as error:
        raise ContractError((_syntax_fault(error, file),)) from error


def _syntax_fault(error: Exception, file: str) -> Fault:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    told = error.problem if isinstance(error, MarkedYAMLError) else None
    reason = "it is nested too deep" if isinstance(error, RecursionError) else (told or str(error)).partition("\n")[0]
    meant = next((words for part, *words in _MEANINGS if part in reason), [reason, "mend the syntax at this line"])
    message, mend = meant
    return Fault(file, None if mark is None else mark.line + 1, "", f"this is no YAML: {message}", mend)


_MEANINGS = (
    (r"'\t'", "a tab stands here", "indent with spaces"),
    ("cannot start any token", "a value begins with a sign that means something to YAML", "put the value in quotes"),
    ("undefined alias", "a value begins with *, which means something to YAML", "put the value in quotes"),
    ("mapping values are not allowed", "a second colon in one line", "put a value that holds a colon in quotes"),
    ("<block end>", "the indentation does not fit the lines above", "indent what belongs together alike"),
    ("<stream end>", "a bracket, brace or quote is not closed", "close it, here or in the lines above"),
    ("end of stream", "a bracket, brace or quote is not closed", "close it, here or in the lines above"),
    (
        "<document start>",
        "these are several documents, as in a request log",
        "name a contract; `dynascope infer` drafts one from a log",
    ),
    ("duplicate key", "a key stands twice in one mapping", "remove one of the two"),
)
"""Words that the parser uses, what they mean, and the mend."""


class _Constructor(RoundTripConstructor):
    """Leaves dates, and numbers that are too long, as texts: whoever reads them says what is wrong, and where."""

    def construct_yaml_timestamp(self, node: Any, values: Any = None) -> Any:  # noqa: ANN401 (ruamel's)
        del values
        return node.value

    def construct_yaml_int(self, node: Any) -> Any:  # noqa: ANN401 (ruamel's)
        return super().construct_yaml_int(node) if len(node.value) < _LONGEST_NUMBER else node.value


for _tag, _construct in (
    ("timestamp", _Constructor.construct_yaml_timestamp),
    ("int", _Constructor.construct_yaml_int),
):
    _Constructor.add_constructor(f"tag:yaml.org,2002:{_tag}", _construct)


class _Converter:
    """Copies a document, bounded: aliases that multiply, and loops, end in a fault."""

    def __init__(self) -> None:
        self._nodes = 0

    def convert(self, value: object, line: int | None, depth: int) -> object:
        self._nodes += 1
        if self._nodes > _MOST_NODES or depth > _DEEPEST:
            raise ValueError("it holds more than a contract can: too many values, or nested too deep")
        if isinstance(value, dict):
            return self._mapping(value, line, depth)
        if isinstance(value, list):
            return self._list(value, line, depth)
        return value if value is None or isinstance(value, str | int | float) else str(value)

    def _mapping(self, value: dict[object, object], line: int | None, depth: int) -> MapNode:
        known: dict[object, Any] = (value.lc.data or {}) if isinstance(value, CommentedMap) else {}
        lines = {key: mark[0] + 1 for key, mark in known.items()}
        node = MapNode(line=line or min(lines.values(), default=None))
        for key, member in value.items():
            at = lines.get(key, node.line)
            node.put(str(key), self.convert(member, at, depth + 1), at)
        return node

    def _list(self, value: list[object], line: int | None, depth: int) -> ListNode:
        known: dict[int, Any] = (value.lc.data or {}) if isinstance(value, CommentedSeq) else {}
        lines = [known[i][0] + 1 if i in known else line for i in range(len(value))]
        node = ListNode(line=line)
        for member, at in zip(value, lines, strict=True):
            node.append(self.convert(member, at, depth + 1))
            node.lines.append(at)
        return node
