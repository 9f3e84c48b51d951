"""What only single records tell of a pattern: limits, sizes, items of a key, index keys of items written."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from msgspec import Struct, field

from analyzer.contract.seen import Key, identity_of, key_of
from analyzer.knowledge.names import table_name
from analyzer.requests.shapes import parts_shape, raw_key, skeleton_of
from analyzer.requests.tokens import key_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analyzer.contract.seen import Identity
    from analyzer.model.request import Part, RequestRecord
    from analyzer.model.shape import Shape
    from analyzer.requests.lexicon import Lexicon
    from analyzer.requests.shapes import Skeleton

__all__ = ["Detail", "Details", "ItemDetail"]

_MOST_SKELETONS = 4_096
_MOST_SHAPES = 16_384
_MOST_KEYS = 5_000
_MOST_LIMITS = 64
_MOST_SIZES = 2_000
_CLEAR = frozenset({None, "reveal"})
_WRITES = frozenset({"PutItem", "UpdateItem"})
_WRITTEN = frozenset({"Put", "Update"})


class ItemDetail(Struct):
    """What is known of the items of one kind of key: sizes in bytes of some, index keys by index."""

    sizes: list[int] = field(default_factory=list)
    index_keys: dict[str, Counter[Key]] = field(default_factory=dict)

    @property
    def usual_bytes(self) -> int | None:
        """The size that half of the items do not pass, to two digits; None where no size is known."""
        return max(1, int(float(f"{median(self.sizes):.2g}"))) if self.sizes else None

    def measure(self, size: int | None) -> None:
        """Note the size of an item, where it is known."""
        if size is not None and len(self.sizes) < _MOST_SIZES:
            self.sizes.append(size)

    def take(self, other: ItemDetail) -> None:
        """Add what another one saw."""
        self.sizes += other.sizes
        for index, keys in other.index_keys.items():
            self.index_keys.setdefault(index, Counter()).update(keys)


class Detail(Struct):
    """What is known of the requests of one pattern.

    `items` holds the most items that one read of a key found, by key. `goes_on`: some reads were one page of several.
    """

    records: int = 0
    limits: Counter[int | None] = field(default_factory=Counter)
    items: dict[str, int] = field(default_factory=dict)
    goes_on: bool = False
    item: ItemDetail = field(default_factory=ItemDetail)

    def take(self, other: Detail) -> None:
        """Add what another one saw."""
        self.records += other.records
        self.limits.update(other.limits)
        for key, items in other.items.items():
            self.items[key] = max(items, self.items.get(key, 0))
        self.goes_on |= other.goes_on
        self.item.take(other.item)


class Details:
    """Looks at single records, bounded; `lexicon` reads keys as the digest does whose counts go with it."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._skeletons: dict[object, tuple[Skeleton, ...]] = {}
        self._identities: dict[object, Identity] = {}
        self._patterns: dict[tuple[str, Identity], Detail] = {}
        self._items: dict[tuple[str, Key], ItemDetail] = {}
        self._index_keys: dict[tuple[str, str], Counter[tuple[str, ...]]] = {}

    def of_pattern(self, table: str, identities: Iterable[Identity]) -> Detail:
        """Return what is known of the pattern that these are."""
        whole = Detail()
        for identity in sorted(identities, key=repr):
            whole.take(self._patterns.get((table, identity), Detail()))
        return whole

    def of_item(self, table: str, key: Key) -> ItemDetail:
        """Return what is known of items of one kind of key."""
        return self._items.get((table, key), ItemDetail())

    def indexes(self, table: str) -> dict[str, tuple[str, ...]]:
        """Return the indexes that items written have keys of, and the attributes of those."""
        return {
            index: attributes.most_common(1)[0][0]
            for (name, index), attributes in sorted(self._index_keys.items())
            if name == table
        }

    def add(self, record: RequestRecord) -> None:
        """Look at one record."""
        for skeleton in self._skeletons_of(record):
            if skeleton.is_parted:
                shape = parts_shape(record, skeleton.table, self._lexicon, record.pattern)
                self._note(record, shape, skeleton.table, None)
            else:
                values = skeleton.values(record)
                predicates = skeleton.predicates(self._lexicon, values)
                shape = skeleton.shape(predicates, record.pattern)
                known = values[0] if values else None
                self._note(record, shape, skeleton.table, None if known is None else known[0])
        for part in record.parts or ():
            if part.op in _WRITTEN:
                self._note_item(record, table_name(part.table or record.table or ""), part)
        if record.op in _WRITES:
            self._note_item(record, table_name(record.table or ""), record)

    def _skeletons_of(self, record: RequestRecord) -> tuple[Skeleton, ...]:
        raw = raw_key(record)
        found = self._skeletons.get(raw)
        if found is None:
            found = skeleton_of(record, self._lexicon)
            if len(self._skeletons) < _MOST_SKELETONS:
                self._skeletons[raw] = found
        return found

    def _note(self, record: RequestRecord, shape: Shape, table: str, key: str | None) -> None:
        identity = self._identity(shape)
        detail = self._patterns.get((table, identity))
        if detail is None:
            if len(self._patterns) >= _MOST_SHAPES:
                return
            detail = self._patterns[table, identity] = Detail()
        detail.records += 1
        if record.limit in detail.limits or len(detail.limits) < _MOST_LIMITS:
            detail.limits[record.limit] += 1
        if record.op == "Query":
            _note_items(detail, record, key)
        if not record.parts:
            detail.item.measure(record.item_bytes)

    def _identity(self, shape: Shape) -> Identity:
        known = self._identities.get(shape.fingerprint)
        if known is None:
            keys = {key_of(part.key) for part in shape.parts} if shape.parts else {key_of(shape.key)}
            known = identity_of(shape, () if shape.scans else [key for key in keys if key])
            if len(self._identities) < _MOST_SHAPES:
                self._identities[shape.fingerprint] = known
        return known

    def _note_item(self, record: RequestRecord, table: str, item: RequestRecord | Part) -> None:
        """Note size and index keys of an item written, under the shape of its key."""
        is_clear = record.keys in _CLEAR
        key = self._key(table, item.key or {}, is_clear=is_clear)
        detail = self._items.get((table, key))
        if detail is None:
            if len(self._items) >= _MOST_SHAPES:
                return
            detail = self._items[table, key] = ItemDetail()
        detail.measure(item.item_bytes)
        for index, attributes in (item.index_keys or {}).items():
            self._index_keys.setdefault((table, index), Counter())[tuple(attributes)] += 1
            detail.index_keys.setdefault(index, Counter())[self._key(table, attributes, is_clear=is_clear)] += 1

    def _key(self, table: str, attributes: Mapping[str, Mapping[str, object]], *, is_clear: bool) -> Key:
        texts = ((name, key_text(value)) for name, value in attributes.items())
        return key_of(
            self._lexicon.classify(table, name, "=", None if text is None else (text,), clear=is_clear)
            for name, text in sorted(texts)
        )


def _note_items(detail: Detail, record: RequestRecord, key: str | None) -> None:
    """Note how many items a key was found to have; what a filter discards is an item too."""
    found = record.count if record.scanned is None else record.scanned
    if record.more or record.resumed:
        detail.goes_on = True
    if key is None or found is None or (key not in detail.items and len(detail.items) >= _MOST_KEYS):
        return
    detail.items[key] = max(found, detail.items.get(key, 0))
