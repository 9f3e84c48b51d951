"""A collection of a table with a local index that is near its 10 GB, or over them: it takes no new item any more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Positive, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, who
from analyzer.knowledge.limits import COLLECTION_BYTES
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.instant import DAY_SECONDS
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.collections import Growth, growths, sizes_read
from analyzer.traffic.measure import add, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.calls import Call
    from analyzer.model.finding import KeyShown
    from analyzer.model.traffic import Declared, Refused, Traffic

__all__ = ["ItemCollectionLimit"]

_CODES = frozenset({"ItemCollectionSizeLimitExceededException", "ItemCollectionSizeLimitExceeded"})
_GIGABYTE = 1 << 30


class ItemCollectionLimit(Struct, frozen=True):
    """Judges refusals for size, sizes that were read, and growth, whichever is worst."""

    high_gigabytes: Positive = 8.0
    within_days: Whole = 365
    least_items: Whole = 100

    name: ClassVar[str] = "item-collection-limit"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.TABLE}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_SEQUENCES, Sight.REQUEST_KEYS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding a table; without a local index a collection has no limit."""
        if traffic.target.index is not None:
            return
        refused = [one for one in traffic.refusals if one.code in _CODES]
        lost = _lost(traffic)
        if refused or lost:
            yield self._refused(refused, lost, traffic)
        elif traffic.place.has_lsi:
            yield from filter(None, [self._large(traffic) or self._growing(traffic) or self._declared(traffic)])

    def _refused(self, refused: list[Refused], lost: list[Call], traffic: Traffic) -> Finding:
        calls = add(one.calls for one in refused)
        row = traffic.rows[max(refused, key=lambda one: one.calls.value).row] if refused else None
        caller = lost[0].caller if row is None else row.caller
        total = counted(calls if refused else Estimate.exact(len(lost)), "write")
        key, template = _key(lost, traffic)
        which = "a collection of items" if key is None else "the collection of {key}"
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL,
            f"{total} of {who(caller)} to {traffic.target} were refused: {which} stands at the 10 GB that a table with"
            " a local index allows for one partition key",
            key=key,
            key_template=template,
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=lost[0].fingerprint if row is None else row.shape.fingerprint,
            caller=caller,
            direction=Direction.WRITE,
            evidence={
                **evidence_of(refused_calls=calls),
                "transactions": sum(bool(call.cancellation) for call in lost),
                "limit_gigabytes": 10,
            },
            advice=tuple(_advice(traffic, who(caller))),
        )

    def _large(self, traffic: Traffic) -> Finding | None:
        """Judge the largest collection that somebody read."""
        seen = sizes_read(traffic.calls, traffic.target, traffic.window.end) if traffic.calls is not None else []
        if not seen or seen[0].least_bytes < self.high_gigabytes * _GIGABYTE:
            return None
        size = seen[0].least_bytes / _GIGABYTE
        key, template = _key([seen[0].call], traffic)
        return finding(
            self.name,
            traffic,
            Severity.HIGH,
            f"the collection of {{key}} in {traffic.target} has at least {number(round(size, 1))} GB of the 10 GB that"
            " it may have",
            key=key,
            key_template=template,
            fingerprint=seen[0].call.fingerprint,
            caller=seen[0].call.caller,
            direction=Direction.WRITE,
            evidence={"size_gigabytes_low": round(size, 2), "limit_gigabytes": 10},
            advice=tuple(_advice(traffic, "its writer")),
        )

    def _growing(self, traffic: Traffic) -> Finding | None:
        """Judge the collection that grows fastest, by the least that its new items weigh; time to live ends growth."""
        seen = growths(traffic.calls, traffic.target) if traffic.calls is not None else []
        ttl = traffic.place.time_to_live
        is_expiring = traffic.place.ttl_attribute is not None or (ttl is not None and ttl.status == "ENABLED")
        growth = next((one for one in seen if one.items >= self.least_items), None)
        if growth is None or is_expiring or not traffic.window.seconds or not growth.low_bytes:
            return None
        days = COLLECTION_BYTES / (growth.low_bytes / traffic.window.seconds * DAY_SECONDS)
        return self._growth_finding(growth, days, traffic) if days <= self.within_days else None

    def _growth_finding(self, growth: Growth, days: float, traffic: Traffic) -> Finding:
        key, template = _key([growth.call], traffic)
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"the collection of {{key}} in {traffic.target} grows by {number(growth.items)} items in"
            f" {number(round(traffic.window.seconds))} seconds: at that rate it takes {number(round(days, 1))} days to"
            " 10 GB, from nothing",
            confidence=Confidence.LIKELY if traffic.window.seconds >= DAY_SECONDS else Confidence.POSSIBLE,
            because="how large it is already is not told, nor whether the rate goes on",
            key=key,
            key_template=template,
            fingerprint=growth.call.fingerprint,
            caller=growth.call.caller,
            direction=Direction.WRITE,
            evidence={
                "new_items": growth.items,
                "new_bytes_low": growth.low_bytes,
                "new_bytes_high": growth.high_bytes,
                "days_to_limit_high": round(days, 1),
                "limit_gigabytes": 10,
            },
            advice=tuple(_advice(traffic, who(growth.call.caller))),
        )

    def _declared(self, traffic: Traffic) -> Finding | None:
        """Judge what a pattern promises of the items of one key."""
        told = [
            (_days(pattern), _bytes(pattern.items_per_key, pattern) / _GIGABYTE, pattern)
            for pattern in traffic.place.patterns.values()
            if _is_of_collection(pattern, traffic)
        ]
        near = [one for one in told if one[0] <= self.within_days or one[1] >= self.high_gigabytes]
        if not near:
            return None
        days, size, pattern = min(near, key=lambda one: (one[1] < self.high_gigabytes, one[0], -one[1]))
        reach = (
            f"reach 10 GB in {number(round(days, 1))} days" if days < math.inf else f"hold {number(round(size, 1))} GB"
        )
        return finding(
            self.name,
            traffic,
            Severity.HIGH if size >= self.high_gigabytes else Severity.MEDIUM,
            f"{pattern.id} declares collections of {traffic.target} that {reach}",
            confidence=Confidence.LIKELY,
            because="the contract says so; nobody measured it",
            sources=(SourceName.CONTRACT.value, SourceName.TABLE_CATALOG.value),
            pattern=pattern.id,
            direction=Direction.WRITE,
            evidence={
                "declared_gigabytes": round(size, 2),
                "growth_items_a_day": pattern.growth_per_day,
                "days_to_limit": round(days, 1) if days < math.inf else None,
                "limit_gigabytes": 10,
            },
            advice=tuple(_advice(traffic, "its writer")),
        )


