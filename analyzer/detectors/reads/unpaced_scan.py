"""A declared Scan that does not pace itself: a limit on items is no limit on units a second."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.reading import declared_of
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.shape import AttributionKind
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import add, busiest_caller
from analyzer.traffic.pace import Pace, pace_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Declared, PatternTraffic, Traffic

__all__ = ["UnpacedScan"]


class UnpacedScan(Struct, frozen=True):
    """Judges each declared Scan by its fastest ten seconds, and by the pauses between its pages."""

    tolerance: Positive = 1.2
    small_limit: Whole = 100
    pause_seconds: Positive = 0.2
    least_pages: Whole = 10
    capacity_share: Share = 0.1

    name: ClassVar[str] = "unpaced-scan"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS, Sight.CONTRACT}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS, Sight.REQUEST_SEQUENCES, Sight.TABLE})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a declared Scan."""
        patterns: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            if row.shape.scans and row.attribution.kind is AttributionKind.DECLARED and row.attribution.pattern:
                patterns.setdefault(row.attribution.pattern, []).append(row)
        for rows in patterns.values():
            declared = declared_of(rows[0], traffic)
            if declared is None:
                continue
            pace = pace_of(traffic, frozenset(row.shape.fingerprint for row in rows))
            rate = max(pace.units_a_second, add(row.read_units for row in rows).low / traffic.window.rate_seconds)
            cause = self._cause(pace, rate, declared, traffic)
            if cause is not None:
                yield self._finding(rows, declared, cause, pace, rate, traffic)

    def _cause(self, pace: Pace, rate: float, declared: Declared, traffic: Traffic) -> str | None:
        """Return what is wrong with its pace, None where nothing is."""
        most = declared.max_units_per_second
        if most is not None:
            return "over-its-maximum" if rate > self.tolerance * most else None
        provisioned = _provisioned(traffic)
        if provisioned is not None and rate > provisioned:
            return "over-the-table"
        is_small = pace.limit is not None and pace.limit <= self.small_limit and pace.pages >= self.least_pages
        is_back_to_back = pace.pause_seconds is not None and pace.pause_seconds <= self.pause_seconds
        return "back-to-back" if is_small and is_back_to_back else None

    def _finding(
        self,
        rows: list[PatternTraffic],
        declared: Declared,
        cause: str,
        pace: Pace,
        rate: float,
        traffic: Traffic,
    ) -> Finding:
        caller, provisioned = busiest_caller(rows), _provisioned(traffic)
        victims = tuple(_victims(traffic, {row.caller for row in rows}))
        is_heavy = cause == "over-its-maximum" or (
            traffic.place.capacity.billing_mode != "PAY_PER_REQUEST"
            and (provisioned is None or rate >= self.capacity_share * provisioned)
        )
        severity = Severity.HIGH if victims else Severity.MEDIUM if is_heavy else Severity.LOW
        pages = (
            ""
            if pace.limit is None or pace.pause_seconds is None
            else f", pages of {pace.limit} items {number(round(pace.pause_seconds, 2))} seconds apart"
        )
        return finding(
            self.name,
            traffic,
            severity,
            f"the declared Scan {declared.id} of {who(caller)} takes {number(round(rate, 1))} read units a second of"
            f" {traffic.target}{_against(declared, provisioned)}{pages}: nothing paces it",
            confidence=Confidence.CERTAIN if pace.pages else Confidence.LIKELY,
            because=None if pace.pages else "its calls were not seen one by one: the rate is the mean of the window",
            subject=declared.id,
            pattern=declared.id,
            fingerprint=rows[0].shape.fingerprint,
            caller=caller,
            victims=victims,
            cause=cause,
            direction=Direction.READ,
            evidence={
                "units_a_second": round(rate, 1),
                "declared_units_a_second": declared.max_units_per_second,
                "provisioned_units_a_second": provisioned,
                "limit": pace.limit,
                "pause_seconds": None if pace.pause_seconds is None else round(pace.pause_seconds, 3),
                "pages": pace.pages,
                "units_a_page": None if pace.units_a_page is None else round(pace.units_a_page, 2),
            },
            advice=(
                ask_owner(
                    caller,
                    "when the Scan has to be done, and whether it may wait until the table is quiet",
                    "tells how slow it may go",
                ),
                *_advice(declared, provisioned),
            ),
        )


def _provisioned(traffic: Traffic) -> float | None:
    capacity = traffic.place.capacity
    return capacity.read_units if capacity.billing_mode == "PROVISIONED" else None


def _against(declared: Declared, provisioned: float | None) -> str:
    if declared.max_units_per_second is not None:
        return f" where it declared {number(declared.max_units_per_second)}"
    return "" if provisioned is None else f" where {number(provisioned)} are provisioned"


def _victims(traffic: Traffic, own: set[str | None]) -> Iterator[Victim]:
    """Yield whose reads a limit of the whole target refused beside it."""
    for throttles in traffic.throttles:
        if throttles.direction is Direction.READ and throttles.cause != "key-range":
            yield from (Victim(one.caller, one.pattern) for one in throttles.hurt if one.caller not in own)


def _advice(declared: Declared, provisioned: float | None) -> Iterator[Advice]:
    most = declared.max_units_per_second or (None if provisioned is None else max(1.0, provisioned / 10))
    rate = "a declared rate" if most is None else f"{number(round(most, 1))} units a second"
    yield advise(
        "pace-scan",
        f"Spend the units that each page says it consumed from a token bucket of {rate}, and wait for it to fill",
        effect="the Scan takes longer, and nobody else is refused",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet=(
            'page = table.scan(ReturnConsumedCapacity="TOTAL", **request)\n'
            'bucket.take(page["ConsumedCapacity"]["CapacityUnits"])  # sleeps until so many units are there'
        ),
    )
    yield advise(
        "use-export",
        "Export the table to S3 from its point-in-time recovery instead, or back it up on demand",
        effect="takes no read units of the table",
        reversible=True,
        takes="minutes to hours, by table size",
        snippet="aws dynamodb export-table-to-point-in-time --table-arn ARN --s3-bucket BUCKET",
    )
    if declared.max_units_per_second is None:
        yield advise(
            "update-declaration",
            "Declare how fast it may go",
            effect="it is then held to that rate",
            snippet=f"max_units_per_second: {number(round(most or 200, 1))}",
        )
