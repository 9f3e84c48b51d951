"""What a team should know of a week: drift and findings as items, ranked by risk and money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.lifecycle.identity import identify
from analyzer.model.finding import Confidence, Finding, Severity, Status
from analyzer.model.target import Target
from analyzer.reports.drift_values import Presence, Side
from analyzer.reports.item_words import advice_of, also_of, change_words, finding_change, mix_words, summary_of
from analyzer.reports.week_values import Item, ItemKind, Moved
from analyzer.statistics.rates import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.contract.model import Contract
    from analyzer.reports.bill import Bill
    from analyzer.reports.drift_values import Drift, FacetDrift, MixDrift, PatternDrift
    from analyzer.reports.frame import Frame

__all__ = ["extra_dollars", "is_better", "items_of", "ranked"]

_LOW_DOLLARS = 5.0
"""Under it a month, and without harm of any kind, a thing is worth knowing and no more."""
_MUCH_DOLLARS = 20.0
_MUCH_SHARE = 0.05
_SLOWER = frozenset({"p50", "p95", "p99"})
_TOLD_BY_DRIFT = frozenset({"pattern-drift", "undeclared-pattern", "unused-pattern"})
"""Detectors that judge a window by what drift judges a week by."""
_EXPECTED = frozenset({"declared-scan", "index-building"})
"""Findings that tell of what was meant."""
_KINDS = {
    Presence.NEW: ItemKind.NEW,
    Presence.RETURNED: ItemKind.RETURNED,
    Presence.VANISHED: ItemKind.VANISHED,
}
_PAGES = {
    ItemKind.MOVED: "pattern-drift",
    ItemKind.NEW: "undeclared-pattern",
    ItemKind.RETURNED: "undeclared-pattern",
    ItemKind.VANISHED: "unused-pattern",
    ItemKind.MIX: "pattern-drift",
}
_KEPT = ("share", "heat", "throttled_share", "failed_share", "ratio", "requests")
"""Evidence of findings that an acknowledgement remembers."""


def items_of(week: Frame, found: Drift, contract: Contract, bill: Bill) -> tuple[Item, ...]:
    """Return everything worth telling, the riskiest and dearest first."""
    units = _units_by_target(found)
    items = [_pattern_item(one, bill, units, contract) for one in found.patterns if _is_told(one)]
    items += [_mix_item(one, contract) for one in found.mixes if one.standing is Standing.OUT]
    items += [_finding_item(one, contract) for one in _worth_telling(week.findings)]
    return ranked(items)


def ranked(items: Iterable[Item]) -> tuple[Item, ...]:
    """Order by severity, then by money, then by how far it went."""
    return tuple(
        sorted(items, key=lambda one: (-one.severity.rank, -(one.extra_usd or 0.0), -_distance(one), one.table, one.id))
    )


def _distance(item: Item) -> float:
    ratios = [moved.ratio.value for moved in item.moved if moved.ratio is not None and moved.ratio.value > 0]
    return max((max(ratio, 1 / ratio) for ratio in ratios), default=0.0)


def _is_told(one: PatternDrift) -> bool:
    """Whether a pattern is an item: what only got better, or is declared and came or did not come yet, is none."""
    if one.presence is Presence.NEW:
        return one.kind != "declared" or bool(one.out)
    if one.presence is Presence.VANISHED:
        return one.kind == "declared"
    if one.presence is Presence.DEAD:
        return False
    return one.presence is Presence.RETURNED or any(not is_better(facet) for facet in one.out)


def is_better(facet: FacetDrift) -> bool:
    """Whether a request costs or takes less than before."""
    return facet.name != "rate" and facet.ratio is not None and facet.ratio.value < 1


def _units_by_target(found: Drift) -> dict[Target, float]:
    units: dict[Target, float] = {}
    for one in found.patterns:
        units[one.subject.target] = units.get(one.subject.target, 0.0) + one.units
    return units


def _pattern_item(one: PatternDrift, bill: Bill, units: dict[Target, float], contract: Contract) -> Item:
    kind = _KINDS.get(one.presence, ItemKind.MOVED)
    extra = extra_dollars(one, bill)
    target = one.subject.target
    share = one.units / units[target] if units.get(target) else 0.0
    return Item(
        id=_id(target, _PAGES[kind], one.subject.name),
        kind=kind,
        severity=_severity(one, kind, extra, share),
        summary=summary_of(one, kind, share),
        also=also_of(one),
        account=target.account,
        region=target.region,
        table=target.table,
        index=target.index,
        pattern=one.subject.pattern,
        fingerprint=one.subject.fingerprint or next(iter(one.fingerprints), None),
        caller=next(iter(one.callers), None),
        owner=one.owner or _owner(contract, target),
        moved=tuple(_moved(one)),
        extra_usd=None if extra is None else round(extra, 2),
        first_seen=one.first_seen,
        since=None if one.change is None else one.change.at,
        change=change_words(one),
        days_seen=one.days_seen if one.days_covered else None,
        days_covered=one.days_covered or None,
        advice=advice_of(one, kind),
        page=_PAGES[kind],
        measures=_measures(one),
    )


def extra_dollars(one: PatternDrift, bill: Bill) -> float | None:
    """Return what a pattern costs a month more than its past predicts; None where there is no past."""
    expected = one.expected_units
    if expected is None:
        if one.presence not in {Presence.NEW, Presence.RETURNED}:
            return None
        expected = 0.0
    more = one.units - expected
    is_write = any(operation in _WRITES for operation in one.operations)
    found = bill.dollars(one.subject.target, 0.0 if is_write else abs(more), abs(more) if is_write else 0.0)
    return found if more >= 0 else -found


_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


def _severity(one: PatternDrift, kind: ItemKind, extra: float | None, share: float) -> Severity:
    if kind is ItemKind.VANISHED:
        return Severity.MEDIUM
    if any(facet.is_worse and facet.name in _SLOWER for facet in one.out):
        return Severity.MEDIUM
    if kind in {ItemKind.NEW, ItemKind.RETURNED}:
        is_much = share >= _MUCH_SHARE or (extra or 0.0) >= _MUCH_DOLLARS
        return Severity.MEDIUM if is_much else Severity.LOW
    is_costly = (extra or 0.0) >= _LOW_DOLLARS
    breaks = any(facet.side is Side.DECLARED for facet in one.out)
    return Severity.MEDIUM if breaks or (is_costly and one.is_regressed) else Severity.LOW


def _moved(one: PatternDrift) -> Iterator[Moved]:
    for facet in one.out:
        yield Moved(
            name=facet.name,
            against=facet.side.value,
            seen=facet.seen,
            before=facet.expected,
            ratio=facet.ratio,
            declared=facet.declared,
            text=facet.text,
        )


def _measures(one: PatternDrift) -> dict[str, float]:
    """Return levels, not ratios: what an acknowledgement holds the next weeks against."""
    days = max(one.days_covered, 1)
    found = {"requests a day": round(one.requests.value / days, 1)}
    found |= {facet.name: facet.seen.value for facet in one.out if facet.name != "rate"}
    return found


def _mix_item(one: MixDrift, contract: Contract) -> Item:
    return Item(
        id=_id(one.target, "pattern-drift", f"mix of {one.what}"),
        kind=ItemKind.MIX,
        severity=Severity.LOW,
        summary=mix_words(one),
        account=one.target.account,
        region=one.target.region,
        table=one.target.table,
        owner=_owner(contract, one.target),
        page="pattern-drift",
        measures={term.name: round(term.now, 4) for term in one.terms},
    )


def _worth_telling(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings that drift does not tell, causes alone: what they explain is under them in the daemon's own."""
    listed = [one for one in findings if one.detector not in _TOLD_BY_DRIFT | _EXPECTED]
    known = {one.id for one in listed}
    for one in listed:
        is_cheap = one.severity is Severity.LOW and (one.cost_per_month_usd or 0.0) < _LOW_DOLLARS
        if one.status is not Status.SNOOZED and one.caused_by not in known and not is_cheap:
            yield one


