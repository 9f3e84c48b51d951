"""What a draft adds to a contract that people wrote: lines put between theirs, of which none is changed.

The file is read as ruamel reads it, for the places where its lists end; it is never written anew, so that comments,
order, quotes and blank lines stay as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from analyzer.contract.write import LISTS, list_lines, table_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analyzer.contract.draft import Draft

__all__ = ["UnplaceableError", "added", "merge"]


class UnplaceableError(ValueError):
    """A contract is written in a form that nothing can be added to line by line."""


class _Insertion(Struct, frozen=True):
    """Lines, and before which line of the file they go."""

    line: int
    lines: list[str]


def added(draft: Draft) -> dict[str, int]:
    """Return how many of each a draft adds: tables that are new count with all that is in them."""
    tables = draft.document["tables"]
    return {part: sum(len(table.get(part, ())) for table in tables) for part in LISTS}


def merge(text: str, draft: Draft, known: Iterable[str]) -> str:
    """Return a contract's text with what the draft adds; `known` are the names of its tables.

    Raises UnplaceableError with what is in the way.
    """
    root = YAML(typ="rt", pure=True).compose(text)
    tables = _field(root, "tables")
    if not isinstance(tables, SequenceNode) or tables.flow_style or not tables.value:
        raise UnplaceableError("its tables are no list of blocks, `tables:` with a `- name:` each")
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    insertions: list[_Insertion] = []
    names = {_scalar(_field(node, "name")): node for node in tables.value}
    for table in draft.document["tables"]:
        node = names.get(table["name"])
        if node is not None:
            insertions += _into_table(table, node, draft, lines)
        elif table["name"] in known:
            raise UnplaceableError(f"its table {table['name']} is written in a short form")
        else:
            place = _end_of(tables, lines, tables.start_mark.column)
            insertions.append(_Insertion(place, _shifted(table_lines(table, draft), tables.start_mark.column)))
    insertions.sort(key=lambda one: one.line)
    for insertion in reversed(insertions):
        lines[insertion.line : insertion.line] = insertion.lines
    return "".join(f"{line}{ending}" for line in lines)


def _into_table(table: Mapping[str, Any], node: Any, draft: Draft, lines: list[str]) -> Iterable[_Insertion]:  # noqa: ANN401 -- ruamel's nodes
    if node.flow_style:
        raise UnplaceableError(f"its table {table['name']} stands in braces")
    column = node.start_mark.column
    missing: list[str] = []
    for part in LISTS:
        fresh = list_lines(table, part, draft)
        place = _field(node, part)
        if not fresh:
            continue
        if place is None:
            missing += [f"{' ' * column}{part}:", *_shifted(fresh, column + 2)]
        elif not isinstance(place, SequenceNode) or place.flow_style or not place.value:
            raise UnplaceableError(f"the {part} of its table {table['name']} are no list of blocks")
        else:
            dash = place.start_mark.column
            yield _Insertion(_end_of(place, lines, dash), _shifted(fresh, dash))
    if missing:
        yield _Insertion(_end_of(node, lines, column), missing)


def _shifted(lines: Iterable[str], width: int) -> list[str]:
    return [f"{' ' * width}{line}" for line in lines]


def _field(node: Any, name: str) -> Node | None:  # noqa: ANN401 -- ruamel's nodes
    if not isinstance(node, MappingNode):
        return None
    return next((value for key, value in node.value if _scalar(key) == name), None)


def _scalar(node: Node | None) -> str | None:
    return str(node.value) if isinstance(node, ScalarNode) else None


def _end_of(node: Any, lines: list[str], column: int) -> int:  # noqa: ANN401 -- ruamel's nodes
    """Return the line after the last one of a block, and after the comments that stand deeper than it begins."""
    last = _last_line(node)
    while last and not lines[last].strip():
        last -= 1
    end = last + 1
    for number in range(end, len(lines)):
        if not lines[number].strip():
            continue
        comment = re.match(r"( *)#", lines[number])
        if comment is None or len(comment.group(1)) <= column:
            break
        end = number + 1
    return end


def _last_line(node: Any) -> int:  # noqa: ANN401 -- ruamel's nodes
    """Return the last line of a node's last value, counted from 0."""
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    mark = node.end_mark
    is_past = mark.column == 0 and mark.line > node.start_mark.line
    return int(mark.line - 1 if is_past else mark.line)
