"""dynascope snooze."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["snooze"]


class SnoozeFormat(StrEnum):
    """How snoozes are printed."""

    TEXT = "text"
    JSON = "json"


def snooze(  # noqa: PLR0913, PLR0917 -- one parameter an option
    identity: Annotated[
        str | None, typer.Argument(metavar="ID", help="id of the finding, as `dynascope findings` tells it")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="its last day (UTC), a time, or how long (1d); at most a year")
    ] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="why nobody needs to hear of it")] = None,
    who: Annotated[str | None, typer.Option(metavar="NAME", help="who says so; else your user's name")] = None,
    show: Annotated[bool, typer.Option("--list", help="print the snoozes that stand")] = False,
    end: Annotated[str | None, typer.Option("--end", metavar="ID", help="end a snooze now")] = None,
    output: Annotated[SnoozeFormat, typer.Option("--format", help="how to print")] = SnoozeFormat.TEXT,
    url: Annotated[
        str | None,
        typer.Option("--url", "--from", metavar="URL", help="where the daemon listens; else as --config says"),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="FILE", help="the daemon's configuration: its address and its state"),
    ] = None,
) -> None:
    """Be told of a finding again on a day that you name, and not before.

    A snoozed finding is still shown, as `snoozed` with the reason. It is no fault and pages nobody, nor does what it
    explains, unless that is worse. When the snooze ends and the finding is still there, it opens anew. What is
    accepted for longer belongs into the contract, as an `allow` with its end.

    The daemon takes it within ten seconds. Where none runs, --config names the one whose state folder is to keep it.

    \b
      dynascope findings                    tells ids
      dynascope snooze 0123456789ab --until 2026-12-24 --reason 'sharding ships in January'
      dynascope snooze 0123456789ab --until 1d --reason 'the import runs until tomorrow'
      dynascope snooze --list

    Exit 0 when it was taken, 2 when it was refused, 3 when no daemon answers.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.cli.snoozing import place_of  # noqa: PLC0415 -- light start
    from analyzer.cli.talking import user_name  # noqa: PLC0415 -- light start

    _refuse_mixtures(identity, until, reason, show=show, end=end)
    place = place_of(url, config)
    found: list[dict[str, Any]] = []
    try:
        if identity is not None:
            found = [place.add({"id": identity, "until": until, "reason": reason, "who": who or user_name()})]
        elif end is not None:
            place.end(end)
        else:
            found = place.listed()
    finally:  # also where it is refused: that none is known may be why
        lost = place.lost()
        if lost is not None:
            from analyzer.history.life import LOST_HINT  # noqa: PLC0415 -- light start

            typer.echo(f"dynascope: {lost}; {LOST_HINT}", err=True)
    lines = [f"snooze of {end} ended"] if end is not None else _lines(found)
    write(_as_json(found, lost) if output is SnoozeFormat.JSON else "".join(f"{line}\n" for line in lines))


def _refuse_mixtures(
    identity: str | None, until: str | None, reason: str | None, *, show: bool, end: str | None
) -> None:
    if (identity is not None) + show + (end is not None) != 1:
        raise UsageError("say one of ID, --list and --end ID")
    missing = [name for name, text in (("--until DATE", until), ("--reason TEXT", reason)) if text is None]
    if identity is not None and missing:
        raise UsageError(f"a snooze needs {' and '.join(missing)}: nothing is silent for ever, or without a reason")
    if identity is None and len(missing) < 2:  # noqa: PLR2004 -- both
        raise UsageError("--until and --reason belong to the ID of a finding")


def _as_json(found: Sequence[dict[str, Any]], lost: str | None) -> str:
    import json  # noqa: PLC0415 -- light start

    return json.dumps({"v": 1, "snoozes": list(found), "lost": lost}, indent=2, ensure_ascii=False) + "\n"


def _lines(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    from analyzer.lifecycle.snooze import until_words  # noqa: PLC0415 -- light start
    from analyzer.model.instant import parse_instant  # noqa: PLC0415 -- light start
    from analyzer.render.words import plain  # noqa: PLC0415 -- light start

    if not found:
        yield "nothing is snoozed"
    for one in found:
        index = f"/{one['index']}" if one.get("index") else ""
        what = f"{one['detector']} {one['table']}{index}" if one.get("detector") else "not seen any more"
        by = f" by {one['who']}" if one.get("who") else ""
        until = until_words(parse_instant(one["until"]))
        yield plain(f"{one['id']}  until {until}  {what}{by}: {one['reason']}")
