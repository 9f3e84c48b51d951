"""A drafted contract as YAML: what is a guess says so in a comment, what was set aside stands there commented out."""

from __future__ import annotations

import re
import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from analyzer.contract.draft import Draft, SetAside, Unsure

__all__ = ["LISTS", "flow_text", "is_concealed", "list_lines", "table_lines", "told_of", "write_contract"]

_HEADER = """\
# Access patterns as traffic showed them; edit this file, it is yours from here on.
# Rates are requests a second as observed: declare the peaks that you expect instead.
# Add what traffic cannot tell: owner, staleness_tolerance, per_key.top_share. Guesses say "unsure".
"""
_CONCEALED = """\
# <id>#<id> comes of keys whose words the log conceals: write them as they are, such as USER#<id>.
"""
_WORDLESS = re.compile(r"(?<![^\s{,])<(?:id|number)>(?:[#|/]<(?:id|number)>)+(?![#|/\w])")
_FLOW = frozenset({"key", "rate", "filter"})
_WIDTH = 4096
"""Wider than any line: a comment goes to the end of the line that holds the field."""

LISTS = ("entities", "indexes", "patterns")
_NAMED_BY = {"entities": "name", "indexes": "name", "patterns": "id"}


def write_contract(draft: Draft) -> str:
    """Return the YAML text of a draft; it loads as a contract."""
    lines = ["version: 1", "tables:" if draft.document["tables"] else "tables: []"]
    unsure: dict[str, list[Unsure]] = {}
    for one in draft.unsure:
        unsure.setdefault(one.table, []).append(one)
    for table in draft.document["tables"]:
        own = replace(draft, unsure=tuple(unsure.get(table["name"], ())))  # looked at for each item of the table
        lines += _indented(table_lines(table, own), 2)
    text = "".join(f"{line}\n" for line in lines)
    concealed = _CONCEALED if is_concealed(text) else ""
    return _HEADER + concealed + text + "".join(_aside(one) for one in draft.set_aside)


def is_concealed(text: str) -> bool:
    """Whether templates of a text hold no word at all."""
    return _WORDLESS.search(text) is not None


def table_lines(table: Mapping[str, Any], draft: Draft) -> list[str]:
    """Return the lines of a table as an item of a list."""
    unsure = [one for one in draft.unsure if one.table == table["name"]]
    head = {name: value for name, value in table.items() if name not in LISTS}
    lines = _item_lines(head, [one for one in unsure if not one.part])
    for part in LISTS:
        if table.get(part) or part == "patterns":
            if part == "patterns" and table["name"] in draft.left_out:
                lines.append(f"  # {draft.left_out[table['name']]} rarer ones are left out")
            lines.append(f"  {part}:" + ("" if table.get(part) else " []"))
            lines += _indented(list_lines(table, part, draft), 4)
    return lines


def list_lines(table: Mapping[str, Any], part: str, draft: Draft) -> list[str]:
    """Return the lines of the items of one list of a table."""
    name = _NAMED_BY[part]
    lines: list[str] = []
    for item in table.get(part, ()):
        told = [one for one in draft.unsure if (one.table, one.part, one.name) == (table["name"], part, item[name])]
        lines += _item_lines(item, told)
    return lines


def told_of(draft: Draft, table: str, part: str, item: Mapping[str, Any]) -> list[str]:
    """Return what is unsure of one item of a list, in one line each."""
    name = item[_NAMED_BY[part]]
    told = (one for one in draft.unsure if (one.table, one.part, one.name) == (table, part, name))
    return [" ".join(f"{one.field}: {one.text}".split()) for one in told]


def flow_text(value: object) -> str:
    """Return a value in one line, in brackets and braces."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = True
    yaml.width = sys.maxsize
    yaml.representer.sort_base_mapping_type_on_output = False
    stream = StringIO()
    yaml.dump(value, stream)
    return stream.getvalue().strip()


def _indented(lines: Iterable[str], width: int) -> Iterator[str]:
    return (f"{' ' * width}{line}" for line in lines)


def _item_lines(item: Mapping[str, Any], unsure: Sequence[Unsure]) -> list[str]:
    """Return one item of a list, each guess at the end of the line of its field."""
    lines = _dump(CommentedSeq([_commented(item)])).splitlines()
    for one in unsure:
        place = next((at for at, line in enumerate(lines) if re.match(rf"[ -] {re.escape(one.field)}:", line)), 0)
        mark = "; " if "  # unsure: " in lines[place] else "  # unsure: "
        lines[place] += mark + " ".join(one.text.split())
    return lines


def _aside(one: SetAside) -> str:
    told = f"\n# Seen on {one.table}, and not declared: {' '.join(one.because.split())}\n"
    return told + "".join(f"#{' ' * 7}{line}\n" for line in _item_lines(one.pattern, ()))


def _commented(value: Any, name: str = "") -> Any:  # noqa: ANN401 -- any part of a document
    if isinstance(value, dict):
        node = CommentedMap((key, _commented(member, key)) for key, member in value.items())
        if name in _FLOW:
            node.fa.set_flow_style()
        return node
    if isinstance(value, list):
        listed = CommentedSeq(_commented(member, name) for member in value)
        if all(isinstance(member, str) for member in value):
            listed.fa.set_flow_style()
        return listed
    return value


def _dump(node: Any) -> str:  # noqa: ANN401 -- any part of a document
    yaml = YAML(typ="rt", pure=True)
    yaml.width = _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = StringIO()
    yaml.dump(node, stream)
    text = stream.getvalue()
    return re.sub(r"^  ", "", text, flags=re.MULTILINE)
