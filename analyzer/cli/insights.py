"""dynascope insights."""

from __future__ import annotations

import asyncio
import signal
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.calling import ProfileOption, RegionOption, naming, with_aws
from analyzer.cli.output import write_line
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from analyzer.interfaces import AwsCaller
    from collectors.insights_watch.collector import InsightsWatch

__all__ = ["insights"]

_SHORTEST_MS = 60_000
_LONGEST_MS = 86_400_000
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Action(StrEnum):
    """What to do."""

    WATCH = "watch"
    RESTORE = "restore"


def insights(  # noqa: PLR0913, PLR0917 -- one parameter an option
    action: Annotated[Action, typer.Argument(metavar="watch|restore", help="watch for a while, or undo what was left")],
    table: Annotated[str | None, typer.Argument(metavar="TABLE", help="the table to watch")] = None,
    index: Annotated[str | None, typer.Option(metavar="INDEX", help="its GSI, instead of the table")] = None,
    for_: Annotated[str, typer.Option("--for", metavar="DURATION", help="how long, 1m to 1d")] = "30m",
    yes: Annotated[bool, typer.Option("--yes", help="do it; else it is only said what would be done")] = False,
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="the daemon's state folder, where intents are kept")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: the state folder")
    ] = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Let Contributor Insights rank the most accessed keys of a table for a bounded time.

    It costs money and CHANGES PRODUCTION monitoring, so it first says what it would do and what that costs, and does it
    with --yes alone. It always switches back to what it was: at the end, when it is stopped, and after a crash when it
    is started again, or by `dynascope insights restore`.

    \b
      dynascope insights watch orders                          what it would do, and what that costs
      dynascope insights watch orders --index by-day --for 10m --yes
      dynascope insights restore                               after a crash

    Exit 0 when it was done or is a dry run, 2 on wrong usage, 3 where AWS could not be asked or did not do it.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.settings import settings_of  # noqa: PLC0415 -- light start

    folder = state if state is not None else Path(settings_of(config, None).state)
    if action is Action.RESTORE:
        with_aws(partial(_restore, folder), region, profile)
        return
    if table is None:
        raise UsageError("watch needs a TABLE")
    place = (table, index, _duration(for_))
    with_aws(partial(_watch, folder, place, is_dry=not yes), region, profile)


def _duration(text: str) -> int:
    from analyzer.config import parse_duration  # noqa: PLC0415 -- light start

    try:
        milliseconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--for: {error}") from None
    if not _SHORTEST_MS <= milliseconds <= _LONGEST_MS:
        raise UsageError(f"--for {text}: a watch lasts from 1m to 1d")
    return milliseconds


def _watcher(folder: Path, aws: AwsCaller, region: str) -> InsightsWatch:
    from collectors.asking import Spot  # noqa: PLC0415 -- light start
    from collectors.insights_watch.collector import InsightsWatch  # noqa: PLC0415 -- light start
    from collectors.insights_watch.config import InsightsWatchConfig  # noqa: PLC0415 -- light start

    return InsightsWatch(aws, InsightsWatchConfig(folder), Spot(region))


async def _restore(folder: Path, aws: AwsCaller, region: str) -> None:
    from collectors.insights_watch.parse import told_intent  # noqa: PLC0415 -- light start

    restored = await _watcher(folder, aws, region).restore()
    for intent in restored.undone:
        write_line(f"switched back: {told_intent(intent)}")
    if restored.errors:
        for error in restored.errors[1:]:
            typer.echo(f"dynascope: {error}\n  {error.hint}", err=True)
        raise restored.errors[0]
    if not restored.undone:
        write_line(f"nothing is left to be undone in {folder}")


async def _watch(
    folder: Path, place: tuple[str, str | None, int], aws: AwsCaller, region: str, *, is_dry: bool
) -> None:
    from collectors.insights_watch.parse import describe_plan, told_intent  # noqa: PLC0415 -- light start

    watcher = _watcher(folder, aws, region)
    left = watcher.left()
    if left and not is_dry:
        await _restore(folder, aws, region)
    elif left:
        for intent in left:
            write_line(f"left by a process that died, `dynascope insights restore` undoes it: {told_intent(intent)}")
    with naming():
        plan = await watcher.plan(*place)
    for line in describe_plan(plan):
        write_line(line)
    if plan.is_ranking:
        return
    if is_dry:
        write_line("nothing was changed: this is a dry run; --yes does it")
        return
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    await watcher.run(plan, stop, write_line)
