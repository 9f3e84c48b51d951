"""What an item says: its one sentence with the numbers that convict, since when, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise
from analyzer.detectors.words import number, percent, who
from analyzer.model.finding import Risk
from analyzer.model.instant import to_moment
from analyzer.render.words import short
from analyzer.reports.drift_values import Presence, Side
from analyzer.reports.week_values import ItemKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.estimate import Estimate
    from analyzer.model.finding import Advice, Finding
    from analyzer.model.instant import Instant
    from analyzer.reports.drift_values import FacetDrift, MixDrift, PatternDrift

__all__ = [
    "advice_of",
    "also_of",
    "change_words",
    "day",
    "facet_words",
    "finding_change",
    "mix_words",
    "summary_of",
    "times",
]

_SHARES = frozenset(
    {"index", "consistency", "filter", "discards", "caller", "order", "page_size", "top_share", "waste"}
)
"""Facets that are shares of 0 to 1."""
_MINOR = frozenset({"bytes"})
_BIG = {1e9: "billion", 1e6: "million"}
_LATENCIES = {
    "p50": "half of its calls take",
    "p95": "one call in twenty takes longer than",
    "p99": "one call in a hundred takes longer than",
}


def times(ratio: Estimate) -> str:
    """Write a ratio with its interval: `2.6 times [2.4–2.8]`."""
    return f"{ratio.value:.3g} times [{ratio.low:.3g}–{ratio.high:.3g}]"


def many(value: float) -> str:
    """Write a count for people: `1.3 million`, `4,310`."""
    for size, word in _BIG.items():
        if value >= size:
            return f"{value / size:.3g} {word}"
    return number(round(value))


def day(at: Instant) -> str:
    """Write a day: `Mon 23 Nov`."""
    moment = to_moment(at)
    return f"{moment:%a} {moment.day} {moment:%b}"


def summary_of(one: PatternDrift, kind: ItemKind, share: float) -> str:
    """Say what a pattern did; `share` is its part of the units of its target."""
    place = str(one.subject.target)
    caller = short(who(next(iter(one.callers), None)))
    others = f" and {len(one.callers) - 1} more" if len(one.callers) > 1 else ""
    if kind in {ItemKind.NEW, ItemKind.RETURNED}:
        how = "asks" if kind is ItemKind.NEW else "asks again"
        what = "/".join(one.operations)
        named = f" {one.subject.pattern}" if one.subject.pattern else " as nobody declared"
        waste = f", {percent(one.wasted_units / one.units)} of them thrown away" if one.wasted_units else ""
        return (
            f"{caller}{others} {how} {place} by {what}{named}: {many(one.requests.value)} requests on"
            f" {one.days_seen} of {one.days_covered} days, {percent(share)} of its units{waste}"
        )
    if kind is ItemKind.VANISHED:
        before = "" if one.expected_requests is None else f"; {many(one.expected_requests)} requests were expected"
        return f"nobody asked {one.subject.name} of {place} this week{before}"
    said = next((facet_words(facet) for facet in _told(one)), "")
    return f"{one.subject.name} of {place}, as {caller}{others} uses it: {said}"


def also_of(one: PatternDrift) -> tuple[str, ...]:
    """Say what else moved beside that which is told in one sentence."""
    is_whole = one.presence in {Presence.NEW, Presence.RETURNED, Presence.VANISHED}
    return tuple(facet_words(facet) for facet in list(_told(one))[0 if is_whole else 1 :])


def _told(one: PatternDrift) -> list[FacetDrift]:
    """Return what moved, what hurts most first; of latencies only the one that says most."""
    slower = [facet for facet in one.out if facet.name in _LATENCIES and facet.side is Side.PAST]
    best = next((facet for name in ("p95", "p99", "p50") for facet in slower if facet.name == name), None)
    kept = [facet for facet in one.out if facet not in slower or facet is best]
    return sorted(kept, key=lambda facet: (not facet.is_worse, facet.side is Side.DECLARED, facet.name in _MINOR))


def facet_words(facet: FacetDrift) -> str:
    """Say how one side stands beside its past or its declaration."""
    if facet.side is Side.DECLARED:
        return f"{_seen(facet)}, where {facet.declared} is declared"
    if facet.ratio is None or facet.expected is None:
        return _seen(facet)
    ratio = times(facet.ratio)
    if facet.name == "rate":
        return (
            f"it comes {ratio} as often as it did: {many(facet.seen.value)} requests, {many(facet.expected)} expected"
        )
    if facet.name in _LATENCIES:
        return f"{_LATENCIES[facet.name]} {number(facet.seen.value)} ms, {ratio} what it was ({number(facet.expected)})"
    if facet.name == "waste":
        return f"{percent(facet.seen.value)} of its read units are thrown away, {percent(facet.expected)} before"
    unit = "units" if facet.name == "units" else "bytes"
    return f"a request takes {number(facet.seen.value)} {unit}, {ratio} what it took ({number(facet.expected)})"


def _seen(facet: FacetDrift) -> str:
    shown = percent(facet.seen.value) if facet.name in _SHARES else number(facet.seen.value)
    return f"{shown} {facet.text}".strip()


def change_words(one: PatternDrift) -> str | None:
    """Say from when on it comes more or less often; None where no day stands out."""
    if one.change is None:
        return None
    return (
        f"from {day(one.change.at)} on: {many(one.change.before)} requests a day before, {many(one.change.after)} since"
    )


def finding_change(one: Finding) -> str | None:
    """Say what was changed just before a finding began."""
    if one.since_change is None:
        return None
    change = one.since_change
    what = " ".join(word for word in (change.what, change.detail) if word)
    return f"{day(change.time)} {to_moment(change.time):%H:%M} {what}{f' by {change.who}' if change.who else ''}"


def mix_words(one: MixDrift) -> str:
    """Say how the mix of a table shifted."""
    terms = ", ".join(f"{term.name} {percent(term.before)} → {percent(term.now)}" for term in one.terms)
    return (
        f"the {one.what} of {one.target} are mixed otherwise than in ordinary weeks: {terms} "
        f"(stability index {one.rest_psi:.2g}, ordinary weeks stay under {one.threshold:.2g})"
    )


def advice_of(one: PatternDrift, kind: ItemKind) -> tuple[Advice, ...]:
    """Return what to do about a pattern, best first."""
    caller = short(who(next(iter(one.callers), None)))
    if kind is ItemKind.VANISHED:
        return (
            advise(
                "check-client",
                f"Ask {one.owner or 'the owner'} whether {one.subject.name} was meant to end, or its caller is broken",
                effect="a caller that fails silently is found",
                takes="minutes",
            ),
            advise("remove-declaration", "If it was, take its declaration out of the contract", takes="minutes"),
        )
    if kind in {ItemKind.NEW, ItemKind.RETURNED} and one.subject.pattern is None:
        return (
            advise(
                "check-client",
                f"Ask the owner of {caller} what it is for; if it is not meant, take it back",
                effect="the traffic ends, or gets an owner",
                takes="minutes",
            ),
            advise("declare-pattern", "If it is meant, declare it: the YAML is below", takes="minutes"),
        )
    return tuple(_moved_advice(one, caller))


def _moved_advice(one: PatternDrift, caller: str) -> Iterator[Advice]:
    worse = [facet.name for facet in one.out if facet.is_worse]
    if "units" in worse or "bytes" in worse:
        yield advise(
            "check-client",
            f"Look at what {caller} changed: bigger items, strong reads, no projection any more, more items a page",
            effect="a request costs what it did",
            takes="a deploy",
        )
        yield advise(
            "split-item",
            "If items grew, keep what is read often apart from what is not",
            effect="each read pays for what it needs",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )
    elif "waste" in worse:
        yield advise(
            "encode-filter-in-key",
            "Let a key select what the filter does",
            effect="what is thrown away is not paid for",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )
    else:
        yield advise(
            "check-client",
            f"Ask the owner of {caller} what changed: a release, more users, another job, retries",
            effect="the traffic goes back, or gets a declaration that fits",
            takes="minutes",
        )
    if one.subject.pattern is not None:
        yield advise(
            "update-declaration",
            f"If it is meant, let {one.subject.pattern} say so in the contract",
            effect="it is then watched against what it is",
            takes="minutes",
        )
