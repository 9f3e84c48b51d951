"""The weekly report: a week, the weeks before it and the contract go in, one frozen value comes out. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.detectors.words import number, percent
from analyzer.model.instant import Instant, to_moment
from analyzer.model.prices import Prices
from analyzer.render.show import show_finding, view_of
from analyzer.reports.acknowledged import Acknowledgement, apart
from analyzer.reports.bill import bill_of, priced
from analyzer.reports.drift import drift
from analyzer.reports.drift_declared import traffic_of
from analyzer.reports.heat import forecasts_of, map_of
from analyzer.reports.items import items_of
from analyzer.reports.readiness import readiness_of
from analyzer.reports.readiness_view import View
from analyzer.reports.standing import better_of, coverage_of, unseen_of
from analyzer.reports.traces import together_of
from analyzer.reports.undeclared import undeclared_of
from analyzer.reports.uses import indexes_of, transactions_of, waste_of
from analyzer.reports.week_values import WeekReport
from analyzer.reports.weeks import week_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.contract.model import Contract
    from analyzer.model.traffic import Traffic
    from analyzer.reports.bill import Bill
    from analyzer.reports.drift_values import Drift
    from analyzer.reports.frame import Frame, Frames

__all__ = ["NOTHING_KNOWN", "Known", "report_week"]

_WHOLE = 0.995
_ENOUGH_WEEKS = 4
"""So many past weeks tell how a pattern wobbles."""


class Known(Struct, frozen=True, kw_only=True):
    """What a report has to know beside history and contract.

    `torn` acknowledgements could not be read. Of a week that is not over at `now` the rest is no hole. `with_tokens`:
    keys are shown as the tokens that history has. `held` are the weeks that history has anything of.
    """

    prices: tuple[Prices, ...] = ()
    acknowledged: tuple[Acknowledgement, ...] = ()
    torn: int = 0
    now: Instant | None = None
    with_tokens: bool = False
    held: tuple[str, ...] = ()


NOTHING_KNOWN = Known()


def report_week(week: Frame, past: Frames, contract: Contract, known: Known = NOTHING_KNOWN) -> WeekReport:
    """Write the report of a week."""
    week, past = _named(week, known), tuple(_named(one, known) for one in past)
    found = drift(week, past, contract)
    traffics = priced(traffic_of(week, contract), known.prices)
    bill = bill_of(traffics, week.covered_seconds)
    items, quieted = apart(items_of(week, found, contract, bill), known.acknowledged)
    undeclared = undeclared_of(week, traffics, contract, bill)
    coverage = coverage_of(traffics, contract)
    heat = map_of(week, with_tokens=known.with_tokens)
    forecasts = forecasts_of(week, past, with_tokens=known.with_tokens)
    view = View(
        contract=contract,
        findings=week.findings,
        tables=week.tables,
        traffics=traffics,
        coverage=coverage,
        undeclared=undeclared,
        heat=heat,
        forecasts=forecasts,
        covered_share=_covered_so_far(week, _end(week, known)),
    )
    return WeekReport(
        week=week_name(week.window),
        window=week.window,
        weeks=len(past),
        covered_share=_covered_share(week),
        growth=found.growth,
        requests=sum(one.requests for one in coverage),
        dollars=_dollars(traffics, bill),
        basis=bill.basis,
        has_contract=bool(contract.tables),
        remarks=tuple(_remarks(week, past, found, contract, known)),
        items=items,
        quieted=quieted,
        better=better_of(found, week, past, bill),
        undeclared=undeclared,
        unseen=unseen_of(found, contract),
        heat=heat,
        forecasts=forecasts,
        waste=waste_of(traffics, bill),
        indexes=indexes_of(traffics, contract, (*past, week), bill),
        transactions=transactions_of(traffics, contract, bill),
        together=together_of(week),
        coverage=coverage,
        readiness=readiness_of(view),
    )


def _named(frame: Frame, known: Known) -> Frame:
    """Fill in what findings call their keys: history holds tokens, and says more only of templates."""
    view = view_of("reveal" if known.with_tokens else "template")
    return msgspec.structs.replace(frame, findings=tuple(show_finding(one, view) for one in frame.findings))


def _covered_share(week: Frame) -> float:
    return min(1.0, week.covered_seconds / week.window.seconds)


def _end(week: Frame, known: Known) -> Instant:
    """Return where a week ends that may not be over."""
    return week.window.end if known.now is None else min(week.window.end, known.now)


def _covered_so_far(week: Frame, end: Instant) -> float:
    """Return which share of what is over was looked at."""
    return min(1.0, week.covered_seconds * 1000 / max(1, end - week.window.start))


def _dollars(traffics: tuple[Traffic, ...], bill: Bill) -> float | None:
    """Return what all units cost a month; None where no request told any."""
    rows = [(traffic.target, row) for traffic in traffics for row in traffic.rows]
    if not any(row.units_known or row.secondary for _, row in rows):
        return None
    return round(sum(bill.dollars(to, row.read_units.value, row.write_units.value) for to, row in rows), 2)


def _remarks(week: Frame, past: Frames, found: Drift, contract: Contract, known: Known) -> Iterator[str]:
    """Say what a reader has to know before numbers."""
    end = _end(week, known)
    if end < week.window.end:
        yield f"The week is not over: this is what it was until {to_moment(end):%a %d %b %H:%M} UTC."
    if not week.covered:
        yield f"History holds nothing of this week: nobody looked, so that nothing can be said.{_elsewhere(known.held)}"
    elif week.covered_seconds < _WHOLE * (end - week.window.start) / 1000:
        yield _hole(week, found, end)
    torn = week.torn + known.torn + sum(frame.torn for frame in past)
    if torn:
        what = (
            "1 file of history could not be read, and is" if torn == 1 else f"{torn} files could not be read, and are"
        )
        yield f"{what} not in the numbers: dynascope run sets such files aside."
    if week.covered and not past:
        yield "History knows no week before this one: nothing can be called more, less or new. Only declarations speak."
    elif week.covered and len(past) < _ENOUGH_WEEKS:
        yield (
            f"History knows {len(past)} {'week' if len(past) == 1 else 'weeks'} before this one: how traffic wobbles "
            "from week to week is a guess, and a change must be larger to be told."
        )
    if not contract.tables:
        yield "No contract was given: what is declared, unused or owned cannot be told. dynascope infer drafts one."


def _elsewhere(held: tuple[str, ...]) -> str:
    """Say of which weeks something can be told."""
    if not held:
        return ""
    which = held[0] if len(held) == 1 else f"{len(held)} weeks from {held[0]} to {held[-1]}"
    return f" It holds {which}: --week {held[-1]} shows the newest."


def _hole(week: Frame, found: Drift, end: Instant) -> str:
    lengths = {gap.start: min(gap.end, end) - gap.start for gap in found.gaps}
    longest = max(lengths, key=lambda start: lengths[start])
    share = percent(_covered_so_far(week, end))
    return (
        f"{share} of it was looked at; the longest hole begins {to_moment(longest):%a %d %b %H:%M} UTC and "
        f"lasts {number(round(lengths[longest] / 3_600_000, 1))} hours. Rates are of what was seen."
    )
