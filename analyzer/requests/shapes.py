"""From a record to its shape: the skeleton that its texts fix, and the templates that its key values fit."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from analyzer.knowledge.names import table_name
from analyzer.knowledge.operations import WRITES
from analyzer.model.shape import KeyPredicate, PartShape, Shape
from analyzer.requests.expressions import ExpressionError, filter_of, key_bounds, projection_of, update_of
from analyzer.requests.masking import LONGEST_TEXT, mask_expression, mask_statement, masked_statement
from analyzer.requests.partiql import statement_text
from analyzer.requests.statements import read_statement, table_of
from analyzer.requests.tokens import key_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.model.request import Part, RequestRecord
    from analyzer.requests.lexicon import Lexicon

__all__ = ["Skeleton", "Slot", "parts_shape", "raw_key", "skeleton_of"]

KeyValues = tuple[tuple[str, ...] | None, ...]
"""For each slot of a skeleton the texts of its values, None where they are not known."""

_CLEAR = frozenset({None, "reveal"})
_PART_WRITES = frozenset({"Put", "Update", "Delete"})
_VALUE = re.compile(r":\w+")


class Slot(NamedTuple):
    """Where the values of one key condition stand in a record.

    Those of an equality stand in `key`; others, and equalities where there is no `key`, in `values`: `places` are
    positions among the key condition's placeholders or a masked statement's `?`, both in order of appearance.
    """

    attribute: str
    operator: str
    places: tuple[int, ...] = ()


class Skeleton(Struct, frozen=True, kw_only=True):
    """What the structure of a record parses to, whatever its key values; the same for all records of one raw key.

    `is_parted` tells a batch or transaction of which the members are known: its shape comes from `parts_shape`.
    `is_clear` says that key values are recorded as they were sent, so that only declared literals may be shown.
    """

    operation: str
    table: str
    index: str | None = None
    slots: tuple[Slot, ...] = ()
    filter: str | None = None
    filter_attributes: tuple[str, ...] = ()
    projection: tuple[str, ...] = ()
    condition: str | None = None
    update: str | None = None
    statement: str | None = None
    consistent: bool | None = None
    forward: bool | None = None
    limit_bucket: int | None = None
    select: str | None = None
    segmented: bool = False
    scans: bool = False
    writes: bool = False
    parsed: bool = True
    is_parted: bool = False
    is_clear: bool = True

    def values(self, record: RequestRecord) -> KeyValues:
        """Return the key values of a record that has this skeleton."""
        found: list[tuple[str, ...] | None] = []
        key = record.key
        for attribute, operator, places in self.slots:
            value = key.get(attribute) if key is not None and operator == "=" else None
            if value is not None:
                text = key_text(value)
                found.append(None if text is None else (text,))
            elif places and record.values is not None:
                found.append(_placed(record, record.values, places))
            else:
                found.append(None)
        return tuple(found)

    def predicates(self, lexicon: Lexicon, values: KeyValues) -> tuple[KeyPredicate, ...]:
        """Classify the key values of a record."""
        return tuple(
            lexicon.classify(self.table, slot.attribute, slot.operator, texts, clear=self.is_clear)
            for slot, texts in zip(self.slots, values, strict=True)
        )

    def shape(
        self, predicates: tuple[KeyPredicate, ...], tagged: str | None = None, parts: tuple[PartShape, ...] = ()
    ) -> Shape:
        """Return the shape of the records that have this skeleton and these predicates, with its fingerprint."""
        shape = Shape(
            fingerprint="",
            operation=self.operation,
            table=self.table,
            index=self.index,
            key=predicates,
            filter=self.filter,
            filter_attributes=self.filter_attributes,
            projection=self.projection,
            condition=self.condition,
            update=self.update,
            statement=self.statement,
            consistent=self.consistent,
            forward=self.forward,
            limit_bucket=self.limit_bucket,
            select=self.select,
            segmented=self.segmented,
            parts=parts,
            tagged=tagged,
            scans=self.scans,
            writes=self.writes,
            parsed=self.parsed,
        )
        return msgspec.structs.replace(shape, fingerprint=_fingerprint(shape))


def raw_key(record: RequestRecord) -> tuple[object, ...]:
    """Return what fixes a record's skeletons, with all taken out that libraries invent anew for each call."""
    names = record.names or {}
    return (
        record.op,
        record.table,
        record.index,
        None if record.key is None else tuple(record.key),
        *(
            None if text is None else mask_expression(text, names)
            for text in (record.key_condition, record.filter, record.projection, record.condition, record.update)
        ),
        None if record.statement is None else (mask_statement(record.statement), _told(record, record.statement)),
        record.consistent,
        record.forward,
        _limit_bucket(record.limit),
        record.select,
        record.segment is not None,
        record.keys in _CLEAR,
        None
        if record.parts is None
        else frozenset((p.op, p.table, _masked_or_none(p.statement)) for p in record.parts),
    )


