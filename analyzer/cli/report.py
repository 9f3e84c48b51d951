"""dynascope report."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.output import FailOn
from analyzer.cli.paged import PageFormat, as_json, check_place, format_of, print_page, rendered
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from analyzer.model.window import Window
    from analyzer.reports.week_values import WeekReport

__all__ = ["report"]

_CANNOT_TELL = 3


def report(
    week: Annotated[
        str | None, typer.Option(metavar="WEEK", help="an ISO week such as 2026-W48; else the last whole one")
    ] = None,
    history: Annotated[
        str | None, typer.Option(metavar="DIR|S3", help="where history is; else as --config says")
    ] = None,
    contract: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="declared access patterns; may be given again")
    ] = None,
    form: Annotated[
        PageFormat | None, typer.Option("--format", help="how to print; else by the name of -o, else markdown")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="write there; .html and .md choose the format")
    ] = None,
    fail_on: Annotated[FailOn, typer.Option(help="end with 1 for an item of this severity or worse")] = FailOn.HIGH,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="configuration: history, contract, prices")
    ] = None,
) -> None:
    """Write the report of a week: what moved, what it costs, and who should know.

    \b
      dynascope report --history /var/lib/dynascope/history --contract contract.yaml -o week.html

    Exit 0 when nothing is at or over --fail-on, 1 otherwise, 2 on wrong usage, 3 when nobody looked at the week.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.settings import settings_and_contract  # noqa: PLC0415 -- light start
    from analyzer.reports.page import week_page  # noqa: PLC0415 -- light start

    check_place(output)
    settings, declared = settings_and_contract(config, contract)
    place = history or (settings.history.to if settings.history is not None else None)
    if place is None:
        raise UsageError("say where history is: --history DIR, or a --config with a section history")
    from analyzer.config_prices import prices_of_section  # noqa: PLC0415 -- light start
    from analyzer.history_opening import open_dataset  # noqa: PLC0415 -- light start
    from analyzer.reports.frame import load_weeks  # noqa: PLC0415 -- heavy
    from analyzer.reports.week import report_week  # noqa: PLC0415 -- heavy

    window = _window(week)
    frame, past = asyncio.run(load_weeks(open_dataset(place), window))
    found = report_week(frame, past, declared, prices_of_section(settings.prices))
    chosen = format_of(output, form, PageFormat.MARKDOWN)
    print_page(as_json(found) if chosen is PageFormat.JSON else rendered(week_page(found), chosen), output)
    code = _exit_code(found, fail_on)
    if code:
        raise typer.Exit(code)


def _exit_code(found: WeekReport, fail_on: FailOn) -> int:
    """Return 1 for an item at or over `fail_on`, 3 where nobody looked, else 0."""
    from analyzer.model.finding import Severity  # noqa: PLC0415 -- light start

    if fail_on is not FailOn.NEVER:
        floor = Severity(fail_on.value).rank
        if any(item.severity.rank >= floor for item in found.items):
            return 1
    return 0 if found.covered_share else _CANNOT_TELL


def _window(week: str | None) -> Window:
    from analyzer.ahead import wall_clock  # noqa: PLC0415 -- light start
    from analyzer.reports.weeks import last_week, week_window  # noqa: PLC0415 -- light start

    if week is None:
        return last_week(wall_clock())
    try:
        return week_window(week)
    except ValueError as error:
        raise UsageError(f"--week: {error}") from None
