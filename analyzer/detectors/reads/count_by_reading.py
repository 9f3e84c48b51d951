"""Counting by reading: a COUNT is paid like a read of every item that it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner, aws, quoted
from analyzer.detectors.money import capacity_share, cost_of
from analyzer.detectors.reading import one_key
from analyzer.detectors.thresholds import Positive, Share
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import UNITS_UNKNOWN, between, number, who
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.finding import Advice, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import add, busiest_caller, evidence_of, evidence_where

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.finding import KeyShown
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["CountByReading"]


class CountByReading(Struct, frozen=True):
    """Judges each shape that asks for the count alone, and takes many pages for it."""

    least_pages: Positive = 2.0
    least_units: Positive = 100.0
    low_dollars: Positive = 5.0
    capacity_share: Share = 0.1

    name: ClassVar[str] = "count-by-reading"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS, Sight.REQUEST_KEYS, Sight.REQUEST_SEQUENCES})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a counting shape."""
        shapes: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            if row.shape.select == "COUNT" and not row.secondary:
                shapes.setdefault(row.shape.fingerprint, []).append(row)
        for rows in shapes.values():
            requests, resumed = add(row.requests for row in rows), add(row.resumed for row in rows)
            counts = max(requests.value - resumed.value, 1.0)
            units = add(row.read_units for row in rows)
            pages = requests.value / counts
            known = any(row.units_known for row in rows)
            if pages >= self.least_pages and (not known or units.value / counts >= self.least_units):
                yield self._finding(rows, counts, pages, units if known else None, traffic)

    def _finding(
        self, rows: list[PatternTraffic], counts: float, pages: float, units: Estimate | None, traffic: Traffic
    ) -> Finding:
        shape, caller = rows[0].shape, busiest_caller(rows)
        cost = None if units is None else cost_of(units.value, traffic, Direction.READ)
        key = _key(shape.fingerprint, traffic)
        scanned = add(row.scanned for row in rows)
        each = f"and {number(units.value / counts)} read units a count" if units else f"a count, {UNITS_UNKNOWN}"
        place = f"{traffic.target}" if key is None else f"{{key}} in {traffic.target}"
        return finding(
            self.name,
            traffic,
            self._severity(units, None if cost is None else cost.dollars, rows, traffic),
            f"{who(caller)} counts {place} by reading it: {number(round(pages, 1))} pages {each},"
            f" {number(counts)} times" + ("" if units is None else f", {between(units)} read units in all"),
            subject=shape.fingerprint,
            key=key,
            fingerprint=shape.fingerprint,
            caller=caller,
            pattern=rows[0].attribution.pattern,
            direction=Direction.READ,
            evidence={
                "counts": round(counts, 1),
                "pages_a_count": round(pages, 2),
                **evidence_where(units is not None, read_units=units or ZERO),
                **evidence_of(items_read=scanned),
                "price": None if cost is None else cost.basis,
            },
            cost_per_month_usd=None if cost is None else round(cost.dollars, 2),
            advice=tuple(_advice(shape.operation, caller, traffic)),
        )

    def _severity(
        self, units: Estimate | None, dollars: float | None, rows: list[PatternTraffic], traffic: Traffic
    ) -> Severity:
        taken = None if units is None else capacity_share(units.value, traffic, Direction.READ)
        if any(row.throttled_failed.value for row in rows):
            return Severity.HIGH
        if taken is not None and taken >= self.capacity_share:
            return Severity.MEDIUM
        return Severity.LOW if dollars is not None and dollars < self.low_dollars else Severity.MEDIUM


def _key(fingerprint: str, traffic: Traffic) -> KeyShown | None:
    if traffic.calls is None:
        return None
    return one_key((call for call in traffic.calls.of(traffic.target) if call.fingerprint == fingerprint), traffic)


def _advice(operation: str, caller: str | None, traffic: Traffic) -> Iterator[Advice]:
    if operation != "Scan":
        yield ask_owner(caller, "what the number is for, and how old it may be", "tells which of these will do")
    else:
        yield advise(
            "keep-a-counter",
            "Where a number that is hours old will do, take ItemCount of DescribeTable: it costs nothing",
            effect="no reads; DynamoDB brings it up to date about every six hours",
            command=aws(
                traffic.target,
                f"dynamodb describe-table --table-name {quoted(traffic.target.table)} --query Table.ItemCount",
            ),
        )
    yield advise(
        "keep-a-counter",
        "Keep the number in an item of its own, and change it in the transaction that adds or removes what is counted",
        effect="a count is one read of half a unit",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy, and one last count to start from",
        snippet=(
            'client.transact_write_items(TransactItems=[{"Put": item}, {"Update": {\n'
            '    "Key": counter, "UpdateExpression": "ADD #n :one", ...}}])'
        ),
    )
    yield advise(
        "use-stream",
        "Or let a consumer of the table's stream keep it, where a second's delay will do",
        effect="writers pay nothing",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
    )