def skeleton_of(record: RequestRecord, lexicon: Lexicon | None = None) -> tuple[Skeleton, ...]:
    """Return one skeleton for each table of a call, in order of appearance; it never fails.

    What cannot be parsed has the one skeleton of its table, index and operation that says so. A table that nothing
    names is "". The lexicon tells which attributes of a statement are keys.
    """
    if record.parts:
        tables: dict[str, list[Part]] = {}
        for part in record.parts:
            tables.setdefault(_table_of_part(record, part), []).append(part)
        return tuple(_skeleton_of_parts(record, table, parts) for table, parts in tables.items())
    try:
        if record.statement is not None:
            return (_skeleton_of_statement(record, record.statement, lexicon),)
        return (_skeleton_of_call(record),)
    except ExpressionError:
        table = table_name(record.table or "") or ("" if record.statement is None else table_of(record.statement))
        return (_unparsed(record, table),)


def parts_shape(record: RequestRecord, table: str, lexicon: Lexicon, tagged: str | None = None) -> Shape:
    """Return the shape of what a batch or transaction asks of one table: its distinct members, in order."""
    parts = [part for part in record.parts or () if _table_of_part(record, part) == table]
    try:
        shapes = {_part_shape(record, table, part, lexicon) for part in parts}
    except ExpressionError:
        return _unparsed(record, table).shape((), tagged)
    ordered = tuple(sorted(shapes, key=msgspec.json.encode))
    return _skeleton_of_parts(record, table, parts).shape((), tagged, ordered)


def _skeleton_of_call(record: RequestRecord) -> Skeleton:
    names = record.names or {}
    slots = _slots_of_key(record.key or {})
    if record.key_condition is not None:
        bounds = key_bounds(mask_expression(record.key_condition, names))
        slots = tuple(Slot(b.attribute, b.operator, tuple(int(v[1:]) for v in b.values)) for b in bounds)
    filtered = None if record.filter is None else filter_of(mask_expression(record.filter, names))
    return Skeleton(
        operation=record.op,
        table=table_name(record.table or ""),
        index=record.index,
        slots=_ordered(slots),
        filter=None if filtered is None else filtered.text,
        filter_attributes=() if filtered is None else filtered.attributes,
        projection=() if record.projection is None else projection_of(mask_expression(record.projection, names)),
        condition=None if record.condition is None else filter_of(mask_expression(record.condition, names)).text,
        update=None if record.update is None else update_of(mask_expression(record.update, names)),
        consistent=record.consistent,
        forward=record.forward,
        limit_bucket=_limit_bucket(record.limit),
        select=record.select,
        segmented=record.segment is not None,
        scans=record.op == "Scan",
        writes=record.op in WRITES,
        is_clear=record.keys in _CLEAR,
    )


def _skeleton_of_statement(record: RequestRecord, text: str, lexicon: Lexicon | None) -> Skeleton:
    masked = mask_statement(text)
    read = read_statement(masked, lexicon, frozenset(record.key or ()), _told(record, text))
    return Skeleton(
        operation=record.op,
        table=table_name(read.statement.table),
        index=read.statement.index or record.index,
        slots=_ordered(tuple(Slot(*bound) for bound in read.bounds)),
        filter=read.filter,
        filter_attributes=read.filter_attributes,
        projection=read.projection,
        condition=read.condition,
        update=read.update,
        statement=statement_text(read.statement),
        consistent=record.consistent,
        forward=read.statement.forward if record.forward is None else record.forward,
        limit_bucket=_limit_bucket(record.limit),
        select=record.select,
        scans=read.scans,
        writes=read.statement.verb != "SELECT",
        is_clear=record.keys in _CLEAR,
    )


