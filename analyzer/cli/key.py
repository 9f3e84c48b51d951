"""dynascope key."""

from __future__ import annotations

import time
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.calling import ProfileOption, RegionOption, with_aws
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.cli.keys_found import Search
    from analyzer.interfaces import AwsCaller
    from analyzer.model.sight import Gap
    from analyzer.requests.tokens import Salt

__all__ = ["key"]

_NOT_FOUND = 1
_HOUR_MS = 3_600_000
_NAMED = 5


def key(  # noqa: PLR0913, PLR0917 -- one parameter an option
    token: Annotated[
        str | None, typer.Argument(metavar="TOKEN", help="a key's token as a report shows it, or one part of it")
    ] = None,
    suspect: Annotated[
        str | None, typer.Option("--is", metavar="VALUE", help="a clear key: print its token, and compare with TOKEN")
    ] = None,
    table: Annotated[str, typer.Option("--table", metavar="TABLE", help="the table, or a glob")] = "*",
    since: Annotated[str, typer.Option(metavar="DURATION", help="how far back to look; reports reach 15 days")] = "3h",
    salt_file: Annotated[Path | None, typer.Option(metavar="FILE", help="secret that the samplers share")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: the salt")
    ] = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Look up the clear value of a token in your own CloudWatch.

    A token is a keyed hash: nobody can turn it round. This makes tokens of the keys that Contributor Insights lists in
    clear (25 a rule and hour), with your credentials, and prints those that are the same. Nothing is kept.

    With --is no one is asked: it makes the token of a key that you suspect, and compares it with TOKEN if one is given.

    \b
      dynascope key 'CASE#~k7f3a2c5b' --salt-file salt --region eu-west-1
      dynascope key '~k7f3a2c5b' --table orders --since 1d
      dynascope key --is 'CASE#4711' --salt-file salt 'CASE#~k7f3a2c5b'

    Exit 0 when it was found or is the same, 1 when not, 2 on wrong usage, 3 where CloudWatch could not be asked.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.keys_found import Search, printable  # noqa: PLC0415 -- light start
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_of  # noqa: PLC0415 -- light start
    from analyzer.config import parse_duration  # noqa: PLC0415 -- light start
    from analyzer.setup import salt_of  # noqa: PLC0415 -- light start

    salt = salt_of(settings_of(config, None, None, salt_file))
    if salt is None:
        raise UsageError("a token can be recomputed with its salt alone: give --salt-file, or set DYNASCOPE_SALT_FILE")
    if suspect is not None:
        raise typer.Exit(_compare(suspect, token, salt))
    if token is None:
        raise UsageError("say which TOKEN to look up, or --is VALUE, the key that you suspect")
    try:
        search = Search(token, salt)
        back_ms = parse_duration(since)
    except ValueError as error:
        raise UsageError(str(error)) from None
    place, gaps = with_aws(lambda aws, here: _look(search, aws, here, table, back_ms), region, profile)
    for found in search.found:
        write(f"{printable(found.value)}\n    {found.attribute} of {found.table}\n")
    write(f"{_looked(search, place, since)}\n")
    for line in _told(gaps):
        typer.echo(f"dynascope: {line}", err=True)
    if not search.found:
        raise typer.Exit(_exit_code(gaps))


def _compare(suspect: str, token: str | None, salt: Salt) -> int:
    """Print the token of a clear key, and whether it is the one that was given; of more than one, each part's."""
    from analyzer.cli.keys_found import Search, printable  # noqa: PLC0415 -- light start
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start

    shown = printable(suspect)
    if token is None:
        write(f"{printable(salt.tokenize(suspect))}\n    {shown}, where no part of it stands in clear\n")
        return 0
    try:
        search = Search(token, salt)
    except ValueError as error:
        raise UsageError(str(error)) from None
    search.see("", "", suspect)
    is_same = bool(search.found)
    write(f"{printable(token.strip())} {'is' if is_same else 'is not'} {shown}\n")
    if not is_same:
        write(f"    whose token is {printable(salt.tokenize(suspect))}, where no part of it stands in clear\n")
    return 0 if is_same else _NOT_FOUND


async def _look(search: Search, aws: AwsCaller, region: str, table: str, back_ms: int) -> tuple[str, tuple[Gap, ...]]:
    """Look hour by hour, the newest first, until something is found."""
    from analyzer.model.window import Window  # noqa: PLC0415 -- light start
    from collectors.asking import Spot  # noqa: PLC0415 -- light start
    from collectors.contributor_insights.collector import ContributorInsights  # noqa: PLC0415 -- light start
    from collectors.contributor_insights.config import ContributorInsightsConfig  # noqa: PLC0415 -- light start

    now = time.time_ns() // 1_000_000
    config = ContributorInsightsConfig(include=(table,), delay_ms=0, overlap_ms=0, discover_every_ms=2 * back_ms + 1)
    source = ContributorInsights(aws, config, search.see, Spot(region), clock=lambda: now)
    gaps: dict[Gap, None] = {}
    end = now
    while end > now - back_ms and not search.found:
        batch = await source.collect(Window(max(end - _HOUR_MS, now - back_ms), end))
        search.rules |= {(series.target, series.rule) for series in batch.insights}
        gaps |= dict.fromkeys(batch.gaps)
        end -= _HOUR_MS
    return region, tuple(gaps)


def _looked(search: Search, region: str, since: str) -> str:
    """Say where it looked."""
    if not search.rules:
        return (
            f"Contributor Insights is enabled on no such table in {region}: there is nothing to look in; "
            "for a while it is, with `dynascope insights watch TABLE`"
        )
    places = sorted({str(target) for target, _ in search.rules})
    more = len(places) - _NAMED
    shown = ", ".join(places[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"looked at {search.seen:,} keys of {len(search.rules)} rules of {shown} in {region}, up to {since} back"


def _failed(gaps: Iterable[Gap]) -> Iterator[Gap]:
    from analyzer.model.sight import GapReason  # noqa: PLC0415 -- light start

    harmless = {GapReason.NOT_ENABLED, GapReason.UNSUPPORTED, GapReason.LATE}
    return (gap for gap in gaps if gap.reason not in harmless)


def _told(gaps: Iterable[Gap]) -> Iterator[str]:
    for detail, hint in dict.fromkeys((gap.detail, gap.hint) for gap in _failed(gaps)):
        yield f"{detail}\n  {hint}"


def _exit_code(gaps: Iterable[Gap]) -> int:
    return 3 if any(_failed(gaps)) else _NOT_FOUND