def _finding_item(one: Finding, contract: Contract) -> Item:
    evidence = {name: value for name, value in one.evidence.items() if name in _KEPT and isinstance(value, int | float)}
    measures = {"severity": float(one.severity.rank), **evidence}
    if one.cost_per_month_usd is not None:
        measures["dollars a month"] = one.cost_per_month_usd
    return Item(
        id=one.id,
        kind=ItemKind.FINDING,
        severity=one.severity,
        summary=f"{one.detector}: {one.summary}",
        account=one.account,
        region=one.region,
        table=one.table,
        index=one.index,
        pattern=one.pattern,
        fingerprint=one.fingerprint,
        caller=one.caller,
        owner=_owner(contract, Target(one.account, one.region, one.table, one.index)),
        extra_usd=one.cost_per_month_usd,
        first_seen=one.first_seen,
        change=finding_change(one),
        advice=one.advice,
        page=one.detector,
        measures=measures,
    )


def _owner(contract: Contract, target: Target) -> str | None:
    """Return who owns an index, else its table, as far as anybody is declared."""
    table = contract.table(target)
    index = None if table is None else table.index(target.index)
    return (index and index.owner) or (table and table.owner) or None


def _id(target: Target, detector: str, subject: str) -> str:
    """Return the id that a finding of this detector and subject has without a salt."""
    made = Finding(
        detector=detector,
        severity=Severity.LOW,
        confidence=Confidence.LIKELY,
        account=target.account,
        region=target.region,
        table=target.table,
        index=target.index,
        subject=subject,
        summary="",
    )
    return identify(made).id
