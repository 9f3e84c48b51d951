"""Writes that pay for more than they change: items far below 1 KB put one by one, large items written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.money import capacity_share, cost_of
from analyzer.detectors.split_advice import split_item
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent, who
from analyzer.detectors.writing import row_of
from analyzer.knowledge.prices import SECONDS_A_MONTH
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason
from analyzer.traffic.growth import appended_to
from analyzer.traffic.measure import evidence_of
from analyzer.traffic.rewrites import changes_little, rewritten_share
from analyzer.traffic.small_puts import SmallPuts, small_puts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["WriteCost"]


class _Saving(NamedTuple):
    """Units in the window that need not be paid, and which part of all they are."""

    units: float
    share: float


class WriteCost(Struct, frozen=True):
    """Judges puts of small items that could be one, and writes of large items of which little changes."""

    small_bytes: Whole = 512
    together_ms: Whole = 1000
    grouped_share: Share = 0.5
    least_saving: Share = 0.3
    least_units_a_month: Whole = 1_000_000
    least_writes: Whole = 100
    large_units: Whole = 8
    rewritten_share: Share = 0.5
    medium_dollars: Positive = 5.0
    possible_dollars: Positive = 20.0
    possible_seconds: Whole = 3600
    capacity_share: Share = 0.1

    name: ClassVar[str] = "write-cost"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS, Sight.REQUEST_KEYS, Sight.REQUEST_SEQUENCES})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a shape and caller of small puts, and one a shape and caller of large writes."""
        if traffic.target.index is not None or traffic.calls is None:
            return
        unsized = False
        puts = small_puts(traffic.calls, traffic.target, most_bytes=self.small_bytes, within_ms=self.together_ms)
        for small in puts:
            row = row_of(small.call.shape, small.call.caller, traffic.rows)
            if row is None or small.puts < self.least_writes or not self._is_many(_units(row, small), traffic):
                continue
            unsized = unsized or not small.sized
            if small.grouped_share >= self.grouped_share and small.saved_share >= self.least_saving:
                yield self._small(small, row, traffic)
        for row in traffic.rows:
            if self._is_large(row, traffic):
                yield self._large(row, traffic)
        if unsized:
            target = traffic.target
            yield Skipped(self.name, target.table, target.index, SkipReason.TOO_LITTLE, ("item_bytes of puts",))

    def _is_many(self, units: float, traffic: Traffic) -> bool:
        return units * SECONDS_A_MONTH >= self.least_units_a_month * traffic.window.rate_seconds

    def _is_large(self, row: PatternTraffic, traffic: Traffic) -> bool:
        """Whether a row writes large items again and again: each update does, of puts those of a key put before."""
        served = row.requests.value - row.failed.value
        if row.shape.operation not in {"PutItem", "UpdateItem"} or not row.units_known or row.secondary:
            return False
        if served < self.least_writes or row.write_units.value < self.large_units * served:
            return False
        if row.shape.operation == "UpdateItem":
            return True
        return rewritten_share(traffic, row) >= self.rewritten_share

    def _severity(self, saving: _Saving, confidence: Confidence, traffic: Traffic) -> Severity:
        dollars = cost_of(saving.units, traffic, Direction.WRITE).dollars
        is_possible = confidence is Confidence.POSSIBLE
        least = self.possible_dollars if is_possible else self.medium_dollars
        is_long = not is_possible or traffic.window.seconds >= self.possible_seconds
        taken = capacity_share(saving.units, traffic, Direction.WRITE) or 0.0
        is_medium = (dollars >= least and is_long) or taken >= self.capacity_share
        return Severity.MEDIUM if is_medium else Severity.LOW

    def _small(self, small: SmallPuts, row: PatternTraffic, traffic: Traffic) -> Finding:
        units = _units(row, small)
        saving = _Saving(units * small.saved_share, small.saved_share)
        each = sum(sum(group.sizes) for group in small.groups) / sum(len(group.sizes) for group in small.groups)
        together = sum(len(group.sizes) for group in small.groups) / len(small.groups)
        cost = cost_of(saving.units, traffic, Direction.WRITE)
        return finding(
            self.name,
            traffic,
            self._severity(saving, Confidence.CERTAIN, traffic),
            f"{who(row.caller)} puts {number(round(together, 1))} items of {number(round(each))} bytes at a time under"
            f" one partition key of {traffic.target}, each charged as 1 KB: as one item they would cost"
            f" {percent(saving.share)} less",
            subject=row.shape.fingerprint,
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            cause="small-items",
            direction=Direction.WRITE,
            evidence={
                **evidence_of(requests=row.requests),
                "item_bytes": round(each, 1),
                "items_at_a_time": round(together, 2),
                "groups_seen": len(small.groups),
                "grouped_share": round(small.grouped_share, 4),
                "write_units": round(units, 1),
                "saving_percent": round(100 * saving.share),
                "saving_per_month_usd": round(cost.dollars, 2),
                "price": cost.basis,
            },
            cost_per_month_usd=round(cost.dollars, 2),
            advice=tuple(_join_advice(row)),
        )

    def _large(self, row: PatternTraffic, traffic: Traffic) -> Finding:
        served = row.requests.value - row.failed.value
        each = row.write_units.value / served
        saving = _Saving(row.write_units.value - served, 1 - 1 / each)
        is_little = changes_little(row.shape)
        confidence = Confidence.LIKELY if is_little else Confidence.POSSIBLE
        verb = "puts whole items" if row.shape.operation == "PutItem" else "updates items"
        cost = cost_of(saving.units, traffic, Direction.WRITE)
        return finding(
            self.name,
            traffic,
            self._severity(saving, confidence, traffic),
            f"{who(row.caller)} {verb} of {traffic.target} that cost {number(round(each, 1))} units a write: DynamoDB"
            f" charges the whole item, whatever changes; what changes alone would cost up to {percent(saving.share)}"
            " less",
            confidence=confidence,
            because="the update adds a little to what is there"
            if is_little
            else "how much of the item a write changes is not visible",
            subject=row.shape.fingerprint,
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            cause="large-items",
            direction=Direction.WRITE,
            evidence={
                **evidence_of(requests=row.requests, write_units=row.write_units),
                "units_a_write": round(each, 1),
                "saving_percent_high": round(100 * saving.share, 1),
                "saving_per_month_usd_high": round(cost.dollars, 2),
                "price": cost.basis,
            },
            cost_per_month_usd=round(cost.dollars, 2) or None if is_little else None,
            advice=tuple(_split_advice(row, traffic)),
        )