def _told(record: RequestRecord, statement: str) -> frozenset[int]:
    """Return which `?` of the masked statement stand for parameters whose values the record tells."""
    values = record.values
    if not values:
        return frozenset()
    return frozenset(
        place
        for place, parameters in enumerate(masked_statement(statement).positions)
        if any(f"?{parameter + 1}" in values for parameter in parameters)
    )


def _skeleton_of_parts(record: RequestRecord, table: str, parts: list[Part]) -> Skeleton:
    return Skeleton(
        operation=record.op,
        table=table,
        consistent=record.consistent,
        writes=record.op in WRITES or any(part.op in _PART_WRITES for part in parts),
        is_parted=True,
        is_clear=record.keys in _CLEAR,
    )


def _part_shape(record: RequestRecord, table: str, part: Part, lexicon: Lexicon) -> PartShape:
    names = record.names or {}
    clear = record.keys in _CLEAR
    key = []
    for attribute, value in sorted((part.key or {}).items()):
        text = key_text(value)
        key.append(lexicon.classify(table, attribute, "=", None if text is None else (text,), clear=clear))
    condition = None if part.condition is None else filter_of(mask_expression(part.condition, names)).text
    update = None if part.update is None else update_of(mask_expression(part.update, names))
    if part.statement is not None:
        read = read_statement(mask_statement(part.statement), lexicon, frozenset(part.key or ()), frozenset())
        key = key or [KeyPredicate(attribute, operator) for attribute, operator, _ in read.bounds]
        condition, update = condition or read.condition, update or read.update
    return PartShape(part.op, tuple(key), condition, update)


def _unparsed(record: RequestRecord, table: str) -> Skeleton:
    return Skeleton(
        operation=record.op,
        table=table,
        index=record.index,
        scans=record.op == "Scan",
        writes=record.op in WRITES,
        parsed=False,
    )


def _table_of_part(record: RequestRecord, part: Part) -> str:
    return table_name(part.table or record.table or "") or ("" if part.statement is None else table_of(part.statement))


def _slots_of_key(key: Mapping[str, object]) -> tuple[Slot, ...]:
    return tuple(Slot(attribute, "=") for attribute in key)


def _ordered(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
    return tuple(sorted(slots, key=lambda slot: (slot.operator != "=", slot)))


def _limit_bucket(limit: int | None) -> int | None:
    return None if limit is None or limit < 1 else 1 << (limit - 1).bit_length()


def _masked_or_none(statement: str | None) -> str | None:
    return None if statement is None else mask_statement(statement)


def _placed(
    record: RequestRecord, values: Mapping[str, Mapping[str, object]], places: tuple[int, ...]
) -> tuple[str, ...] | None:
    names: list[str] = []
    if record.key_condition is not None:
        known = list(dict.fromkeys(_VALUE.findall(record.key_condition[:LONGEST_TEXT])))
        names = [known[place] for place in places if place < len(known)]
    elif record.statement is not None:
        positions = masked_statement(record.statement).positions
        names = [f"?{at + 1}" for place in places if place < len(positions) for at in positions[place]]
    texts = [key_text(values[name]) for name in names if name in values]
    known_texts = tuple(text for text in texts if text is not None)
    return known_texts if known_texts and len(known_texts) == len(names) >= len(places) else None


def _fingerprint(shape: Shape) -> str:
    """Hash all that makes a shape: its fields in this order, as JSON; 16 hexadecimal digits.

    Two shapes are equal where their fingerprints are: whatever is not listed here follows from what is.
    """
    content = msgspec.json.encode(
        [
            [shape.operation, shape.table, shape.index, shape.tagged, shape.parsed, shape.scans, shape.writes],
            sorted(_listed(predicate) for predicate in shape.key),
            [shape.filter, shape.projection, shape.condition, shape.update, shape.statement],
            [shape.consistent, shape.forward, shape.limit_bucket, shape.select, shape.segmented],
            [[part.operation, [_listed(p) for p in part.key], part.condition, part.update] for part in shape.parts],
        ]
    )
    return blake2b(content, digest_size=8).hexdigest()


def _listed(predicate: KeyPredicate) -> list[object]:
    return [predicate.attribute, predicate.operator, predicate.template, list(predicate.declared)]
