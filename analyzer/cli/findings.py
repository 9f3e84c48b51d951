"""dynascope findings."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from analyzer.cli.output import FailOn
from analyzer.cli.talking import DAEMON, UrlOption

__all__ = ["findings"]

_SHOWN = ("v", "window", "as_of", "verdict", "findings")


class FindingsFormat(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"


def findings(
    output: Annotated[FindingsFormat, typer.Option("--format", help="how to print")] = FindingsFormat.TEXT,
    fail_on: Annotated[
        FailOn, typer.Option(metavar="SEVERITY", help="end with 1 for findings this bad or worse, or never")
    ] = FailOn.NEVER,
    url: UrlOption = DAEMON,
) -> None:
    """Print what the daemon finds now, each finding with its id.

    Keys are shown as the daemon's own policy allows. Those that closed with the last judgement are shown once more.

    \b
      dynascope findings
      dynascope findings --format json --fail-on high

    Exit 0, 1 with findings that --fail-on asks for and nobody snoozed, 2 on wrong usage, 3 when no daemon answers or it
    cannot tell.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    import json  # noqa: PLC0415 -- light start

    from analyzer.cli.daemon_report import fetch_report  # noqa: PLC0415 -- light start
    from analyzer.cli.output import exit_code, write  # noqa: PLC0415 -- light start
    from analyzer.render.findings import render_findings  # noqa: PLC0415 -- light start
    from analyzer.render.json import report_object  # noqa: PLC0415 -- light start

    report = fetch_report(url)
    if output is FindingsFormat.JSON:
        document = report_object(report)
        told = {name: document[name] for name in _SHOWN}
        write(json.dumps(told, ensure_ascii=False, allow_nan=False, indent=2) + "\n")
    else:
        write(render_findings(report))
    raise typer.Exit(exit_code(report, fail_on))