def _units(row: PatternTraffic, small: SmallPuts) -> float:
    """Return the write units of a row: told, else what its items cost by their sizes."""
    return row.write_units.value if row.units_known else row.requests.value * small.units / small.calls


def _join_advice(row: PatternTraffic) -> Iterator[Advice]:
    yield advise(
        "fix-caller",
        f"Ask the owner of {who(row.caller)} whether these items are read together, and how many there can be of one"
        " partition key",
        effect="tells whether one item can hold them: 400 KB is all it may have",
        takes="minutes",
    )
    yield advise(
        "batch-small-items",
        "Put what is written together as one item with a map, an entry for each; a BatchWriteItem saves round trips"
        " and no unit",
        effect="one write of their joint size, rounded up once",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy of writer and readers; a backfill for what is there",
        snippet='table.put_item(Item={**partition, "entries": {entry["id"]: entry for entry in entries}})',
    )


def _split_advice(row: PatternTraffic, traffic: Traffic) -> Iterator[Advice]:
    attribute = appended_to(row.shape)
    what = f"{attribute} of the item" if attribute else "what changes often"
    yield advise(
        "fix-caller",
        f"Ask the owner of {who(row.caller)} which attributes change with each write, and how often none does",
        effect="tells what to take out of the item",
        takes="minutes",
    )
    yield split_item(traffic, what, attribute)
    yield advise(
        "update-less",
        "Write only when something changed, or once for several changes; an UpdateItem of one attribute costs as much"
        " as a put of all",
        effect="each write that is left out saves its whole item",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
    )
