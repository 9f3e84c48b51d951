"""dynascope mark."""

from __future__ import annotations

from typing import Annotated

import typer

from analyzer.cli.talking import DAEMON, UrlOption

__all__ = ["mark"]


def mark(
    text: Annotated[str, typer.Argument(metavar="TEXT", help='what was changed, such as "deploy 1.4.2"')],
    table: Annotated[
        str | None, typer.Option(metavar="TABLE", help="the only table that it concerns; else it concerns all")
    ] = None,
    what: Annotated[str, typer.Option(metavar="WORD", help="the kind of change")] = "deploy",
    who: Annotated[str | None, typer.Option(metavar="NAME", help="who did it")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="when, within the last day; else now")] = None,
    url: UrlOption = DAEMON,
) -> None:
    """Tell the daemon of a change that nobody else can tell it, such as a deploy.

    Findings that begin within half an hour name it. The daemon keeps it for a day.

    \b
      dynascope mark "deploy 1.4.2" --who ci
      dynascope mark "cache switched off" --table orders

    Exit 0 when the daemon took it, 2 when it refused it, 3 when no daemon answers.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.cli.talking import ask_daemon  # noqa: PLC0415 -- light start

    told = {"detail": text, "what": what, "table": table, "who": who, "time": at}
    body = {name: value for name, value in told.items() if value is not None}
    answer = ask_daemon(url, "/api/v1/changes", body, what="the mark")
    write(f"marked at {answer.get('time')}: {answer.get('detail')}\n")
