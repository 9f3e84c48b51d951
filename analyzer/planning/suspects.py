"""Which table of a region to look at first: ranked by harm, from one sweep's report. Pure."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.detectors.words import number
from analyzer.knowledge.operations import OPERATIONS
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.planning.compared import HOUR_MS
from analyzer.traffic.series import points, series_of, total

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.report import Report
    from analyzer.model.traffic import Traffic

__all__ = ["MOST_SUSPECTS", "Suspect", "suspects_of"]

MOST_SUSPECTS = 5
_SLOWER = 2.0
_SLOWER_MS = 5.0
_BUSY_A_MINUTE = 50
"""As the detector latency-shift has it; here against the hour before, since a sweep reads no other days."""


class Suspect(Struct, frozen=True):
    """A table with something against it: `weight` ranks, `why` says it."""

    target: Target
    weight: tuple[float, ...]
    why: str


def suspects_of(reports: Iterable[Report]) -> tuple[Suspect, ...]:
    """Return the few tables with most against them, the worst first; none where nothing is."""
    found: dict[Target, Suspect] = {}
    for report in reports:
        for traffic in report.traffic:
            for suspect in (_found(report, traffic), _slower(traffic)):
                base = traffic.target.base
                if suspect is not None and (base not in found or suspect.weight > found[base].weight):
                    found[base] = suspect
    ranked = sorted(found.values(), key=lambda one: (*(-w for w in one.weight), one.target.order()))
    return tuple(ranked[:MOST_SUSPECTS])


def _found(report: Report, traffic: Traffic) -> Suspect | None:
    """Weigh the worst finding of a table or index, then how many requests it hurt."""
    target = traffic.target
    own = [one for one in report.findings if (one.table, one.index) == (target.table, target.index)]
    own = [one for one in own if one.region in {None, target.region} and one.severity.rank]
    if not own:
        return None
    worst = max(own, key=lambda one: one.severity.rank)
    hurt = sum(one.events for one in traffic.metric_throttles) + _errors(traffic)
    return Suspect(target.base, (worst.severity.rank, hurt), f"{worst.detector}: {worst.summary}")


def _errors(traffic: Traffic) -> float:
    named = (series_of(traffic.metrics, "SystemErrors", Operation=operation) for operation in OPERATIONS)
    return sum(total(series, traffic.window) or 0.0 for series in named)


def _slower(traffic: Traffic) -> Suspect | None:
    """Suspect a table whose busiest slow operation takes twice what it took in the hour before."""
    window = traffic.window
    before = Window(window.start - HOUR_MS, window.start)
    worst: tuple[float, str] | None = None
    for operation in OPERATIONS:
        count = total(
            series_of(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation), window
        )
        if not count or count < _BUSY_A_MINUTE * window.seconds / 60:
            continue
        series = series_of(traffic.metrics, "SuccessfulRequestLatency", "p99", Operation=operation)
        now, usual = ([point.value for point in points(series, one)] for one in (window, before))
        if not now or not usual or median(now) < max(_SLOWER * median(usual), median(usual) + _SLOWER_MS):
            continue
        told = f"latency: p99 of {operation} is {number(median(now))} ms, {number(median(usual))} an hour before"
        if worst is None or median(now) / median(usual) > worst[0]:
            worst = median(now) / median(usual), told
    return None if worst is None else Suspect(traffic.target.base, (1, worst[0]), worst[1])
