"""Judgements of several stretches of one time become one report: of now, of what has settled, of all that is known.

A request log is there after seconds, CloudWatch after minutes, and some faults take an hour to show. Each detector
judges the newest stretch that all it needs cover; what they found is told together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.lifecycle.causes import fold
from analyzer.lifecycle.since_change import with_changes
from analyzer.lifecycle.unite import unite
from analyzer.lifecycle.verdict import verdict_of
from analyzer.lifecycle.weight import by_weight
from analyzer.model.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.report import Coverage
    from analyzer.model.sight import SightState, Skipped
    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic

__all__ = ["Judgement", "combine", "measured_of"]


class Judgement(Struct, frozen=True):
    """A report, and the names of the detectors that were run for it."""

    report: Report
    detectors: frozenset[str]


def combine(judgements: Sequence[Judgement]) -> Report:
    """Return the first report with what the others found, saw and lacked; there is at least one.

    A finding of several stands as the worst says it. A detector was skipped where every stretch skipped it, a
    capability not seen where none saw it. Lines of traffic stay those of the first; coverage is told where it is known.
    """
    reports = [one.report for one in judgements]
    first, *others = reports
    findings = first.findings
    for other in others:
        findings = unite(findings, other.findings)
    changes = tuple(dict.fromkeys(change for report in reports for change in report.changes))
    ordered = by_weight(fold(with_changes(findings, changes)))
    gaps = tuple(dict.fromkeys(gap for report in reports for gap in report.gaps))
    skipped = _skipped(judgements)
    traffic = first.traffic or next((other.traffic for other in others if other.traffic), ())
    patterns = first.patterns or next((other.patterns for other in others if other.patterns), ())
    measured = measured_of(judgements) or traffic
    return msgspec.structs.replace(
        first,
        region=next((report.region for report in reports if report.region), None),
        account=next((report.account for report in reports if report.account), None),
        verdict=verdict_of(ordered, gaps, patterns, skipped, measured),
        findings=ordered,
        skipped=skipped,
        gaps=gaps,
        sight=_sight(reports),
        changes=changes,
        patterns=patterns,
        keys=first.keys or next((other.keys for other in others if other.keys), ()),
        coverage=_coverage(reports),
        traffic=traffic,
    )


def measured_of(judgements: Sequence[Judgement]) -> tuple[Traffic, ...]:
    """Return the traffic of the first report that has metrics: what a verdict at table level rests on."""
    reports = (one.report for one in judgements)
    return next((report.traffic for report in reports if any(one.metrics for one in report.traffic)), ())


def _skipped(judgements: Sequence[Judgement]) -> tuple[Skipped, ...]:
    """Return what no report judged: of each detector and place that was skipped, the first that says so."""
    judged: set[tuple[str, Target]] = set()
    found: dict[tuple[str, Target], Skipped] = {}
    for one in judgements:
        skipped = {(skip.detector, skip.target): skip for skip in one.report.skipped}
        places = {state.target for state in one.report.sight}
        judged |= {(name, place) for name in one.detectors for place in places} - skipped.keys()
        found = skipped | found
    return tuple(skip for name, skip in found.items() if name not in judged)


def _sight(reports: Iterable[Report]) -> tuple[SightState, ...]:
    states: dict[tuple[Target, str], SightState] = {}
    for state in (state for report in reports for state in report.sight):
        name = (state.target, state.capability.value)
        if name not in states or state.state == "seen":
            states[name] = state
    return tuple(states.values())


def _coverage(reports: Iterable[Report]) -> tuple[Coverage, ...]:
    """Return one line a target and direction: the first that knows what was billed, else the first."""
    lines: dict[tuple[Target, str], Coverage] = {}
    for line in (line for report in reports for line in report.coverage):
        name = (line.target, line.direction.value)
        if name not in lines or (lines[name].ratio is None and line.ratio is not None):
            lines[name] = line
    return tuple(lines.values())