def _lost(traffic: Traffic) -> list[Call]:
    """Return the calls in the book that the limit refused."""
    calls = traffic.calls.of(traffic.target) if traffic.calls is not None else ()
    return [call for call in calls if call.error in _CODES or _CODES & set(call.cancellation)]


def _is_of_collection(pattern: Declared, traffic: Traffic) -> bool:
    """Whether a pattern is of items of the table's own partition key: of the table, or of a local index."""
    keys = traffic.place.index_keys.get(pattern.index or "")
    return pattern.index is None or keys == traffic.place.partition_key


def _bytes(items: float | None, pattern: Declared) -> float:
    """Return what so many items of a pattern weigh: nothing where their number or size is not said."""
    return 0.0 if items is None or pattern.item_bytes is None else items * pattern.item_bytes


def _days(pattern: Declared) -> float:
    """Return the days until a declared collection is full: 0 where it is declared so, infinity where nothing grows."""
    left = COLLECTION_BYTES - _bytes(pattern.items_per_key, pattern)
    if left <= 0:
        return 0.0
    a_day = _bytes(pattern.growth_per_day, pattern)
    return left / a_day if a_day else math.inf


def _key(calls: list[Call], traffic: Traffic) -> tuple[KeyShown | None, KeyShown | None]:
    """Return the partition key that all calls are about, and its template; None where they differ or are not known."""
    values = {call.key.partition for call in calls if call.key is not None}
    names = traffic.place.partition_key
    if len(values) != 1 or len(names) != 1:
        return None, None
    templates = {
        predicate.template for call in calls for predicate in call.shape.key if predicate.attribute == names[0]
    }
    return {names[0]: values.pop()}, {names[0]: templates.pop()} if len(templates) == 1 else None


def _advice(traffic: Traffic, writer: str) -> Iterator[Advice]:
    key = (traffic.place.partition_key or ("the partition key",))[0]
    yield advise(
        "fix-caller",
        f"Let {writer} put no new items under that key; reads, deletes and writes that make items no larger still work",
        effect="nothing more is refused",
        takes="minutes",
    )
    yield advise(
        "change-key",
        f"Give {key} a part that ends collections, a month or a bucket, and write new items under it",
        effect="each collection stays small, and reads ask for one or two of them",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy; a backfill for what is there",
        snippet=f'item["{key}"] = f"{{value}}#{{time:%Y-%m}}"  # one collection a month',
    )
    yield advise(
        "add-index",
        "Serve what the local index serves from a global one: a table without local indexes has no such limit, but a"
        " local index goes only with its table",
        effect="collections may grow, and split over partitions",
        risk=Risk.HIGH,
        reversible=True,
        takes="a new table and a migration",
    )
