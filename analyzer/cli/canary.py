"""dynascope canary."""

from __future__ import annotations

import asyncio
import math
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.calling import ProfileOption, RegionOption, naming, with_aws
from analyzer.cli.output import write_line
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.interfaces import AwsCaller
    from analyzer.model.estimate import Estimate
    from analyzer.traffic.gsi_lag import Lag
    from collectors.canary.collector import Canary
    from collectors.canary.config import CanaryConfig

__all__ = ["canary"]

_MOST_PROBES = 10_000
_SHORTEST_MS = 100
_LONGEST_MS = 86_400_000
"""A day of probes; who wants to know the lag for longer lets the daemon probe."""
_FIRM_WRITES = 1000
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def canary(  # noqa: PLR0913, PLR0917 -- one parameter an option
    table: Annotated[str | None, typer.Argument(metavar="TABLE", help="the table that has the index")] = None,
    index: Annotated[str | None, typer.Option(metavar="INDEX", help="the GSI whose lag is measured")] = None,
    probes: Annotated[int, typer.Option(metavar="N", help="how many items; 300 tell the 99th percentile")] = 60,
    every: Annotated[str, typer.Option(metavar="DURATION", help="how far apart, 100ms and more")] = "1s",
    most_usd: Annotated[float, typer.Option("--most-usd", metavar="DOLLARS", help="what it may cost at worst")] = 0.1,
    yes: Annotated[bool, typer.Option("--yes", help="do it; else it is only said what would be done")] = False,
    clean: Annotated[bool, typer.Option("--clean", help="remove what a run that died has left, and end")] = False,
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="the daemon's state folder, where it is noted what to remove")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: the state folder")
    ] = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Measure how long writes take to appear in an index, by items of its own.

    It WRITES TO THE TABLE, under reserved keys, so it first says what it would do and what that costs at worst, and
    does it with --yes alone. Each item is removed as soon as it was seen; what a run that died has left is removed by
    the next one, or with --clean, and expires where the table has a time to live.

    \b
      dynascope canary orders --index by-day                   what it would write, and what that costs
      dynascope canary orders --index by-day --yes
      dynascope canary orders --index by-day --clean           remove what a crash left

    Exit 0 when it was done or is a dry run, 2 on wrong usage, 3 where AWS could not be asked or did not do it.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.settings import settings_of  # noqa: PLC0415 -- light start
    from collectors.canary.config import CanaryConfig  # noqa: PLC0415 -- light start

    folder = state if state is not None else Path(settings_of(config, None).state)
    if clean:
        with_aws(partial(_clean, CanaryConfig(folder)), region, profile)
        return
    if table is None or index is None:
        raise UsageError("canary needs a TABLE and an --index")
    if not 1 <= probes <= _MOST_PROBES:
        raise UsageError(f"--probes {probes}: from 1 to {_MOST_PROBES:,}")
    if not 0 <= most_usd < math.inf:
        raise UsageError(f"--most-usd {most_usd:g}: a number of dollars, 0 or more")
    every_ms = _duration(every)
    if (probes - 1) * every_ms > _LONGEST_MS:
        days = (probes - 1) * every_ms / _LONGEST_MS
        raise UsageError(
            f"{probes} probes {every} apart take {days:,.1f} days: a day at most; `canary` of a daemon goes on"
        )
    told = CanaryConfig(folder, probes=probes, every_ms=every_ms, most_usd=most_usd)
    with_aws(partial(_measure, told, (table, index), is_dry=not yes), region, profile)


def _duration(text: str) -> int:
    from analyzer.config import parse_duration  # noqa: PLC0415 -- light start

    try:
        milliseconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--every: {error}") from None
    if milliseconds < _SHORTEST_MS:
        raise UsageError(f"--every {text}: a tenth of a second at least")
    return milliseconds


def _canary(config: CanaryConfig, aws: AwsCaller, region: str) -> Canary:
    from collectors.asking import Spot  # noqa: PLC0415 -- light start
    from collectors.canary.collector import Canary  # noqa: PLC0415 -- light start

    return Canary(aws, config, Spot(region))


async def _clean(config: CanaryConfig, aws: AwsCaller, region: str) -> None:
    cleaned = await _canary(config, aws, region).clean()
    for left in cleaned.undone:
        write_line(f"removed what a run left in {left.target} of {left.region}")
    if cleaned.errors:
        for error in cleaned.errors[1:]:
            typer.echo(f"dynascope: {error}\n  {error.hint}", err=True)
        raise cleaned.errors[0]
    if not cleaned.undone:
        write_line(f"nothing is left to be removed in {config.folder}")


async def _measure(config: CanaryConfig, place: tuple[str, str], aws: AwsCaller, region: str, *, is_dry: bool) -> None:
    from analyzer.traffic.gsi_lag import LEAST_WRITES, estimate_lag  # noqa: PLC0415 -- light start
    from analyzer.traffic.lag_pairs import probe_pairs  # noqa: PLC0415 -- light start
    from collectors.canary.parse import describe_plan  # noqa: PLC0415 -- light start

    watcher = _canary(config, aws, region)
    with naming():
        plan = await watcher.plan(*place)
    for line in describe_plan(plan):
        write_line(line)
    if plan.probes < LEAST_WRITES[0]:
        write_line(f"CAREFUL: {_too_few()}")
    if is_dry:
        write_line("nothing was written: this is a dry run; --yes does it")
        return
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    batch = await watcher.run(plan, stop, write_line)
    if len(batch.probes) < plan.probes:
        write_line(f"stopped after {len(batch.probes)} of {plan.probes:,} writes")
    lag = estimate_lag(probe_pairs(batch.probes))
    for line in _told(lag):
        write_line(line)


def _told(lag: Lag | None) -> Iterator[str]:
    """Yield what was measured in lines for people."""
    if lag is None:
        yield "nothing was measured: it was stopped before the first item was followed"
        return
    yield f"{lag.writes} writes were followed by {lag.pairs} reads, those that were not needed any more included"
    for name, one in (("half", lag.p50), ("95%", lag.p95), ("99%", lag.p99)):
        if one is not None:
            yield f"{name} of the writes appeared within {_between(one)}"
    if lag.p50 is None:
        yield _too_few()
    elif lag.p99 is None:
        yield "fewer than 300 writes do not tell the slowest hundredth"
    elif lag.writes < _FIRM_WRITES:
        yield f"with fewer than {_FIRM_WRITES:,} writes the slowest hundredth may be slower than its upper bound"
    if lag.regressions:
        yield f"{lag.regressions} writes were seen and then not; they are left out"


def _too_few() -> str:
    from analyzer.traffic.gsi_lag import LEAST_WRITES  # noqa: PLC0415 -- light start

    half, most, slowest = LEAST_WRITES
    return f"fewer than {half} writes tell no lag: {half} tell the half, {most} tell 95%, {slowest} tell 99% of them"


def _between(one: Estimate) -> str:
    value, low, high = (_seconds(bound) for bound in (one.value, one.low, one.high))
    return f"{value} [{low}–{high}]"


def _seconds(bound: float) -> str:
    return "more than anybody waited" if math.isinf(bound) else f"{bound * 1000:,.0f} ms"
