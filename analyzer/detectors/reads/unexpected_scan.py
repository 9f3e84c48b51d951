"""A read of everything that nobody declared: a Scan, a statement or a Query that amounts to one.

A Scan pays for every item of its table whatever it returns, and its price grows with the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.money import capacity_share, cost_of
from analyzer.detectors.reading import read_refusals, share_of_reads
from analyzer.detectors.scan_advice import advice_on_scan
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import UNITS_UNKNOWN, between, counted, number, percent, who
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.shape import AttributionKind
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.measure import add, busiest_caller, evidence_of, evidence_where, victims_of
from analyzer.traffic.scanning import (
    Driver,
    driver_in_calls,
    driver_in_metrics,
    filtered_by,
    index_share,
    is_scan,
    sweeps_expired,
)
from analyzer.traffic.series import series_of, total
from analyzer.traffic.unplanned import has_ended, unplanned_scans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.estimate import Estimate
    from analyzer.model.traffic import PatternTraffic, Traffic
    from analyzer.traffic.unplanned import Unplanned

__all__ = ["UnexpectedScan"]


class UnexpectedScan(Struct, frozen=True):
    """Judges each undeclared scanning shape by the harm it does, then by its money."""

    high_share: Share = 0.5
    hurting_share: Share = 0.25
    high_capacity_share: Share = 0.1
    high_dollars: Positive = 20.0
    low_dollars: Positive = 5.0
    index_share: Share = 0.5
    least_index_items: Whole = 1000
    schedule_minutes: Whole = 30

    name: ClassVar[str] = "unexpected-scan"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset(
        {Sight.CONTRACT, Sight.REQUEST_UNITS, Sight.REQUEST_FILTERS, Sight.TABLE}
    )

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a scanning shape, whoever sends it; where no request shows a Scan, what metrics count."""
        shapes: dict[str, list[PatternTraffic]] = {}
        is_shown = False
        for row in traffic.rows:
            if row.secondary or not (is_scan(row, traffic) or row.shape.operation == "Query"):
                continue
            is_shown = is_shown or row.shape.operation == "Scan"
            if not row.attribution.candidates and not _is_declared(row, traffic):
                shapes.setdefault(row.shape.fingerprint, []).append(row)
        for rows in shapes.values():
            whole = None if is_scan(rows[0], traffic) else index_share(rows, traffic)
            if (is_scan(rows[0], traffic) and _has_scanned(rows)) or self._is_whole(whole):
                yield self._finding(rows, whole, traffic)
        if not is_shown and Sight.METRICS in traffic.sights and traffic.target.index is None:
            scans = unplanned_scans(traffic, self.schedule_minutes * 60_000)
            if scans is not None:
                yield self._by_metrics(scans, traffic)

    def _is_whole(self, whole: tuple[float, int] | None) -> bool:
        return whole is not None and whole[0] >= self.index_share and whole[1] >= self.least_index_items

    def _finding(self, rows: list[PatternTraffic], whole: tuple[float, int] | None, traffic: Traffic) -> Finding:
        units = add(row.read_units for row in rows)
        known = any(row.units_known for row in rows)
        cost = cost_of(units.value, traffic, Direction.READ)
        dollars = cost.dollars if known else None
        share = share_of_reads(units.value, traffic) if known else None
        severity, why = self._severity(rows, traffic, units, share, dollars)
        caller, shape = busiest_caller(rows), rows[0].shape
        scanned, returned = add(row.scanned for row in rows), add(row.returned for row in rows)
        filtered = filtered_by(rows[0], traffic)
        driver = _driver(rows, severity, traffic)
        sweeps = sweeps_expired(rows[0], filtered, traffic)
        declared = Sight.CONTRACT in traffic.sights
        return finding(
            self.name,
            traffic,
            severity,
            _summary(rows, whole, units if known else None, share, traffic) + (_SWEEPS if sweeps else ""),
            confidence=Confidence.CERTAIN if declared else Confidence.LIKELY,
            because=why if declared else f"{why}; no contract declares this table, so it may be meant",
            subject=shape.fingerprint,
            fingerprint=shape.fingerprint,
            caller=caller,
            victims=victims_of(traffic, Direction.READ) if severity is Severity.CRITICAL else (),
            direction=Direction.READ,
            evidence={
                **evidence_of(requests=add(row.requests for row in rows)),
                **evidence_where(known, read_units=units),
                "share_of_read_units": None if share is None else round(share, 4),
                **evidence_where(any(row.counts_known for row in rows), items_scanned=scanned, items_returned=returned),
                "filter_attributes": ", ".join(filtered) or _without_filter(rows, traffic),
                "operation": shape.operation,
                **({} if whole is None else {"share_of_the_index": round(whole[0], 3), "index_items": whole[1]}),
                **({"sweeps": ", ".join(filtered)} if sweeps else {}),
                **_rise(driver),
                "price": cost.basis if known else None,
            },
            cost_per_month_usd=None if dollars is None else round(dollars, 2),
            advice=tuple(advice_on_scan(traffic, caller, filtered, sweeps=sweeps, caches=_is_calls(driver))),
        )

    def _severity(
        self,
        rows: list[PatternTraffic],
        traffic: Traffic,
        units: Estimate,
        share: float | None,
        dollars: float | None,
    ) -> tuple[Severity, str]:
        takes_most = share is not None and share >= self.high_share
        if share is not None and share >= self.hurting_share and _hurts_others(rows, traffic):
            return Severity.CRITICAL, f"others are throttled while it takes {percent(share)} of the read units"
        if any(row.throttled.value for row in rows):
            return Severity.HIGH, "it is throttled itself"
        if takes_most and read_refusals(traffic):
            return Severity.HIGH, "reads are refused while it takes most of the read units"
        if share is not None and share >= self.high_share and self._is_dear(traffic, units, dollars):
            return Severity.HIGH, f"it takes {percent(share)} of the read units"
        taken = capacity_share(units.value, traffic, Direction.READ)
        is_harm = taken is not None and taken >= self.high_capacity_share
        if dollars is not None and dollars < self.low_dollars and not is_harm:
            return Severity.LOW, f"it costs under {number(self.low_dollars)} dollars a month and harms nobody"
        return Severity.MEDIUM, "nobody declared it"

    def _is_dear(self, traffic: Traffic, units: Estimate, dollars: float | None) -> bool:
        taken = capacity_share(units.value, traffic, Direction.READ)
        if taken is not None:
            return taken >= self.high_capacity_share
        return dollars is not None and dollars >= self.high_dollars

    def _by_metrics(self, scans: Unplanned, traffic: Traffic) -> Finding:
        """Judge Scans that CloudWatch counted: of the table, for indexes have no such metric."""
        refused = total(series_of(traffic.metrics, "ThrottledRequests", Operation="Scan"), traffic.window) or 0.0
        returned = total(series_of(traffic.metrics, "ReturnedItemCount", Operation="Scan"), traffic.window)
        units = total(series_of(traffic.metrics, "ConsumedReadCapacityUnits"), traffic.window)
        severity, why = self._severity_of_metrics(refused, units, traffic)
        driver = driver_in_metrics(traffic)
        declared = Sight.CONTRACT in traffic.sights
        against = f"that is no time of {', '.join(scans.planned)}" if scans.planned else "no pattern declares one"
        reads = "" if units is None else f"; all reads together took {number(units)} units"
        return finding(
            self.name,
            traffic,
            severity,
            f"somebody scanned {traffic.target}: {counted(scans.calls, 'Scan call')}, and {against}{reads}",
            confidence=Confidence.CERTAIN if declared and not scans.planned else Confidence.LIKELY,
            because=f"{why}; metrics do not tell who scans, nor what"
            + ("" if declared else "; no contract declares this table, so it may be meant"),
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            subject="",
            direction=Direction.READ,
            evidence={
                "requests": scans.calls,
                "throttled_requests": refused,
                "read_units_of_all": units,
                "items_returned": returned,
                "operation": "Scan",
                **_rise(driver),
            },
            advice=tuple(advice_on_scan(traffic, None, (), sweeps=False, caches=_is_calls(driver))),
        )

    def _severity_of_metrics(self, refused: float, units: float | None, traffic: Traffic) -> tuple[Severity, str]:
        if refused:
            return Severity.HIGH, "it is throttled itself"
        if read_refusals(traffic):
            return Severity.HIGH, "reads are refused in the same minutes"
        if units is not None and cost_of(units, traffic, Direction.READ).dollars < self.low_dollars:
            return Severity.LOW, f"all reads cost under {number(self.low_dollars)} dollars a month"
        return Severity.MEDIUM, "nobody declared it"


