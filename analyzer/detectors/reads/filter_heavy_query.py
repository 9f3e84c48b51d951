"""A Query that reads much and throws most of it away: a filter runs after the read is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.money import capacity_share, cost_of
from analyzer.detectors.reading import share_of_reads
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import UNITS_UNKNOWN, between, number, percent, who
from analyzer.model.finding import Advice, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason
from analyzer.traffic.measure import add, busiest_caller, evidence_of, evidence_where
from analyzer.traffic.scanning import is_scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["FilterHeavyQuery"]


class FilterHeavyQuery(Struct, frozen=True):
    """Judges each filtered Query shape by how much of what it read it returned."""

    least_scanned: Whole = 1000
    discards_at_most: Share = 0.1
    medium_share: Share = 0.05
    medium_dollars: Positive = 20.0
    low_dollars: Positive = 5.0
    capacity_share: Share = 0.1

    name: ClassVar[str] = "filter-heavy-query"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_COUNTS, Sight.REQUEST_FILTERS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CONTRACT, Sight.REQUEST_UNITS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a filtered shape; a filter on the TTL attribute alone is how expired items are hidden."""
        shapes: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            if row.shape.filter_attributes and not is_scan(row, traffic) and not _hides_expired(row, traffic):
                shapes.setdefault(row.shape.fingerprint, []).append(row)
        for rows in shapes.values():
            if not any(row.counts_known for row in rows):
                if any(row.requests.value > row.failed.value for row in rows):
                    yield self._skip(traffic, SkipReason.NOT_COVERED, "Count and ScannedCount of a filtered Query")
                continue
            scanned, returned = add(row.scanned for row in rows), add(row.returned for row in rows)
            discarded = max(0.0, 1 - returned.value / scanned.value) if scanned.value else 0.0
            if discarded <= self._limit(rows, traffic):
                continue
            if scanned.value >= self.least_scanned:
                yield self._finding(rows, discarded, traffic)
            else:
                needs = f"{self.least_scanned} items read by a filtered Query in the window"
                yield self._skip(traffic, SkipReason.TOO_LITTLE, needs)

    def _skip(self, traffic: Traffic, reason: SkipReason, needs: str) -> Skipped:
        return Skipped(self.name, traffic.target.table, traffic.target.index, reason, (needs,))

    def _limit(self, rows: list[PatternTraffic], traffic: Traffic) -> float:
        pattern = traffic.place.patterns.get(rows[0].attribution.pattern or "")
        if pattern is None or pattern.discards_at_most is None:
            return self.discards_at_most
        return pattern.discards_at_most

    def _finding(self, rows: list[PatternTraffic], discarded: float, traffic: Traffic) -> Finding:
        first = rows[0]
        target = traffic.target.at(first.shape.index or traffic.target.index)  # a local index counts at its table
        known = any(row.units_known for row in rows)
        units = add(row.read_units for row in rows)
        wasted = add(row.wasted_units for row in rows)
        share = share_of_reads(units.value, traffic) if known else 0.0
        cost = cost_of(wasted.value, traffic, Direction.READ)
        dollars = cost.dollars if known else None
        scanned, returned = add(row.scanned for row in rows), add(row.returned for row in rows)
        caller = busiest_caller(rows)
        waste = f"{between(wasted)} read units spent in vain" if known else UNITS_UNKNOWN
        return finding(
            self.name,
            traffic,
            self._severity(share, wasted.value, dollars, traffic),
            f"a Query of {who(caller)} on {target} throws away {percent(discarded)} of the"
            f" {number(scanned.value)} items it reads, by a filter on {', '.join(first.shape.filter_attributes)}:"
            f" {waste}",
            subject=first.shape.fingerprint,
            index=target.index,
            pattern=first.attribution.pattern,
            fingerprint=first.shape.fingerprint,
            caller=caller,
            direction=Direction.READ,
            evidence={
                **evidence_of(scanned=scanned, returned=returned),
                **evidence_where(known, read_units=units, wasted_units=wasted),
                "discarded_share": round(discarded, 4),
                "allowed_share": self._limit(rows, traffic),
                "share_of_read_units": round(share, 4) if known else None,
                "filter_attributes": ", ".join(first.shape.filter_attributes),
                "price": cost.basis if known else None,
            },
            cost_per_month_usd=None if dollars is None else round(dollars, 2),
            advice=(
                ask_owner(
                    caller,
                    "which of these items it needs, and what they have in common",
                    "tells what the key has to say",
                ),
                *_advice(first),
            ),
        )

    def _severity(self, share: float, wasted: float, dollars: float | None, traffic: Traffic) -> Severity:
        """Waste of a tenth of what is provisioned is harm; a share of the reads of a table that costs cents is not."""
        if dollars is None:
            return Severity.LOW
        is_harm = (capacity_share(wasted, traffic, Direction.READ) or 0.0) >= self.capacity_share
        is_dear = dollars >= self.medium_dollars or (share >= self.medium_share and dollars >= self.low_dollars)
        return Severity.MEDIUM if is_harm or is_dear else Severity.LOW


def _hides_expired(row: PatternTraffic, traffic: Traffic) -> bool:
    """Whether a filter asks for the TTL attribute alone: DynamoDB deletes expired items late."""
    ttl = traffic.place.time_to_live
    hidden = {traffic.place.ttl_attribute, None if ttl is None else ttl.attribute}
    return len(row.shape.filter_attributes) == 1 and row.shape.filter_attributes[0] in hidden


def _advice(row: PatternTraffic) -> Iterator[Advice]:
    attribute = row.shape.filter_attributes[0]
    yield advise(
        "encode-filter-in-key",
        f"Move {attribute} into the sort key, or into an index's key, and ask for it in the key condition",
        effect="only the items that are wanted are read and paid",
        risk=Risk.HIGH,
        reversible=True,
        takes="a migration, or an index build",
        snippet=f'Key(partition).eq(value) & Key(sort).begins_with(f"{attribute.upper()}#{{wanted}}")',
    )
    yield advise(
        "make-index-sparse",
        f"Index only the items whose {attribute} is asked for: write the index key on those alone",
        effect="the index holds nothing to throw away",
        risk=Risk.LOW,
        reversible=True,
        takes="an index build",
    )
