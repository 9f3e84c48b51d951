"""dynascope mark."""

from __future__ import annotations

from typing import Annotated

import typer

from analyzer.cli.talking import DAEMON, UrlOption

__all__ = ["mark"]

_KEPT_MS = 86_400_000
_AHEAD_MS = 60_000


def mark(
    text: Annotated[str, typer.Argument(metavar="TEXT", help='what was changed, such as "deploy 1.4.2"')],
    table: Annotated[
        str | None, typer.Option(metavar="TABLE", help="the only table that it concerns; else it concerns all")
    ] = None,
    what: Annotated[str, typer.Option(metavar="WORD", help="the kind of change")] = "deploy",
    who: Annotated[str | None, typer.Option(metavar="NAME", help="who did it")] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="when, or how long ago (5m), within the last day; else now"),
    ] = None,
    url: UrlOption = DAEMON,
) -> None:
    """Tell the daemon of a change that nobody else can tell it, such as a deploy.

    Findings that begin within half an hour name it. The daemon keeps it for a day.

    \b
      dynascope mark "deploy 1.4.2" --who ci
      dynascope mark "cache switched off" --table orders --at 5m

    Exit 0 when the daemon took it, 2 when it refused it, 3 when no daemon answers.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.cli.talking import ask_daemon  # noqa: PLC0415 -- light start

    told = {"detail": text, "what": what, "table": table, "who": who, "time": None if at is None else _time(at)}
    body = {name: value for name, value in told.items() if value is not None}
    answer = ask_daemon(url, "/api/v1/changes", body, what="the mark")
    write(f"marked at {answer.get('time')}: {answer.get('detail')}\n")
    if answer.get("written") is False:
        typer.echo("dynascope: the daemon cannot write its state: a restart would forget this; see its log", err=True)
    if table is not None and not _is_known(url, table):
        typer.echo(f"dynascope: the daemon has seen no table {table!r} so far: is the name right?", err=True)


def _time(text: str) -> str:
    """Return the time that `--at` names, of how long ago too; raises UsageError."""
    import time  # noqa: PLC0415 -- light start

    from analyzer.config_kinds import parse_duration  # noqa: PLC0415 -- light start
    from analyzer.errors import UsageError  # noqa: PLC0415 -- light start
    from analyzer.model.instant import format_instant, parse_instant  # noqa: PLC0415 -- light start

    now = time.time_ns() // 1_000_000
    try:
        at = now - parse_duration(text) if text[-1:].isalpha() and text[-1:] != "Z" else parse_instant(text)
    except (ValueError, OverflowError):
        raise UsageError(
            f"--at is a time such as 2026-06-01T10:00:00Z, or how long ago, such as 5m: {text[:40]!r}"
        ) from None
    if not now - _KEPT_MS <= at <= now + _AHEAD_MS:
        raise UsageError(f"--at {text} does not lie within the last day")
    return format_instant(at)


def _is_known(url: str, table: str) -> bool:
    """Whether the daemon judges a table of that name; one that has judged nothing yet may."""
    from analyzer.cli.talking import ask_daemon  # noqa: PLC0415 -- light start
    from analyzer.errors import CollectError, DynascopeError  # noqa: PLC0415 -- light start

    try:
        targets = ask_daemon(url, "/api/v1/targets").get("targets", ())
    except (CollectError, DynascopeError):
        return True
    return any(one.get("table") == table for one in targets)
