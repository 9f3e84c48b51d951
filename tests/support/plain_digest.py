"""A digest that is slow and plain: what the fast one has to agree with, record by record and without a sketch."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from analyzer.knowledge.throttling import is_throttle, limit_of, target_of_arn
from analyzer.model.counts import (
    LATENCY_BOUNDS_MS,
    N_COUNTS,
    Cell,
    Count,
    Counts,
    HeavyKey,
    HeavyKeys,
    KeyLevel,
    KeyName,
    Refusal,
    ThrottleCount,
)
from analyzer.model.finding import Direction
from analyzer.model.instant import SLICE_MS, parse_instant, slice_of
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.requests.digest_units import UNKNOWN, units_of
from analyzer.requests.shapes import Skeleton, parts_shape, skeleton_of
from analyzer.requests.tokens import key_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant
    from analyzer.model.request import RequestRecord
    from analyzer.model.shape import Shape
    from analyzer.requests.lexicon import Lexicon


class PlainDigest:
    """Counts a list of records by going through them one by one."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._cells: dict[Cell, int] = {}
        self._counts: dict[tuple[Instant, int], Counter[Count]] = defaultdict(Counter)
        self._latency: dict[tuple[Instant, int], Counter[int]] = defaultdict(Counter)
        self._keys: dict[tuple[Target, Direction], dict[tuple[Instant, KeyName, int], list[int]]] = {}
        self._throttles: dict[tuple[Instant, int, str, Target | None, Direction], list[int]] = {}
        self._refusals: Counter[tuple[Instant, int, str, str]] = Counter()

    def update_records(self, records: Iterable[RequestRecord]) -> None:
        for record in records:
            for skeleton in skeleton_of(record, self._lexicon):
                self._take(record, skeleton)

    def _take(self, record: RequestRecord, skeleton: Skeleton) -> None:
        shape = self._shape(record, skeleton)
        target = Target(record.account, record.region, shape.table, shape.index)
        at = slice_of(parse_instant(record.time))
        number = self._number(Cell(target, shape, record.caller, record.sample_rate))
        counts = self._counts[at, number]
        counts[Count.REQUESTS] += 1
        self._tally(counts, record)
        self._units(counts, record, shape, at)
        self._failures(counts, record, at, number)
        if record.latency_ms is not None:
            counts[Count.LATENCY_US] += round(record.latency_ms * 1000)
            counts[Count.LATENCY_KNOWN] += 1
            self._latency[at, number][int(np.searchsorted(LATENCY_BOUNDS_MS, record.latency_ms))] += 1
        self._heat(record, shape, target, at, number)

    def _shape(self, record: RequestRecord, skeleton: Skeleton) -> Shape:
        if skeleton.is_parted:
            return parts_shape(record, skeleton.table, self._lexicon, record.pattern)
        predicates = skeleton.predicates(self._lexicon, skeleton.values(record))
        return skeleton.shape(predicates, record.pattern)

    def _number(self, cell: Cell) -> int:
        return self._cells.setdefault(cell, len(self._cells))

    @staticmethod
    def _tally(counts: Counter[Count], record: RequestRecord) -> None:
        if record.attempts is not None:
            counts[Count.ATTEMPTS] += record.attempts
            counts[Count.ATTEMPTS_KNOWN] += 1
        if record.count is not None and record.scanned is not None:
            counts[Count.SCANNED] += record.scanned
            counts[Count.RETURNED] += record.count
            counts[Count.COUNTS_KNOWN] += 1
        counts[Count.MORE] += bool(record.more)
        counts[Count.RESUMED] += bool(record.resumed)
        counts[Count.UNPROCESSED] += record.unprocessed or 0
        counts[Count.RETURNED_BYTES] += record.returned_bytes or 0

    def _own_halves(self, record: RequestRecord, shape: Shape) -> int:
        if record.consumed is None:
            return 0
        units = units_of(record.consumed, shape.index, writes=shape.writes, is_local=lambda _: False)
        return (units.read or 0) + (units.write or 0)

    def _units(self, counts: Counter[Count], record: RequestRecord, shape: Shape, at: Instant) -> None:
        units = UNKNOWN
        if record.consumed is not None:
            consumed = record.consumed.by_table.get(shape.table) if record.consumed.by_table else record.consumed
            if consumed is not None:
                units = units_of(consumed, shape.index, writes=shape.writes, is_local=lambda _: False)
        own = (units.read or 0) + (units.write or 0)
        if units is not UNKNOWN:
            counts[Count.UNITS_KNOWN] += 1
        counts[Count.READ_HALF_UNITS] += units.read or 0
        counts[Count.WRITE_HALF_UNITS] += units.write or 0
        counts[Count.UNITS_SQUARED] += own * own
        if shape.filter and record.scanned and record.count is not None and units.read:
            counts[Count.WASTED_HALF_UNITS] += units.read * (record.scanned - record.count) // record.scanned
        for index, halves in units.others:
            side = Cell(
                Target(record.account, record.region, shape.table, index),
                shape,
                record.caller,
                record.sample_rate,
                secondary=True,
            )
            number = self._number(side)
            other = self._counts[at, number]
            other[Count.WRITE_HALF_UNITS if shape.writes else Count.READ_HALF_UNITS] += halves
            other[Count.UNITS_SQUARED] += halves * halves
            other[Count.UNITS_KNOWN] += 1
            key = (record.index_keys or {}).get(index or "")
            if key is not None:
                heated = Direction.WRITE if shape.writes else Direction.READ
                self._heat_key(side.target, heated, at, number, key, halves, self._schema(side.target), 0)

    def _failures(self, counts: Counter[Count], record: RequestRecord, at: Instant, number: int) -> None:
        cell = list(self._cells)[number]
        tries = [one for one in record.tries or () if is_throttle(one.code) or limit_of(one.reason or "")]
        if record.error is not None:
            counts[Count.FAILED] += 1
            self._refusals[at, number, record.error.code, record.error.message or ""] += 1
            counts[Count.THROTTLED_FAILED] += is_throttle(record.error.code)
            counts[Count.CONDITION_FAILED] += record.error.code == "ConditionalCheckFailedException"
        if tries:
            counts[Count.THROTTLED] += 1
            counts[Count.THROTTLED_TRIES] += len(tries)
        arns = {one.reason: one.resource for one in (record.error.reasons if record.error else None) or ()}
        for position, one in enumerate(tries):
            reason = one.reason or next(iter(arns), "")
            arn = one.resource or arns.get(reason)
            limit = limit_of(reason)
            resource = target_of_arn(arn) if arn else None
            if resource is None and limit is not None and not limit.is_index:
                resource = cell.target.base
            direction = limit.direction if limit else (Direction.WRITE if cell.shape.writes else Direction.READ)
            entry = self._throttles.setdefault((at, number, reason, resource, direction), [0, 0])
            entry[0] += 1
            entry[1] += record.error is not None and is_throttle(record.error.code) and position == len(tries) - 1

    def _schema(self, target: Target) -> tuple[str, ...]:
        schema = self._lexicon.schema(target.table, target.index)
        return () if schema is None else (*schema[0][:1], *schema[1][:1])

    def _heat(self, record: RequestRecord, shape: Shape, target: Target, at: Instant, number: int) -> None:
        """Give the units of a call to its key, or evenly to the keys of its parts."""
        halves = self._own_halves(record, shape)
        tries = sum(is_throttle(one.code) for one in record.tries or ())
        direction = Direction.WRITE if shape.writes else Direction.READ
        parts = [part for part in record.parts or () if (part.table or record.table) == target.table]
        keys = [record.key] if record.key is not None else [part.key for part in parts]
        each, rest = divmod(halves, max(1, len(keys)))
        for position, key in enumerate(keys):
            own = each + (position < rest)
            self._heat_key(target, direction, at, number, key or {}, own, self._schema(target), tries)

    def _heat_key(  # noqa: PLR0917
        self,
        target: Target,
        direction: Direction,
        at: Instant,
        number: int,
        key: dict[str, dict[str, object]],
        halves: int,
        schema: tuple[str, ...],
        tries: int,
    ) -> None:
        names = schema or tuple(key)
        partition = key_text(key.get(names[0], {})) if names else None
        if partition is None:
            return
        sort = key_text(key[names[1]]) if len(names) > 1 and names[1] in key else None
        levels = [KeyName(KeyLevel.PARTITION, partition)]
        if sort is not None:
            levels.append(KeyName(KeyLevel.ITEM, partition, sort))
        weights = self._keys.setdefault((target, direction), {})
        for name in levels:
            entry = weights.setdefault((at, name, number), [0, 0, 0])
            entry[0] += halves
            entry[1] += 1
            entry[2] += tries

    def slices(self) -> list[Instant]:
        return sorted({at for at, _ in self._counts})

    def span(self) -> Window | None:
        starts = self.slices()
        return Window(starts[0], starts[-1] + SLICE_MS) if starts else None

    def hours(self) -> dict[str, int]:
        cells = list(self._cells)
        seen: dict[str, set[int]] = defaultdict(set)
        for at, number in self._counts:
            seen[cells[number].shape.fingerprint].add(at // 3_600_000)
        return {fingerprint: len(hours) for fingerprint, hours in seen.items()}

    def forget_before(self, instant: Instant) -> None:
        """Forget nothing: it is small."""

    def totals(self) -> Counts:
        return self.result(self.span() or Window(0, 0))

    def result(self, window: Window) -> Counts:
        cells = tuple(self._cells)
        starts = list(window.slices())
        values = np.zeros((len(cells), N_COUNTS), dtype=np.int64)
        series = np.zeros((len(starts), len(cells), 3), dtype=np.int64)
        latency = np.zeros((len(cells), len(LATENCY_BOUNDS_MS) + 1), dtype=np.int64)
        for (at, number), counts in self._counts.items():
            if not window.holds(at):
                continue
            for column, amount in counts.items():
                values[number, column] += amount
            columns = (Count.REQUESTS, Count.READ_HALF_UNITS, Count.WRITE_HALF_UNITS)
            series[starts.index(at), number] += [counts[column] for column in columns]
        for (at, number), buckets in self._latency.items():
            for bucket, calls in buckets.items() if window.holds(at) else ():
                latency[number, bucket] += calls
        return Counts(
            window=window,
            cells=cells,
            values=values,
            series=series,
            latency=latency,
            keys=tuple(self._heavy(place, window) for place in self._keys),
            throttles=self._refused_tries(window),
            refusals=self._refused_calls(window),
        )

    def _refused_tries(self, window: Window) -> tuple[ThrottleCount, ...]:
        sums: dict[tuple[int, str, Target | None, Direction], list[int]] = {}
        for (at, number, reason, resource, direction), (tries, failed) in self._throttles.items():
            if window.holds(at):
                entry = sums.setdefault((number, reason, resource, direction), [0, 0])
                entry[0] += tries
                entry[1] += failed
        return tuple(ThrottleCount(*place, *entry) for place, entry in sums.items())

    def _refused_calls(self, window: Window) -> tuple[Refusal, ...]:
        sums: Counter[tuple[int, str, str]] = Counter()
        for (at, number, code, message), calls in self._refusals.items():
            if window.holds(at):
                sums[number, code, message] += calls
        return tuple(Refusal(*place, calls) for place, calls in sums.items())

    def _heavy(self, place: tuple[Target, Direction], window: Window) -> HeavyKeys:
        target, direction = place
        by_name: dict[KeyName, dict[tuple[Instant, int], list[int]]] = defaultdict(dict)
        for (at, name, number), entry in self._keys[place].items():
            if window.holds(at):
                by_name[name][at, number] = entry
        keys = [self._key(target, name, entries) for name, entries in by_name.items()]
        keys.sort(key=lambda key: (-key.high, key.name))
        total = sum(key.low for key in keys if key.name.level is KeyLevel.PARTITION)
        distinct = sum(key.name.level is KeyLevel.PARTITION for key in keys)
        return HeavyKeys(target, direction, total, 0, tuple(keys), distinct, self._schema(target))

    def _key(self, target: Target, name: KeyName, entries: dict[tuple[Instant, int], list[int]]) -> HeavyKey:
        by_slice: Counter[Instant] = Counter()
        by_cell: Counter[int] = Counter()
        cells = list(self._cells)
        for (at, number), (halves, _, _) in entries.items():
            weight = round(halves / cells[number].sample_rate)
            by_slice[at] += weight
            by_cell[number] += weight
        weight = sum(by_slice.values())
        values = (name.partition,) if name.sort is None else (name.partition, name.sort)
        return HeavyKey(
            name=name,
            low=weight,
            high=weight,
            series=tuple((at, part, part) for at, part in sorted(by_slice.items())),
            tries=sum(entry[2] for entry in entries.values()),
            by_cell=tuple(by_cell.most_common()),
            sampled=sum(entry[1] for entry in entries.values()),
            templates=tuple(self._lexicon.template(target.table, value) for value in values),
        )
