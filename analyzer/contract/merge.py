"""What a draft adds to a contract that people wrote: text put between theirs, of which nothing is changed.

Comments, order, quotes, anchors, line ends and blank lines stay as they are. What stands in lines gets lines; what
stands in brackets, and JSON, is added to inside its brackets; the brackets of an empty list make room for lines.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from analyzer.contract.document import parse_document
from analyzer.contract.places import Collection, Insertion, Places, UnplaceableError, spliced
from analyzer.contract.shorthand import ROW_LISTS
from analyzer.contract.write import LISTS, flow_text, list_lines, table_lines, told_of
from analyzer.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from analyzer.contract.draft import Draft

__all__ = ["UnplaceableError", "added", "merge"]

_NAMES = ("name", "table", "table_name")
_SPELLINGS = {"patterns": ROW_LISTS}
_WRITE_OUT = "write it out there"
_LONE_RETURN = re.compile(r"\r(?!\n)")
_STEP = 2


class _Member(NamedTuple):
    """One thing to add inside of brackets, what is unsure of it, and its name inside of braces."""

    value: object
    unsure: Sequence[str]
    name: str = ""


class _Fresh(NamedTuple):
    """The items of a list as lines, and as members of brackets."""

    lines: Sequence[str]
    members: Sequence[_Member]


def added(draft: Draft) -> dict[str, int]:
    """Return how many of each a draft adds: tables that are new count with all that is in them."""
    tables = draft.document["tables"]
    return {part: sum(len(table.get(part, ())) for table in tables) for part in LISTS}


def merge(text: str, draft: Draft, known: Iterable[str], *, is_json: bool = False) -> str:
    """Return a contract's text with what the draft adds; `known` are the names of its tables.

    Raises UnplaceableError with the line of what is in the way, and the mend.
    """
    lone = _LONE_RETURN.search(text)
    if lone is not None:
        line = text.count("\n", 0, lone.start()) + 1
        raise UnplaceableError(line, "a carriage return without a line feed stands here", "end lines with LF or CRLF")
    before = text.replace("\t", " ") if is_json else text  # JSON allows tabs between its tokens, YAML does not
    merged = spliced(text, _Merger(before, draft, frozenset(known), is_json=is_json).insertions())
    expected = _expected(parse_document(text, "", is_json=is_json), draft)
    try:
        read = parse_document(merged, "", is_json=is_json)
    except ContractError as error:
        raise UnplaceableError(error.faults[0].line or 1, f"with the additions {error.faults[0].message}") from None
    if read != expected:
        raise UnplaceableError(1, "with the additions it would not read as what stands there and they")
    return merged


class _Merger:
    """Places what one draft adds to one text."""

    def __init__(self, text: str, draft: Draft, known: frozenset[str], *, is_json: bool) -> None:
        self._places = Places(text)
        self._draft = draft
        self._known = known
        self._is_json = is_json

    def insertions(self) -> list[Insertion]:
        """Return what goes where."""
        places, root = self._places, self._places.root
        tables = places.field(root, "tables")
        if isinstance(tables, MappingNode):
            raise UnplaceableError(places.line(tables), "its tables are a mapping by name", _listed("tables"))
        if self._known and not isinstance(tables, SequenceNode):
            raise UnplaceableError(places.line(root), "its patterns stand in no list of `tables:`", _listed("tables"))
        nodes = {} if tables is None else {self._name(node): node for node in getattr(tables, "value", ())}
        new: list[Mapping[str, Any]] = []
        listed: list[Insertion] = []
        for table in self._draft.document["tables"]:
            node = nodes.get(table["name"])
            if node is not None:
                self._refuse_shared(tables, "its tables")
                listed += self._into_table(table, node)
            elif table["name"] in self._known:
                line = places.line(tables)
                raise UnplaceableError(line, f"its table {table['name']} has its name from elsewhere", _WRITE_OUT)
            else:
                new.append(table)
        if new:
            self._refuse_shared(tables, "its tables")
            listed += self._tables(root, tables, new)
        return listed

    def _name(self, node: Any) -> str | None:  # noqa: ANN401 -- ruamel's nodes
        name = self._places.field(node, *_NAMES)
        return str(name.value) if isinstance(name, ScalarNode) else None

    def _refuse_shared(self, node: Any, what: str) -> None:  # noqa: ANN401 -- ruamel's nodes
        if node is not None and self._places.is_shared(node):
            anchor = f"`&{node.anchor}`" if node.anchor else "an anchor"
            message = f"an alias of {anchor} repeats {what}, and both would be added to"
            raise UnplaceableError(self._places.line(node), message, "write out the alias")

    def _tables(self, root: Any, tables: Any, new: Sequence[Mapping[str, Any]]) -> Iterator[Insertion]:  # noqa: ANN401
        """Place tables that are new: at the end of the list, or as the first ones."""
        lines = [line for table in new for line in table_lines(table, self._draft)]
        fresh = _Fresh(lines, [self._member_of(table) for table in new])
        if isinstance(tables, SequenceNode):
            yield from self._into_list(tables, root, *fresh)
        elif isinstance(root, MappingNode) and tables is None:
            yield from self._into_mapping(root, {"tables": fresh})
        elif root is None:
            yield self._places.block(len(self._places.text), ["tables:", *_shifted(lines, _STEP)])
        else:
            raise UnplaceableError(self._places.line(tables or root), "`tables:` holds no list", _listed("tables"))

    def _member_of(self, table: Mapping[str, Any]) -> _Member:
        unsure = [" ".join(str(one).split()) for one in self._draft.unsure if one.table == table["name"]]
        return _Member({part: value for part, value in table.items() if part == "patterns" or value}, unsure)

    def _into_table(self, table: Mapping[str, Any], node: Any) -> Iterator[Insertion]:  # noqa: ANN401 -- ruamel's nodes
        """Place what one table lacks: at the ends of its lists, and those that it has not at its own end."""
        name = table["name"]
        missing: dict[str, _Fresh] = {}
        for part in LISTS:
            if not table.get(part):
                continue
            members = [_Member(item, told_of(self._draft, name, part, item)) for item in table[part]]
            fresh = _Fresh(list_lines(table, part, self._draft), members)
            self._refuse_shared(node, f"its table {name}")
            place = self._place(node, part, name)
            if place is None:
                missing[part] = fresh
            else:
                yield from self._into_list(place, node, *fresh)
        if missing:
            yield from self._into_mapping(node, missing)

    def _place(self, node: Any, part: str, name: str) -> SequenceNode | None:  # noqa: ANN401 -- ruamel's nodes
        """Return the list of a table that something goes into, None where it has none."""
        places = self._places
        spellings = _SPELLINGS.get(part, (part,))
        place = places.field(node, *spellings)
        what = f"the {part} of its table {name}"
        if place is None:
            if places.inherited(node, *spellings) is not None:
                raise UnplaceableError(places.line(node), f"{what} come by `<<` from elsewhere", _WRITE_OUT)
            return None
        if not isinstance(place, SequenceNode):
            told = "are a mapping by name" if isinstance(place, MappingNode) else "are no list"
            raise UnplaceableError(places.line(place), f"{what} {told}", _listed(part))
        self._refuse_shared(place, what)
        return place

    # the forms

    def _into_list(
        self, node: SequenceNode, holder: Collection, lines: Sequence[str], members: Sequence[_Member]
    ) -> Iterator[Insertion]:
        """Add to the end of a list that stands in another collection."""
        places = self._places
        if not node.flow_style:
            yield places.block(places.block_end(node), _shifted(lines, places.column(node)))
            return
        brackets = None if self._is_json or holder.flow_style else places.bare_brackets(node)
        if brackets is None:
            yield from self._into_brackets(node, members)
        else:
            yield Insertion(brackets.start, "", brackets.stop - brackets.start)
            yield places.block(places.next_line(brackets.stop), _shifted(lines, places.column(holder) + _STEP))

    def _into_mapping(self, node: MappingNode, lists: Mapping[str, _Fresh]) -> Iterator[Insertion]:
        """Add lists that a mapping has not."""
        if node.flow_style:
            yield from self._into_brackets(node, [_named(part, fresh.members) for part, fresh in lists.items()])
            return
        column = self._places.column(node)
        lines: list[str] = []
        for part, fresh in lists.items():
            lines += [f"{' ' * column}{part}:", *_shifted(fresh.lines, column + _STEP)]
        yield self._places.block(self._places.block_end(node), lines)

    def _into_brackets(self, node: Collection, members: Sequence[_Member]) -> Iterator[Insertion]:
        """Add before a closing bracket or brace, each on a line of its own where the file has several."""
        places = self._places
        close = node.end_mark.index - 1
        last = places.last(node) if node.value else close
        has_comma = bool(node.value) and places.has_comma(node)
        column = places.member_column(node, _STEP)
        is_flat = self._is_json and not places.has_lines
        written = [self._written(one, column, is_flat=is_flat) for one in members]
        comma = "," if node.value and not has_comma else ""
        if is_flat:
            yield Insertion(last, comma + ",".join(written))
        elif places.starts_line(close) and node.value:
            yield Insertion(last, comma)
            text = ",\n".join(written) + ("," if has_comma else "")
            yield places.block(places.line_start(close), text.split("\n"))
        else:
            ending = places.ending(places.line_start(close))
            text = comma + "".join(f"{ending}{one}," for one in written).replace("\n", ending)
            closing = f"{ending}{' ' * (column - _STEP)}" if self._is_json and not node.value else ""
            yield Insertion(close if has_comma else last, text[: None if has_comma else -1] + closing)

    def _written(self, member: _Member, column: int, *, is_flat: bool) -> str:
        """Write one member, a line feed between its lines."""
        name = ""
        if member.name:
            name = f"{json.dumps(member.name) if self._is_json else member.name}: "
        if is_flat:
            return name + json.dumps(member.value, ensure_ascii=False)
        if self._is_json:
            lines = (name + json.dumps(member.value, indent=_STEP, ensure_ascii=False)).split("\n")
        else:
            lines = [*(f"# unsure: {one}" for one in member.unsure), name + flow_text(member.value)]
        return "\n".join(_shifted(lines, column))


def _named(name: str, members: Iterable[_Member]) -> _Member:
    listed = [*members]
    return _Member([one.value for one in listed], [told for one in listed for told in one.unsure], name)


def _shifted(lines: Iterable[str], width: int) -> list[str]:
    return [f"{' ' * width}{line}" for line in lines]


def _listed(part: str) -> str:
    return f"write `{part}:` as a list, `- ` before each"


def _expected(document: Any, draft: Draft) -> Any:  # noqa: ANN401 -- a document is what its author wrote
    """Return what a document has to read as, with what the draft adds."""
    whole = {} if document is None else document
    tables = whole.setdefault("tables", [])
    found = {next((table[name] for name in _NAMES if name in table), None): table for table in tables}
    for table in draft.document["tables"]:
        there = found.get(table["name"])
        if there is None:
            tables.append({part: value for part, value in table.items() if part == "patterns" or value})
            continue
        for part in LISTS:
            if table.get(part):
                spelled = next((name for name in _SPELLINGS.get(part, ()) if name in there), part)
                there.setdefault(spelled, []).extend(table[part])
    return whole
