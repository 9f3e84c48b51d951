"""dynascope whatif."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.shapes import Input
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.planning.whatif import Outcome, Side

__all__ = ["whatif"]


_ADVICE = {"group": "keep together", "split": "split"}
"""Said of the items under the key."""


class _Format(StrEnum):
    """How the outcome is printed."""

    TEXT = "text"
    JSON = "json"


def whatif(  # noqa: PLR0913, PLR0917 -- one parameter an option
    table: Annotated[str, typer.Argument(metavar="TABLE", help="the table, or TABLE/INDEX")],
    logs: Annotated[list[str], typer.Argument(metavar="LOG...", help="request logs, .gz and .zst too; - is stdin")],
    shard: Annotated[
        str, typer.Option("--shard", metavar="ATTRIBUTE=VALUE", help="the partition key that is to be split")
    ],
    into: Annotated[int, typer.Option("--into", min=2, max=1000, metavar="N", help="into how many parts")],
    index: Annotated[str | None, typer.Option(metavar="INDEX", help="its index, as TABLE/INDEX")] = None,
    output: Annotated[_Format, typer.Option("--format", help="how to print the outcome")] = _Format.TEXT,
    salt_file: Annotated[Path | None, typer.Option(metavar="FILE", help="secret that the samplers share")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: the salt")
    ] = None,
    shape: Annotated[Input, typer.Option("--input", help="what wrote the logs; auto looks at them")] = Input.AUTO,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", help="where the fields stand, for --input mapped")
    ] = None,
) -> None:
    """Replay a log against a key that is split into parts.

    Says what the fullest part would take and what its readers would pay, with a random suffix and with one reckoned
    from the sort key; and whether the items under the key should stay together. Nothing is changed.

    \b
      dynascope whatif orders requests.jsonl --shard 'PK=TENANT#1' --into 8 --salt-file salt
      dynascope whatif orders/by-day requests.jsonl --shard 'day=~k7f3a2c5b' --into 4

    Exit 0 when requests to the key were found, 1 when not, 2 on wrong usage.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.foreign import choose  # noqa: PLC0415 -- light start
    from analyzer.cli.inputs import expand  # noqa: PLC0415 -- light start
    from analyzer.cli.key_requests import KeyAsked, requests_at  # noqa: PLC0415 -- light start
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.cli.reading import LogFile, read_blocks  # noqa: PLC0415 -- light start
    from analyzer.cli.seen_beside import SeenBeside  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_of  # noqa: PLC0415 -- light start
    from analyzer.planning.whatif import replay  # noqa: PLC0415 -- light start
    from analyzer.setup import salt_of  # noqa: PLC0415 -- light start

    attribute, equals, value = shard.partition("=")
    if not (attribute and equals and value):
        raise UsageError("--shard names an attribute and a value, such as PK=METRIC#daily_total")
    name, index = _place(table, index)
    table = name if index is None else f"{name}/{index}"
    salt = salt_of(settings_of(config, None, None, salt_file))
    key = KeyAsked(table=name, attribute=attribute, value=value, index=index, salt=salt)
    files = [LogFile(path) for path in expand(logs)]
    for said in choose(files, shape, mapping):
        typer.echo(f"dynascope: {said}", err=True)
    seen = SeenBeside(name, index)
    asked = [one for file in files for one in requests_at(key, read_blocks(file), seen)]
    for file in files:
        if file.breaks_off is not None:
            typer.echo(f"dynascope: {file.breaks_off}", err=True)
    unreadable = seen.unreadable + sum(sum(file.bad.values()) for file in files)
    if unreadable:
        lines = "line" if unreadable == 1 else "lines"
        typer.echo(f"dynascope: {unreadable:,} {lines} of the log could not be read, and count for nothing", err=True)
    partition = seen.partition_key()
    if partition not in {None, attribute} and attribute in seen.attributes:
        raise UsageError(
            f"--shard takes the partition key, and that of {table} is {partition}: requests of the log name it alone; "
            f"items under one {attribute} lie under many {partition} already"
        )
    if not asked:
        typer.echo(f"dynascope: {seen.why_nothing(attribute, salt)}", err=True)
        raise typer.Exit(1)
    outcome = replay(asked, into)
    if output is _Format.JSON:
        import msgspec  # noqa: PLC0415 -- light start

        write(msgspec.json.format(msgspec.json.encode(outcome)).decode() + "\n")
        return
    write("".join(f"{line}\n" for line in _lines(outcome, attribute, table)))


def _place(table: str, index: str | None) -> tuple[str, str | None]:
    """Take table and index apart; raises UsageError where two indexes are named."""
    name, _, told = table.partition("/")
    if told and index and told != index:
        raise UsageError(f"{table} --index {index}: name one index, as TABLE/INDEX or with --index")
    return name, index or told or None


def _lines(outcome: Outcome, attribute: str, table: str) -> Iterator[str]:
    from analyzer.detectors.words import number, percent  # noqa: PLC0415 -- light start

    estimated = ", estimated from a sample" if outcome.is_sampled else ""
    yield (
        f"{number(outcome.requests)} requests to that {attribute} of {table} in {number(outcome.seconds)} seconds"
        f"{estimated}"
    )
    yield ""
    yield f"{'':24}{'fullest second of the fullest part':>36}{'reads':>16}"
    yield f"{'':24}{'write units':>18}{'read units':>18}{'units a second':>16}"
    for title, side in (
        ("as it is", outcome.before),
        (f"{outcome.parts} random suffixes", outcome.random),
        (f"{outcome.parts} by the sort key", outcome.by_item),
    ):
        yield f"{title:24}{_cells(side)}".rstrip()
    yield ""
    yield "one partition serves 1,000 write units and 3,000 read units a second"
    if outcome.useful_parts is not None:
        yield f"by the sort key no more than {number(outcome.useful_parts)} parts help: an item cannot be split"
    if outcome.co_read_share is not None:
        yield f"{percent(outcome.co_read_share)} of its reads want several items at once"
    yield f"{_ADVICE.get(outcome.advice, outcome.advice)}: {outcome.because}"


def _cells(side: Side) -> str:
    from analyzer.detectors.words import number  # noqa: PLC0415 -- light start

    values = (side.hottest_write_units, side.hottest_read_units, side.read_units_a_second)
    return "".join(f"{number(value):>{width}}" for value, width in zip(values, (18, 18, 16), strict=True))
