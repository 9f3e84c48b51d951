"""A week of history as what the planning commands look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.ahead import wall_clock
from analyzer.cli.output import so_many
from analyzer.cli.planned import observed_table
from analyzer.cli.remembered import read_history
from analyzer.config_prices import prices_of_section
from analyzer.errors import CollectError, UsageError
from analyzer.model.instant import format_instant
from analyzer.reports.weeks import last_week, week_name, week_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analyzer.cli.planned import Bench
    from analyzer.history.traffic import Past
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target
    from analyzer.model.window import Window
    from analyzer.planning.capacity_evidence import Observed

__all__ = ["observed_history"]

_WHOLE = 0.99
"""A restart or two in a week is no hole worth a word."""


def observed_history(
    bench: Bench, place: str, week: str | None, clock: Callable[[], Instant] = wall_clock
) -> tuple[Observed, ...]:
    """Read one week, else the last whole one; one value a table. Raises CollectError where nobody looked at it."""
    from analyzer.history.traffic import read_traffic  # noqa: PLC0415 -- pyarrow costs half a second

    window, local = _window(week, clock), bench.local

    def is_local(target: Target) -> bool:
        return (target.table, target.index) in local

    prices = prices_of_section(bench.settings.prices)
    past = read_history(
        place, bench.settings, lambda dataset: read_traffic(dataset, window, bench.contract, prices, is_local)
    )
    if past is None:
        told = f"{week_name(window)} ({format_instant(window.start)[:10]} to {format_instant(window.end - 1)[:10]})"
        raise CollectError(f"nobody looked at {told} in {place}", hint="name a week that history covers, with --week")
    complaints = tuple(_complaints(past, window))
    return tuple(observed_table(bench, traffics, past.loads, complaints) for traffics in past.tables)


def _window(week: str | None, clock: Callable[[], Instant]) -> Window:
    if week is None:
        return last_week(clock())
    try:
        return week_window(week)
    except ValueError as error:
        raise UsageError(f"--week: {error}") from None


def _complaints(past: Past, window: Window) -> Iterator[str]:
    """Say how far the numbers carry."""
    days = past.covered_seconds / 86_400
    if past.covered_seconds < _WHOLE * window.seconds:
        yield f"history covers {days:.1f} days of {week_name(window)}: what lies in its holes counts as nothing asked"
    if past.is_coarse:
        yield "minutes of that week are gone: the units of an hour are spread evenly over it, and peaks are higher"
    if past.torn:
        yield f"{so_many(past.torn, 'file')} of history cannot be read: what they held counts as nothing asked"
    if any(traffic.keys for traffics in past.tables for traffic in traffics):
        fullest = "hour" if past.has_coarse_keys else "minute"
        yield f"keys are as hot as in their fullest {fullest}, shared out to patterns as their template's units are"
