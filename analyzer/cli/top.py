"""dynascope top."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analyzer.cli.output import FailOn
from analyzer.cli.talking import DAEMON

if TYPE_CHECKING:
    from analyzer.model.report import Report
    from analyzer.render.top import Calls

__all__ = ["TopFormat", "top"]

_EVERY_SECONDS = 2.0
_SHOWN = ("v", "window", "as_of", "verdict", "findings", "keys", "patterns")


class TopFormat(StrEnum):
    """How the view is printed."""

    TEXT = "text"
    JSON = "json"


def top(
    for_: Annotated[str | None, typer.Option("--for", metavar="DURATION", help="how long to look, such as 10s")] = None,
    from_: Annotated[str, typer.Option("--from", "--url", metavar="URL", help="where the daemon listens")] = DAEMON,
    output: Annotated[TopFormat, typer.Option("--format", help="how to print")] = TopFormat.TEXT,
    fail_on: Annotated[
        FailOn, typer.Option(metavar="SEVERITY", help="end with 1 for findings this bad or worse, or never")
    ] = FailOn.NEVER,
) -> None:
    """Watch what the daemon finds, in the terminal.

    It shows the verdict, findings, the hottest keys and patterns, as the page does.

    On a terminal it stays until it is interrupted, or for --for. Into a pipe, and as JSON, it prints once; with --for
    once a judgement. Keys are shown as the daemon's own policy allows.

    \b
      dynascope top
      dynascope top --for 10s --from http://127.0.0.1:8642
      dynascope top --format json | jq .verdict.text

    Exit 0, 1 with findings that --fail-on asks for and nobody snoozed, 2 on wrong usage, 3 when no daemon answers or it
    cannot tell.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    import sys  # noqa: PLC0415 -- light start

    from analyzer.cli.output import exit_code  # noqa: PLC0415 -- light start
    from analyzer.config_kinds import parse_duration  # noqa: PLC0415 -- light start
    from analyzer.errors import UsageError  # noqa: PLC0415 -- light start

    try:
        seconds = None if for_ is None else parse_duration(for_) / 1000
    except ValueError as error:
        raise UsageError(f"--for {for_}: {error}") from None
    if output is TopFormat.TEXT and sys.stdout is not None and sys.stdout.isatty():
        last = _watch(from_, seconds)
    else:
        last = _print(from_, seconds, output)
    raise typer.Exit(exit_code(last, fail_on))


def _print(url: str, seconds: float | None, output: TopFormat) -> Report:
    """Print what is judged now, and with a time all that is judged until then."""
    import time  # noqa: PLC0415 -- light start

    from analyzer.cli.output import write  # noqa: PLC0415 -- light start

    until = time.monotonic() + (seconds or 0)
    report, calls = _fetch(url)
    write(_told(report, calls, output, is_one=seconds is None))
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _EVERY_SECONDS))
        after, calls = _fetch(url)
        if after.as_of != report.as_of:
            write(_told(after, calls, output, is_one=False))
        report = after
    return report


def _told(report: Report, calls: Calls, output: TopFormat, *, is_one: bool) -> str:
    import json  # noqa: PLC0415 -- light start

    from analyzer.render.json import report_object  # noqa: PLC0415 -- light start
    from analyzer.render.top import plain_top  # noqa: PLC0415 -- light start

    if output is TopFormat.TEXT:
        return plain_top(report, calls) + ("" if is_one else "\n")
    document = report_object(report)
    told = {name: document[name] for name in _SHOWN}
    return json.dumps(told, ensure_ascii=False, allow_nan=False, indent=2 if is_one else None) + "\n"


def _watch(url: str, seconds: float | None) -> Report:
    """Show what is judged on the whole terminal until the time is over, or somebody interrupts."""
    import time  # noqa: PLC0415 -- light start

    from rich.console import Console  # noqa: PLC0415 -- only on a terminal
    from rich.live import Live  # noqa: PLC0415 -- same

    from analyzer.errors import CollectError  # noqa: PLC0415 -- light start

    console, started = Console(highlight=False, markup=False), time.monotonic()
    report, calls = _fetch(url)
    note = ""
    with Live(console=console, screen=True, auto_refresh=False) as live:
        try:
            while seconds is None or time.monotonic() - started < seconds:
                live.update(_screen(report, calls, console.height, note), refresh=True)
                left = _EVERY_SECONDS if seconds is None else seconds - (time.monotonic() - started)
                time.sleep(max(0.0, min(left, _EVERY_SECONDS)))
                try:
                    report, calls = _fetch(url)
                    note = ""
                except CollectError:
                    note = "the daemon does not answer: what stands here may no longer hold"
        except KeyboardInterrupt:
            pass  # the usual end of it
    console.print(_screen(report, calls, None, note))
    return report


def _screen(report: Report, calls: Calls, height: int | None, note: str) -> Any:  # noqa: ANN401 -- what rich draws
    from analyzer.model.instant import format_instant  # noqa: PLC0415 -- light start
    from analyzer.render.top import render_top  # noqa: PLC0415 -- light start

    as_of = f"as of {format_instant(report.as_of)[11:19]}"
    return render_top(report, calls, height=height, note=" · ".join(word for word in (as_of, note) if word))


def _fetch(url: str) -> tuple[Report, Calls]:
    """Return the report, and the calls of its patterns over time where the daemon tells them."""
    from analyzer.cli.daemon_report import fetch_report  # noqa: PLC0415 -- light start
    from analyzer.cli.talking import ask_daemon  # noqa: PLC0415 -- light start
    from analyzer.errors import CollectError  # noqa: PLC0415 -- light start

    report = fetch_report(url)
    try:
        return report, _calls(ask_daemon(url, "/api/v1/patterns"))
    except CollectError:
        return report, {}


def _calls(told: dict[str, Any]) -> Calls:
    from analyzer.exporters.atlas import subject_of  # noqa: PLC0415 -- light start

    return {subject_of(row): row["calls"]["values"] for row in told["patterns"] if row.get("calls")}
