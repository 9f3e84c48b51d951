"""How contract and week stand to one another: coverage, what nobody asked for, and what got better."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from analyzer.detectors.words import number, percent
from analyzer.model.finding import Severity, Status
from analyzer.model.shape import AttributionKind
from analyzer.reports.drift_values import Presence
from analyzer.reports.item_words import many, times
from analyzer.reports.items import extra_dollars, is_better
from analyzer.reports.week_values import Better, CoverageOfContract, Unseen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.contract.model import Contract, PatternDeclaration, TableDeclaration
    from analyzer.model.target import Target
    from analyzer.model.traffic import PatternTraffic, Traffic
    from analyzer.reports.bill import Bill
    from analyzer.reports.drift_values import Drift, FacetDrift, PatternDrift
    from analyzer.reports.frame import Frame, Frames

__all__ = ["better_of", "coverage_of", "unseen_of"]

_NAMES = {
    "p50": "half of its calls",
    "p95": "its slowest twentieth",
    "p99": "its slowest hundredth",
    "units": "units a request",
    "bytes": "bytes a request",
    "waste": "read units thrown away",
}


def coverage_of(traffics: Sequence[Traffic], contract: Contract) -> tuple[CoverageOfContract, ...]:
    """Return how much of each table's traffic is declared, the one with most that is not first."""
    rows: dict[Target, list[PatternTraffic]] = {}
    for traffic in traffics:
        rows.setdefault(traffic.target.base, []).extend(row for row in traffic.rows if not row.secondary)
    found = [_coverage(target, listed, contract) for target, listed in rows.items()]
    return tuple(sorted(found, key=lambda one: (-(one.undeclared_share or 0.0) * one.requests, one.table)))


def _coverage(target: Target, rows: list[PatternTraffic], contract: Contract) -> CoverageOfContract:
    table = contract.table(target)
    requests = sum(row.requests.value for row in rows)
    units = sum(_units(row) for row in rows)
    by_kind = {kind: sum(r.requests.value for r in rows if r.attribution.kind is kind) for kind in AttributionKind}
    declared_units = sum(_units(row) for row in rows if row.attribution.kind is AttributionKind.DECLARED)
    seen = {row.attribution.pattern for row in rows if row.requests.value}
    patterns = () if table is None else table.patterns
    unclear = by_kind[AttributionKind.AMBIGUOUS] + by_kind[AttributionKind.UNPARSED]
    return CoverageOfContract(
        table=target.table,
        owner=None if table is None else table.owner,
        is_declared=table is not None,
        requests=requests,
        declared_share=by_kind[AttributionKind.DECLARED] / requests if requests else None,
        undeclared_share=by_kind[AttributionKind.UNDECLARED] / requests if requests else None,
        unclear_share=unclear / requests if requests else None,
        units_share=declared_units / units if units else None,
        patterns=len(patterns),
        patterns_seen=sum(pattern.id in seen for pattern in patterns),
    )


def _units(row: PatternTraffic) -> float:
    return row.read_units.value + row.write_units.value


def unseen_of(found: Drift, contract: Contract) -> tuple[Unseen, ...]:
    """Return the declared patterns that nobody asked for, dead ones first."""
    drifted = {(one.subject.target.table, one.subject.pattern): one for one in found.patterns}
    tables = {one.subject.target.table for one in found.patterns}
    unseen = []
    for table in contract.tables:
        names = sorted(name for name in tables if fnmatchcase(name, table.name))
        for name in names or [table.name]:
            for pattern in table.patterns:
                one = drifted.get((name, pattern.id))
                if one is None or not one.requests.value:
                    unseen.append(_unseen(name, table, pattern, one))
    return tuple(sorted(unseen, key=lambda one: (not one.is_dead, one.table, one.pattern)))


def _unseen(name: str, table: TableDeclaration, pattern: PatternDeclaration, one: PatternDrift | None) -> Unseen:
    known = one is not None and one.first_seen is not None
    return Unseen(
        table=name,
        index=pattern.index,
        pattern=pattern.id,
        owner=table.owner,
        is_dead=one is not None and one.presence in {Presence.DEAD, Presence.VANISHED},
        last_seen="in an earlier week" if known else "never",
        declared_rate=pattern.rate.most,
    )


def better_of(found: Drift, week: Frame, past: Frames, bill: Bill) -> tuple[Better, ...]:
    """Return what costs or takes less than before, came as declared, or was mended; most money first."""
    listed = [*_drifted(found, bill), *_mended(week, past)]
    return tuple(sorted(listed, key=lambda one: (-(one.saved_usd or 0.0), one.table, one.summary)))


def _drifted(found: Drift, bill: Bill) -> Iterator[Better]:
    for one in found.patterns:
        target, name = one.subject.target, one.subject.name
        less = [facet for facet in one.out if is_better(facet)]
        extra = extra_dollars(one, bill)
        text = None
        if less:
            text = f"{name}: {'; '.join(_words(facet) for facet in less)}"
        elif one.presence is Presence.VANISHED and one.kind != "declared":
            text = f"{name}, which nobody declared, is not asked any more"
        elif one.presence is Presence.NEW and one.kind == "declared":
            text = f"{name}, declared, came for the first time: {many(one.requests.value)} requests"
        if text is not None:
            saved = -extra if extra is not None and extra < 0 else None
            yield Better(
                table=target.table, index=target.index, pattern=one.subject.pattern, summary=text, saved_usd=saved
            )


def _words(facet: FacetDrift) -> str:
    now, before = facet.seen.value, facet.expected or 0.0
    if facet.name == "waste":
        return f"{percent(now)} of its read units thrown away, {percent(before)} before"
    unit = " ms" if facet.name.startswith("p") else ""
    ratio = "" if facet.ratio is None else f", {times(facet.ratio)} what it was"
    return f"{_NAMES[facet.name]} {number(before)}{unit} → {number(now)}{unit}{ratio}"


def _mended(week: Frame, past: Frames) -> Iterator[Better]:
    """Yield findings of the week before that this week has not."""
    now = {one.id for one in week.findings}
    for one in past[-1].findings if past and week.covered else ():
        is_worth = one.severity is not Severity.LOW and one.status is not Status.SNOOZED
        if is_worth and one.id not in now:
            yield Better(
                table=one.table,
                index=one.index,
                pattern=one.pattern,
                summary=f"{one.detector} of last week did not come back: {one.summary}",
                saved_usd=one.cost_per_month_usd,
            )
