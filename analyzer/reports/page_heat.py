"""The page's part on heat: the map of the week, its hottest keys, and where they lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number, percent
from analyzer.model.instant import to_moment
from analyzer.render.blocks import Grid, Heading, HeatGrid, Paragraph
from analyzer.reports.item_words import day

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.render.blocks import Block
    from analyzer.reports.week_values import KeyForecast, KeyRow, WeekMap, WeekReport

__all__ = ["heat_blocks"]

_HOTTEST = 5
_DAY = 24


def heat_blocks(report: WeekReport) -> Iterator[Block]:
    """Yield the map, its hottest rows in words, and the forecast."""
    yield Heading("Heat of keys")
    heat = report.heat
    if heat is None:
        yield Paragraph(
            "Not observable: no key was tracked. It takes a request log with keys, or Contributor Insights."
        )
    elif not heat.rows:
        yield Paragraph("No key came to a hundredth of what one partition serves.")
    else:
        yield from _map(heat)
    yield Heading("Forecast of hot keys")
    yield from _forecast(report.forecasts)


def _map(heat: WeekMap) -> Iterator[Block]:
    yield Paragraph(
        "Shares of what one partition serves, 3,000 read or 1,000 write units a second: of the fullest second of each "
        "hour where seconds were kept, else of its mean. What is left open nobody tracked."
    )
    yield HeatGrid(
        title="Heat of the hottest keys, hour by hour",
        labels=tuple(_name(row) for row in heat.rows),
        notes=tuple(f"{_name(row)}: {percent(row.hottest)} at {_when(row)}" for row in heat.rows),
        cells=tuple(row.heat for row in heat.rows),
        ticks=tuple((column, day(heat.start + column * heat.step_ms)) for column in range(0, heat.columns, _DAY)),
    )
    rows = sorted(heat.rows, key=lambda row: -row.hottest)[:_HOTTEST]
    yield Grid(
        ("hottest keys", "of", "", "hottest", "when, UTC", "measured by"),
        tuple(
            (
                row.label,
                _place(row),
                f"{row.direction.value}s",
                percent(row.hottest),
                _when(row),
                "the second" if row.is_second else "the hour",
            )
            for row in rows
        ),
        frozenset({3}),
    )
    if heat.left_out:
        yield Paragraph(f"{heat.left_out} cooler keys are left out.")


def _name(row: KeyRow) -> str:
    return f"{_place(row)} {row.label}{' (writes)' if row.direction.value == 'write' else ''}"


def _place(row: KeyRow | KeyForecast) -> str:
    return f"{row.table}/{row.index}" if row.index else row.table


def _when(row: KeyRow) -> str:
    return f"{day(row.hottest_at)} {to_moment(row.hottest_at):%H:00}"


def _forecast(forecasts: tuple[KeyForecast, ...] | None) -> Iterator[Block]:
    if forecasts is None:
        yield Paragraph("Not observable: it takes keys that were tracked on two weeks of days.")
        return
    if not forecasts:
        yield Paragraph("No key surely grows towards its ceiling within a year, as far as two weeks or more tell.")
        return
    yield Grid(
        ("key", "of", "", "heat now", "a week", "reaches its ceiling in", "rests on"),
        tuple(
            (
                one.label,
                _place(one),
                f"{one.direction.value}s",
                percent(one.heat),
                _growth(one),
                _reach(one),
                f"{one.days_fitted} days",
            )
            for one in forecasts
        ),
        frozenset({3, 4}),
    )
    yield Paragraph("If growth goes on as it did. Heat now is the level of the fullest weekday at the end of the week.")


def _growth(one: KeyForecast) -> str:
    value, low, high = (100 * (part - 1) for part in one.growth_a_week)
    return f"{value:+.1f}% [{low:+.1f}–{high:+.1f}]"


def _reach(one: KeyForecast) -> str:
    latest = "for ever" if one.days_high is None else number(round(one.days_high))
    mark = " — within four weeks" if one.is_near else ""
    return f"{number(round(one.days))} days [{number(round(one.days_low))}–{latest}]{mark}"
