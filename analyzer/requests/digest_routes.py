"""From a record's raw texts to its cell, by ever finer caches: only what was never seen before meets the grammar.

A route is what the raw texts, caller and sample rate of a record fix. With the class of its key it has a binding: the
parsed skeleton and where its other key values stand. With the class of those as well it is a cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from analyzer.model.counts import Cell
from analyzer.model.request import RequestRecord
from analyzer.model.shape import KeyPredicate
from analyzer.model.target import Target
from analyzer.requests.digest_bindings import Binding
from analyzer.requests.digest_block import ABSENT, fault_of
from analyzer.requests.digest_cells import WRITE_OPERATIONS, is_local_index, rounded_rate, unparsed_skeleton
from analyzer.requests.digest_churn import even_out, even_out_statement, rename_values
from analyzer.requests.digest_codes import CodeMap
from analyzer.requests.digest_keys import FOREIGN, KeySpace
from analyzer.requests.digest_told import TEXTS, bytes_of
from analyzer.requests.masking import mask_statement
from analyzer.requests.shapes import raw_key, skeleton_of
from analyzer.requests.statements import table_of

if TYPE_CHECKING:
    from analyzer.requests.digest_block import Line
    from analyzer.requests.digest_cells import CellTable
    from analyzer.requests.digest_churn import Evened
    from analyzer.requests.digest_keys import FormTable
    from analyzer.requests.digest_told import Told
    from analyzer.requests.lexicon import Lexicon
    from analyzer.requests.shapes import Skeleton

__all__ = ["CLASS_BITS", "COUNTER", "Route", "Router", "route_keys", "table_name"]

_OF_EXPRESSIONS = slice(TEXTS.index("key_condition"), TEXTS.index("statement"))
_OF_STATEMENT = slice(_OF_EXPRESSIONS.stop, _OF_EXPRESSIONS.stop + 1)
_OF_PLAIN = slice(0, _OF_EXPRESSIONS.start), slice(_OF_STATEMENT.stop, None)
"""What lies on both sides of expressions and statement."""

COUNTER = 0
"""The route of lines that are no requests."""

_MOST_SALTS = 64
CLASS_BITS = 20
_CLASS_MASK = (1 << CLASS_BITS) - 1
_DECODE_NAMES = msgspec.json.Decoder(dict[str, str]).decode
_DECODE_VALUES = msgspec.json.Decoder(dict[str, dict[str, Any]]).decode

Texts = tuple[Any, ...]
RouteKey = tuple[Texts, bytes]


def route_keys(told: Told) -> list[RouteKey]:
    """Return for each line what fixes its route; quick, since it is asked for every record."""
    return list(zip(told.texts, bytes_of(told.names), strict=True))


class Route:
    """What raw texts, caller and rate of records fix; `record` holds their texts and nothing of their values."""

    __slots__ = ("caller", "has_values", "is_parted", "number", "rate", "record", "space", "unkeyed")

    def __init__(self, number: int, record: RequestRecord, space: KeySpace, *, is_parted: bool) -> None:
        self.number = number
        self.record = record
        self.space = space
        self.caller = record.caller
        self.rate = rounded_rate(record.sample_rate)
        self.is_parted = is_parted
        self.unkeyed: tuple[int, bytes, bytes] | None = None
        self.has_values = record.key_condition is not None or record.statement is not None


class Router:
    """The caches; `clear` forgets routes and bindings, never cells."""

    def __init__(self, lexicon: Lexicon, forms: FormTable, cells: CellTable, *, most: int, budget: int) -> None:
        self.salts: set[str] = set()
        self._lexicon = lexicon
        self._forms = forms
        self._cells = cells
        self._most = self._most_values = most
        self._budget = budget
        self._allowance = 0
        self._newest: int | None = None
        self._skeletons: dict[tuple[object, ...], tuple[Skeleton, ...]] = {}
        self._known_cells: dict[tuple[object, ...], int] = {}
        self._spaces: dict[tuple[str, str | None, str | None], KeySpace] = {}
        self._seen = 0
        self.squeezed = 0
        self.cell_codes = CodeMap(self.plain_cell)
        self.clear()

    def clear(self) -> None:
        """Forget all routes; numbers given out before are void."""
        self.routes: list[Route] = []
        self.known: dict[RouteKey, int] = {}
        self._evened: dict[tuple[object, ...], int] = {}
        self._met: set[int] = set()
        self._bindings: dict[tuple[int, int, tuple[str, ...]], Binding] = {}
        self._by_code: dict[int, Binding] = {}
        self._valued: dict[tuple[int, bytes], int] = {}
        self._seen = 0
        self.cell_codes.clear()

    @property
    def is_full(self) -> bool:
        """Whether it is time to `clear`."""
        return len(self.routes) > self._most or self._seen > 16 * self._most or len(self._evened) > self._most

    def space(self, table: str, index: str | None, policy: str | None) -> KeySpace:
        """Return the space of the keys of a table or index under a `keys` policy."""
        place = (table, index, policy)
        space = self._spaces.get(place)
        if space is None:
            if len(self._spaces) >= self._most:
                self._spaces.clear()
            space = self._spaces[place] = KeySpace(self._forms, self._lexicon, table, index, policy)
        return space

    def refill(self, oldest: int, newest: int) -> None:
        """Let raw texts go to the grammar again: so many for each second of log time that is new."""
        begin = oldest - 1 if self._newest is None else self._newest
        if newest > begin:
            self._allowance = self._budget * (newest - begin)
            self._newest = newest

    def add(self, line: Line, key: RouteKey) -> int:
        """Return the number of the route of a line whose texts were never seen.

        Where they differ from known ones in invented names alone, that is a route of evened texts, and the line's
        values are renamed to fit it; only texts that come back get a route of their own.
        """
        number = self.known.get(key)
        if number is not None:
            return number
        if line.counter is not None or fault_of(line) is not None:
            self.known[key] = COUNTER
            return COUNTER
        texts, names = key[0], _names(key[1]) or {}
        evened = None if self._comes_back(key) else _even_out(line, texts, names)
        if evened is not None:
            rest = (*(texts[part] for part in _OF_PLAIN), line.parts is ABSENT, *evened.key)
            before = self._evened.get(rest)
            if before is None:
                self._evened[rest] = COUNTER
            elif line.values is not ABSENT and evened.numbers:
                line.values = msgspec.Raw(rename_values(_values(bytes(line.values)), evened.renamed))
            if before is not None:
                return before or self._add_evened(line, texts, evened, names, rest)
        number = self._add(line, texts, names)
        self.known[key] = number
        return number

    def _comes_back(self, key: RouteKey) -> bool:
        """Whether texts were met before as evened ones: written otherwise, not invented anew for each call."""
        mark = hash(key)
        if mark in self._met:
            return len(self.routes) <= self._most // 2
        if len(self._met) >= self._most:
            self._met.clear()
        self._met.add(mark)
        return False

    def _add_evened(
        self, line: Line, texts: Texts, evened: Evened, names: dict[str, str], rest: tuple[object, ...]
    ) -> int:
        of_texts = _OF_EXPRESSIONS if line.statement is None else _OF_STATEMENT
        texts = (*texts[: of_texts.start], *evened.texts, *texts[of_texts.stop :])
        number = self._evened[rest] = self._add(line, texts, evened.names(names))
        return number

    def _add(self, line: Line, texts: Texts, names: dict[str, str]) -> int:
        fields = dict(zip(TEXTS, texts, strict=True))
        segments = fields.pop("total_segments")
        if line.salt_id is not None and len(self.salts) < _MOST_SALTS:
            self.salts.add(line.salt_id)
        salt = self._lexicon.salt
        if salt is not None and fields["keys"] == "token" and fields["salt_id"] not in {None, salt.id}:
            fields["keys"] = FOREIGN
        record = RequestRecord(
            time="",
            v=1,
            names=names or None,
            segment=None if segments is None else 0,
            total_segments=segments,
            **fields,
        )
        number = len(self.routes) + 1
        space = self.space(table_name(line.table), line.index, record.keys)
        self.routes.append(Route(number, record, space, is_parted=line.parts is not ABSENT))
        return number

    def route(self, number: int) -> Route:
        """Return a route by its number, which is not COUNTER."""
        return self.routes[number - 1]

    def binding(self, route: Route, key_class: int, told: tuple[str, ...] = ()) -> Binding:
        """Return the binding of a route with a class of keys; `told` names the values of a statement."""
        place = (route.number, key_class, told)
        binding = self._bindings.get(place)
        if binding is None:
            predicates = self._forms.classes[key_class]
            record = msgspec.structs.replace(
                route.record,
                key={predicate.attribute: {} for predicate in predicates} or None,
                values={name: {} for name in told} or None,
            )
            key = raw_key(record)
            binding = self._bindings[place] = Binding(route, self._parsed(key, record)[0], record, predicates)
            binding.raw_key = key
            binding.squash = self._space_of(binding).squash if binding.marker is not None else None
        return binding

    def skeletons(self, record: RequestRecord) -> tuple[Skeleton, ...]:
        """Return a record's skeletons, from the grammar only if its masked texts were never seen, N times a second."""
        return self._parsed(raw_key(record), record)

    def _parsed(self, key: tuple[object, ...], record: RequestRecord) -> tuple[Skeleton, ...]:
        skeletons = self._skeletons.get(key)
        if skeletons is not None:
            return skeletons
        if self._allowance <= 0:
            self.squeezed += 1
            return (_unparsed(record),)
        self._allowance -= 1
        skeletons = skeleton_of(record, self._lexicon)
        if len(self._skeletons) >= self._most:
            self._skeletons.clear()
            self._known_cells.clear()
        self._skeletons[key] = skeletons
        return skeletons

    def plain_cell(self, code: int) -> int:
        """Return the cell of route << 20 | class of key, where there are no other key values."""
        route = self.route(code >> CLASS_BITS)
        return self._cell(self.binding(route, code & _CLASS_MASK), ())

    def value_cells(self, codes: list[int], raws: list[bytes], signatures: list[bytes]) -> list[int]:
        """Return the cells of records whose other key values are these; a code is route << 20 | class of key.

        `signatures` are what the space of their keys leaves of them: records with the same one have the same cell.
        """
        known = self._valued
        found = list(map(known.get, zip(codes, signatures, strict=True)))
        cells = [-1 if cell is None else cell for cell in found]
        for at in [at for at, cell in enumerate(found) if cell is None]:
            code, raw = codes[at], raws[at]
            binding = self._by_code.get(code) or self._bound(code, raw)
            marker = binding.marker
            tail = binding.fixed if marker is None else raw.partition(marker)[2]
            cell = binding.seen.get(tail or raw)
            cells[at] = self._learn(binding, tail or raw, raw) if cell is None else cell
            if tail:
                if len(known) >= self._most_values:
                    known.clear()
                known[code, signatures[at]] = cells[at]
        return cells

    def _learn(self, binding: Binding, tail: bytes, raw: bytes) -> int:
        """Return the cell of values whose text was never seen, but perhaps their signature."""
        signature = tail if binding.squash is None or tail is raw else binding.squash(tail)
        cell = binding.seen.get(signature)
        if cell is None:
            cell = self._cell(binding, self._predicates(binding, raw))
            self._seen += 1
            binding.seen[signature] = cell
        return cell

    def _bound(self, code: int, raw: bytes) -> Binding:
        """Return the binding of a record's code; that of a statement depends on the names of its values as well."""
        route = self.route(code >> CLASS_BITS)
        key_class = code & _CLASS_MASK
        if route.record.statement is not None:
            return self.binding(route, key_class, tuple(_values(raw)))
        binding = self._by_code[code] = self.binding(route, key_class)
        return binding

    def _predicates(self, binding: Binding, raw: bytes) -> tuple[KeyPredicate, ...]:
        """Classify the values of the slots that do not stand in the key."""
        skeleton = binding.skeleton
        texts = self._texts(binding, raw)
        space = self._space_of(binding)
        slots = skeleton.slots
        return tuple(space.predicate(slots[at].attribute, slots[at].operator, texts[at]) for at in binding.others)

    def _space_of(self, binding: Binding) -> KeySpace:
        return self.space(binding.skeleton.table, binding.skeleton.index, binding.route.record.keys)

    @staticmethod
    def _texts(binding: Binding, raw: bytes) -> tuple[tuple[str, ...] | None, ...]:
        return binding.skeleton.values(msgspec.structs.replace(binding.record, values=_values(raw)))

    def key_from_values(self, route: Route, raw: bytes) -> tuple[int, bytes, bytes]:
        """Return form, partition and sort key that a record without `key` binds by equality in its values."""
        return self._key_from(route, raw) if raw else self._unkeyed(route)

    def _unkeyed(self, route: Route) -> tuple[int, bytes, bytes]:
        """Return the same for a record without values: all of a route have one."""
        if route.unkeyed is None:
            route.unkeyed = self._key_from(route, b"")
        return route.unkeyed

    def _key_from(self, route: Route, raw: bytes) -> tuple[int, bytes, bytes]:
        binding = self._bound(route.number << CLASS_BITS, raw)
        found = {
            slot.attribute: values[0]
            for slot, values in zip(binding.skeleton.slots, self._texts(binding, raw), strict=True)
            if slot.operator == "=" and values is not None and len(values) == 1
        }
        return self._space_of(binding).parsed(found)

    def _cell(self, binding: Binding, others: tuple[KeyPredicate, ...]) -> int:
        skeleton = binding.skeleton
        route = binding.route
        known: dict[int | str, KeyPredicate] = {predicate.attribute: predicate for predicate in binding.key_class}
        known.update(zip(binding.others, others, strict=False))
        predicates = tuple(
            known.get(at) or known.get(slot.attribute) or KeyPredicate(slot.attribute, slot.operator)
            for at, slot in enumerate(skeleton.slots)
        )
        record = route.record
        what = (id(skeleton), predicates, record.pattern, record.account, record.region, route.caller, route.rate)
        number = self._known_cells.get(what)
        if number is None:
            shape = skeleton.shape(predicates, record.pattern)
            target = self.target(route, skeleton.table, skeleton.index)
            number = self._cells.number(Cell(target, shape, route.caller, route.rate))
            if any(known is skeleton for known in self._skeletons.get(binding.raw_key, ())):
                self._known_cells[what] = number  # the number of an object means it only while that is kept
        return number

    def target(self, route: Route, table: str, index: str | None) -> Target:
        """Return where a route's units are consumed: those of a local index on its table; the shape keeps its name."""
        if index is not None and is_local_index(self._lexicon, table, index):
            index = None
        return Target(route.record.account, route.record.region, table, index)


def _even_out(line: Line, texts: Texts, names: dict[str, str]) -> Evened | None:
    """Even out the texts of a line; None for those that are better left alone."""
    if line.statement is None:
        return even_out(texts[_OF_EXPRESSIONS], names) if line.parts is ABSENT else None
    return even_out_statement(line.statement) if line.values is ABSENT and line.parts is ABSENT else None


def _names(raw: bytes) -> dict[str, str] | None:
    try:
        return _DECODE_NAMES(raw)
    except (ValueError, RecursionError):
        return None


def _values(raw: bytes) -> dict[str, dict[str, Any]]:
    try:
        return _DECODE_VALUES(raw)
    except (ValueError, RecursionError):
        return {}


def _unparsed(record: RequestRecord) -> Skeleton:
    """Return what is left of a record for which there is no time: its table, index and operation."""
    table = table_name(record.table) or (table_of(mask_statement(record.statement)) if record.statement else "")
    return unparsed_skeleton(record.op, table, record.index, writes=record.op in WRITE_OPERATIONS)


def table_name(name: str | None) -> str:
    """Reduce an ARN to the name of its table."""
    return name.partition("/")[2].partition("/")[0] if name is not None and name.startswith("arn:") else name or ""