_SWEEPS = "; it sweeps expired items, which time to live does for nothing"


def _is_declared(row: PatternTraffic, traffic: Traffic) -> bool:
    """Whether a pattern declares a row, and its declaration has not ended."""
    if row.attribution.kind is not AttributionKind.DECLARED:
        return False
    declared = traffic.place.patterns.get(row.attribution.pattern or "")
    return declared is None or not has_ended(declared.ends, traffic)


def _hurts_others(rows: list[PatternTraffic], traffic: Traffic) -> bool:
    """Whether a limit of the whole target refused other callers, or as metrics tell it, other operations."""
    callers, operations = {row.caller for row in rows}, {row.shape.operation for row in rows}
    told = (one for one in traffic.throttles if one.direction is Direction.READ and one.cause != "key-range")
    counted = (one for one in traffic.metric_throttles if one.direction is Direction.READ and one.cause != "key-range")
    return any(hurt.caller not in callers for one in told for hurt in one.hurt) or any(
        refused and operation not in operations
        for one in counted
        for operation, refused in one.throttled_requests.items()
    )


def _has_scanned(rows: list[PatternTraffic]) -> bool:
    """Whether any call was served, or refused for its appetite: one that was always refused otherwise read nothing."""
    return any(row.requests.value > row.failed.value or row.throttled.value for row in rows)


