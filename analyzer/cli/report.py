"""dynascope report."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.calling import ProfileOption, RegionOption  # noqa: TC001 -- typer evaluates the annotations
from analyzer.cli.output import FailOn, write
from analyzer.cli.paged import PageFormat, check_place, format_of, named_place, print_page, rendered
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.cli.reporting import Desk
    from analyzer.deliver import Place
    from analyzer.reports.week_values import WeekReport

__all__ = ["report"]

_CANNOT_TELL = 3
_SUFFIXES = {PageFormat.HTML: "html", PageFormat.MARKDOWN: "md", PageFormat.JSON: "json", PageFormat.TEXT: "txt"}


class WeekFormat(StrEnum):
    """How a weekly report is written."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"
    TEXT = "text"


class WeekKeys(StrEnum):
    """How keys are shown: history has no clear ones."""

    TEMPLATE = "template"
    TOKEN = "token"  # noqa: S105 -- a word of the policy


def report(  # noqa: PLR0913, PLR0917 -- one parameter an option
    week: Annotated[
        str | None, typer.Option(metavar="WEEK", help="an ISO week such as 2026-W48; else the last whole one")
    ] = None,
    history: Annotated[
        str | None, typer.Option(metavar="DIR|S3", help="folder, or s3://bucket/prefix; else as --config says")
    ] = None,
    contract: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="declared access patterns; may be given again")
    ] = None,
    form: Annotated[
        WeekFormat | None,
        typer.Option("--format", help="how to write it; else by -o, on a terminal text, else markdown"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="write there; .html and .md choose the format, a folder gets a page",
            parser=named_place,
        ),
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="PLACE",
            envvar="DYNASCOPE_REPORT_TO",
            help="send it to s3://bucket/prefix/, sns:ARN or https://address; may be given again",
        ),
    ] = None,
    acknowledge: Annotated[
        str | None, typer.Option(metavar="ID", help="keep an item out of reports until it moves by another half")
    ] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="why it is accepted, with --acknowledge")] = None,
    who: Annotated[str | None, typer.Option(metavar="NAME", help="who says so, with --acknowledge")] = None,
    take_back: Annotated[
        str | None, typer.Option("--take-back", metavar="ID", help="let an acknowledged item be news again")
    ] = None,
    keys: Annotated[WeekKeys, typer.Option(help="how keys are shown")] = WeekKeys.TEMPLATE,
    fail_on: Annotated[FailOn, typer.Option(help="end with 1 for an item of this severity or worse")] = FailOn.HIGH,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: history, contract, prices")
    ] = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Write the report of a week: what moved, what it costs, and who should know.

    It holds the week against the weeks before it and against the contract, out of the history that `dynascope run`
    writes: at most ten things to know, what got better, undeclared patterns with the YAML to add, heat and its
    forecast, what filters, indexes and transactions cost, and the readiness checklist.

    \b
      dynascope report --config dynascope.yaml -o week.html
      dynascope report --week 2026-W48 --history /var/lib/dynascope/history --contract contract.yaml
      dynascope report --config dynascope.yaml --to s3://bucket/reports/ --to https://hooks.example.com/T0/B0
      dynascope report --config dynascope.yaml --acknowledge d78da5a4b3c2 --reason 'the sale, until Friday'

    Exit 0 when nothing is at or over --fail-on, 1 otherwise, 2 on wrong usage, 3 when nobody looked at that week or
    history cannot be read, or a place does not take the report.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.reporting import Desk  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_and_contract  # noqa: PLC0415 -- light start
    from analyzer.deliver import place_of  # noqa: PLC0415 -- light start

    check_place(output, takes_folder=True)
    _refuse_mixtures(acknowledge, take_back, reason, has_output=output is not None)
    places = tuple(place_of(one) for one in to or ())
    settings, declared = settings_and_contract(config, contract)
    desk = Desk.at(settings, declared, history, (region, profile), with_tokens=keys is WeekKeys.TOKEN)
    if take_back is not None:
        desk.take_back(take_back)
        write(f"{take_back} is news again\n")
        return
    window = desk.week(week)
    if acknowledge is not None:
        item = desk.acknowledge(window, acknowledge, reason or "", who)
        write(f"{item.id} is acknowledged: {item.summary}\n")
        return
    found = desk.report(window)
    if output is not None or not places:
        _print(found, None if form is None else PageFormat(form.value), output)
    if places:
        _send(desk, found, places, form)
    code = _exit_code(found, fail_on)
    if code:
        raise typer.Exit(code)


def _refuse_mixtures(acknowledge: str | None, take_back: str | None, reason: str | None, *, has_output: bool) -> None:
    if acknowledge is not None and take_back is not None:
        raise UsageError("say one of --acknowledge and --take-back")
    if acknowledge is not None and reason is None:
        raise UsageError("--acknowledge needs --reason TEXT: whoever reads it next has to know why")
    if acknowledge is None and reason is not None:
        raise UsageError("--reason belongs to --acknowledge ID")
    if has_output and (acknowledge or take_back):
        raise UsageError("--acknowledge and --take-back write no report: leave out -o")


def _print(found: WeekReport, form: PageFormat | None, output: Path | None) -> None:
    """Write to a file, into a folder under the name of the week, or to standard output."""
    if output is not None and output.is_dir():
        chosen = form or PageFormat.HTML
        output /= f"{_name(found)}.{_SUFFIXES[chosen]}"
    else:
        is_read_here = output is None and sys.stdout is not None and sys.stdout.isatty()
        chosen = format_of(output, form, PageFormat.TEXT if is_read_here else PageFormat.MARKDOWN)
    print_page(_written(found, chosen), output)


def _name(found: WeekReport) -> str:
    return f"dynascope-{found.week}"


def _written(found: WeekReport, form: PageFormat) -> str:
    if form is PageFormat.JSON:
        from analyzer.reports.week_json import render_week_json  # noqa: PLC0415 -- only what is asked for

        return render_week_json(found)
    from analyzer.reports.page import week_page  # noqa: PLC0415 -- light start

    return rendered(week_page(found), form)


def _send(desk: Desk, found: WeekReport, places: Sequence[Place], form: WeekFormat | None) -> None:
    """Send to every place, each in the format that fits; raises CollectError for the first that did not take it."""
    from analyzer.deliver import Delivery  # noqa: PLC0415 -- light start

    title = f"DynamoDB in {found.week}: {len(found.items)} {'thing' if len(found.items) == 1 else 'things'} to know"
    sent = []
    for place in places:
        chosen = PageFormat(form.value if form is not None else place.otherwise)
        text = _written(found, chosen)
        sent.append((place, Delivery(title, _name(found), chosen.value, text)))
    outcomes = desk.send(sent)
    for place, error in outcomes:
        if error is None:
            print(f"dynascope: sent to {place}", file=sys.stderr)
    for _, error in outcomes:
        if error is not None:
            raise error


def _exit_code(found: WeekReport, fail_on: FailOn) -> int:
    """Return 1 for an item at or over `fail_on`, 3 where nobody looked, else 0."""
    from analyzer.model.finding import Severity  # noqa: PLC0415 -- light start

    if fail_on is not FailOn.NEVER:
        floor = Severity(fail_on.value).rank
        if any(item.severity.rank >= floor for item in found.items):
            return 1
    return 0 if found.covered_share else _CANNOT_TELL
