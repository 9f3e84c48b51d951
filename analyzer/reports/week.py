"""The weekly report: a week, the weeks before it and the contract go in, one frozen value comes out. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number, percent
from analyzer.model.instant import to_moment
from analyzer.reports.bill import bill_of, priced
from analyzer.reports.drift import drift
from analyzer.reports.drift_declared import traffic_of
from analyzer.reports.items import items_of
from analyzer.reports.week_values import WeekReport
from analyzer.reports.weeks import week_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.contract.model import Contract
    from analyzer.model.prices import Prices
    from analyzer.reports.drift_values import Drift
    from analyzer.reports.frame import Frame, Frames

__all__ = ["MOST_ITEMS", "report_week"]

MOST_ITEMS = 10
"""What a team reads in five minutes."""
_WHOLE = 0.995
_ENOUGH_WEEKS = 4
"""So many past weeks tell how a pattern wobbles."""


def report_week(week: Frame, past: Frames, contract: Contract, prices: Sequence[Prices] = ()) -> WeekReport:
    """Write the report of a week."""
    found = drift(week, past, contract)
    traffics = priced(traffic_of(week, contract), tuple(prices))
    bill = bill_of(traffics, week.covered_seconds)
    items = items_of(week, found, contract, bill)
    hours = week.hours
    asked = hours[~hours["secondary"].astype(bool)]
    dollars = sum(
        bill.dollars(one.target, sum(r.read_units.value for r in one.rows), sum(r.write_units.value for r in one.rows))
        for one in traffics
    )
    return WeekReport(
        week=week_name(week.window),
        window=week.window,
        weeks=len(past),
        covered_share=week.covered_seconds / week.window.seconds,
        growth=found.growth,
        requests=float(asked["requests"].sum()),
        dollars=round(dollars, 2) if len(hours) else None,
        basis=bill.basis,
        has_contract=bool(contract.tables),
        remarks=tuple(_remarks(week, past, found, contract)),
        items=items[:MOST_ITEMS],
        more_items=max(0, len(items) - MOST_ITEMS),
    )


def _remarks(week: Frame, past: Frames, found: Drift, contract: Contract) -> Iterator[str]:
    """Say what a reader has to know before numbers."""
    if not week.covered:
        yield "History holds nothing of this week: nobody looked, so that nothing can be said, good or bad."
    elif week.covered_seconds < _WHOLE * week.window.seconds:
        yield _hole(week, found)
    torn = week.torn + sum(frame.torn for frame in past)
    if torn:
        what = (
            "1 file of history could not be read, and is" if torn == 1 else f"{torn} files could not be read, and are"
        )
        yield f"{what} not in the numbers: `dynascope run` sets such files aside."
    if week.covered and not past:
        yield "History knows no week before this one: nothing can be called more, less or new. Only declarations speak."
    elif week.covered and len(past) < _ENOUGH_WEEKS:
        yield (
            f"History knows {len(past)} {'week' if len(past) == 1 else 'weeks'} before this one: how traffic wobbles "
            "from week to week is a guess, and a change must be larger to be told."
        )
    if not contract.tables:
        yield "No contract was given: what is declared, unused or owned cannot be told. `dynascope infer` drafts one."


def _hole(week: Frame, found: Drift) -> str:
    longest = max(found.gaps, key=lambda gap: gap.seconds)
    return (
        f"{percent(week.covered_seconds / week.window.seconds)} of the week was looked at; the longest hole begins "
        f"{to_moment(longest.start):%a %d %b %H:%M} UTC and lasts {number(round(longest.seconds / 3600, 1))} hours. "
        "Rates are of what was seen."
    )