def _driver(rows: list[PatternTraffic], severity: Severity, traffic: Traffic) -> Driver | None:
    """Return what drives a rise; to open the call book takes time, and is done for what may wake somebody."""
    told = driver_in_metrics(traffic)
    if told is not None or severity.rank < Severity.HIGH.rank:
        return told
    return driver_in_calls(traffic, frozenset(row.shape.fingerprint for row in rows))


def _is_calls(driver: Driver | None) -> bool:
    return driver is not None and driver.name == "calls"


def _without_filter(rows: list[PatternTraffic], traffic: Traffic) -> str | None:
    """Say of a Scan that shows no filter that it has none; None where the log need not show it."""
    counted = [row for row in rows if row.counts_known]
    if counted and add(row.scanned for row in counted).value > add(row.returned for row in counted).value:
        return None  # it threw items away
    shapes = [row.shape for row in traffic.rows]
    is_shown = any(one.filter or one.projection or (one.operation == "Query" and one.key) for one in shapes)
    return "none" if counted or any(one.statement for one in shapes) or is_shown else None


def _rise(driver: Driver | None) -> dict[str, float | str | None]:
    """Write what drives a rise, where there is one."""
    if driver is None or driver.name == "neither":
        return {}
    size = None if driver.size_ratio is None else round(driver.size_ratio, 2)
    return {"driver": driver.name, "calls_ratio": round(driver.calls_ratio, 2), "size_ratio": size}


def _summary(
    rows: list[PatternTraffic],
    whole: tuple[float, int] | None,
    units: Estimate | None,
    share: float | None,
    traffic: Traffic,
) -> str:
    calls, caller = add(row.requests for row in rows), busiest_caller(rows)
    cost = UNITS_UNKNOWN if units is None or share is None else f"{between(units)} read units ({percent(share)})"
    if whole is not None:
        what = (
            f"queries {percent(min(whole[0], 1.0))} of the {number(whole[1])} items of {rows[0].shape.index} at a time"
        )
    elif rows[0].shape.operation == "Scan":
        what = f"scans {traffic.target}"
    else:
        what = f"scans {traffic.target} by {rows[0].shape.operation}, whose WHERE names no partition key"
    return f"{who(caller)} {what}: {counted(calls, 'call')}, {cost}, and no pattern declares it"
