"""An index that nobody reads: every write of its table pays for it, and so does every byte that it keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, days_before, quoted, statistics
from analyzer.detectors.money import prices_at
from analyzer.detectors.thresholds import Positive, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number
from analyzer.knowledge.prices import provisioned_cost, storage_cost, write_cost
from analyzer.model.finding import Advice, Confidence, Finding, Risk, Severity
from analyzer.model.instant import DAY_SECONDS
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.traffic.readership import Readership, readership_of, unseen_indexes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.table import IndexDescription
    from analyzer.model.traffic import Traffic

__all__ = ["UnusedIndex"]


class UnusedIndex(Struct, frozen=True):
    """Judges the absence of reads, where it was looked at long enough, by what the index costs.

    It needs a span of two weeks besides: one that is shorter is told by itself, with how much is covered.
    """

    covered_days: Whole = 14
    low_dollars: Positive = 5.0

    name: ClassVar[str] = "unused-index"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.METRICS, Sight.TABLE}),
        frozenset({Sight.REQUESTS, Sight.TABLE}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.METRICS, Sight.REQUESTS, Sight.CONTRACT, Sight.SPAN_14D})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one outcome an index; those of which nothing was seen are judged with their table."""
        for one in [traffic] if traffic.target.index is not None else unseen_indexes(traffic):
            table = one.place.table
            index = None if table is None else table.index(one.target.index)
            if index is not None and index.kind == "gsi" and index.status in {None, "ACTIVE"}:
                yield from self._judge(one, index)

    def _judge(self, traffic: Traffic, index: IndexDescription) -> Iterator[Finding | Skipped]:
        readership = readership_of(traffic, self.covered_days)
        if readership.is_read:
            return
        table = traffic.place.table
        elsewhere = sorted(one.region for one in table.replicas if one.region != traffic.target.region) if table else []
        days = readership.covered_seconds / DAY_SECONDS
        if days < self.covered_days:
            yield self._skip(traffic, f"{Sight.SPAN_14D.value}: {number(round(days, 1))} days are covered")
        elif elsewhere:
            yield self._skip(traffic, *(f"reads of its replica in {region}" for region in elsewhere))
        else:
            yield self._finding(traffic, index, readership)

    def _skip(self, traffic: Traffic, *needs: str) -> Skipped:
        target = traffic.target
        return Skipped(self.name, target.table, target.index, SkipReason.NOT_COVERED, needs)

    def _finding(self, traffic: Traffic, index: IndexDescription, readership: Readership) -> Finding:
        days = readership.covered_seconds / DAY_SECONDS
        costs = _costs(traffic, index, readership)
        dollars = sum(costs.values()) if costs else None
        is_cheap = dollars is not None and dollars < self.low_dollars
        by_metrics = SourceName.CLOUDWATCH_METRICS.value in readership.sources
        declared = _declared_by(traffic)
        price = "" if dollars is None else f", and it costs about {number(round(dollars, 2))} dollars a month"
        return finding(
            self.name,
            traffic,
            Severity.LOW if is_cheap else Severity.MEDIUM,
            f"nobody read {traffic.target} in {number(round(days, 1))} days{price}",
            confidence=Confidence.CERTAIN if by_metrics else Confidence.LIKELY,
            because=None if by_metrics else "the request log alone says so: a reader that does not log is not seen",
            sources=(*readership.sources, SourceName.TABLE_CATALOG.value),
            evidence={
                "read_units": readership.read_units,
                "covered_days": round(days, 1),
                "write_units_a_second": None if readership.write_units is None else round(readership.write_units, 3),
                "size_bytes": index.size_bytes,
                "items": index.items,
                **{f"{name}_usd": round(costs[name], 2) for name in costs},
                "price": prices_at(traffic).place,
                **({"declared_by": ", ".join(declared)} if declared else {}),
            },
            cost_per_month_usd=None if dollars is None else round(dollars, 2),
            advice=tuple(_advice(traffic, days)),
        )


def _costs(traffic: Traffic, index: IndexDescription, readership: Readership) -> dict[str, float]:
    """Return what is known of its costs, dollars a month: capacity or writes, and storage."""
    capacity = traffic.place.capacity
    prices = prices_at(traffic)
    found = {}
    if capacity.billing_mode == "PROVISIONED":
        if capacity.read_units is not None and capacity.write_units is not None:
            found["capacity"] = provisioned_cost(capacity.read_units, capacity.write_units, prices).dollars
    elif readership.write_units is not None:
        found["writes"] = write_cost(readership.write_units, capacity.billing_mode, prices).dollars
    if index.size_bytes is not None:
        found["storage"] = storage_cost(index.size_bytes, prices).dollars
    return found


def _declared_by(traffic: Traffic) -> list[str]:
    patterns = traffic.place.patterns
    return [name for name in patterns if patterns[name].index == traffic.target.index]


def _scans_it_would_serve(traffic: Traffic) -> list[str]:
    """Return attributes of the index key that Scans of its table filter by: they want this index."""
    rows = traffic.base.rows if traffic.base is not None else ()
    filtered = {name for row in rows if row.shape.scans for name in row.shape.filter_attributes}
    return [name for name in traffic.place.partition_key if name in filtered]


_KEPT_DAYS = 455
"""So long CloudWatch keeps hours."""


def _advice(traffic: Traffic, days: float) -> Iterator[Advice]:
    target = traffic.target
    yield advise(
        "collect-longer",
        f"Look for a reader that comes once a quarter: CloudWatch keeps hours for 455 days, here {number(round(days))}"
        " days were looked at",
        effect="nothing that is read goes",
        command=aws(
            target,
            statistics(target, "ConsumedReadCapacityUnits", days_before(traffic.window, _KEPT_DAYS)),
        ),
        takes="minutes",
    )
    declared, wanted = _declared_by(traffic), _scans_it_would_serve(traffic)
    if wanted:
        yield advise(
            "query-instead-of-scan",
            f"Scans of {target.table} filter by {wanted[0]}, the key of {target.index}: let them query it",
            effect="reads only the items that are wanted, and the index is of use",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=f'table.query(IndexName="{target.index}", KeyConditionExpression=Key("{wanted[0]}").eq(value))',
        )
    if declared:
        verb, whose = ("declares", "its") if len(declared) == 1 else ("declare", "their")
        yield advise(
            "remove-declaration",
            f"{', '.join(declared)} {verb} reads of {target.index}: ask {whose} owner whether they will come",
            effect="the contract says what is",
            takes="a talk",
        )
    if not wanted and not declared:
        removed = quoted(json.dumps([{"Delete": {"IndexName": target.index}}], separators=(",", ":")))
        yield advise(
            "delete-index",
            f"Delete {target.index}",
            effect="its writes, capacity and storage cost nothing any more",
            command=aws(
                target,
                f"dynamodb update-table --table-name {quoted(target.table)} --global-secondary-index-updates {removed}",
                changes=True,
            ),
            risk=Risk.HIGH,
            reversible=True,
            takes="minutes; to build it again may take hours",
        )
