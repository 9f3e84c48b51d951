"""dynascope replay."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import Annotated

import typer

from analyzer.cli.output import FailOn, Format, Keys, exit_code, print_report
from analyzer.cli.shapes import HistoryOption  # noqa: TC001 -- typer evaluates the annotations

__all__ = ["replay"]


def replay(  # noqa: PLR0913, PLR0917 -- one parameter an option
    recording: Annotated[str, typer.Argument(metavar="RECORDING", help="a recording, .gz and .zst too; - is stdin")],
    contract: Annotated[
        list[Path] | None, typer.Option(help="declared access patterns, instead of the recorded")
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="how to print the report")] = Format.TEXT,
    fail_on: Annotated[
        FailOn, typer.Option(metavar="SEVERITY", help="end with 1 for findings this bad or worse, or never")
    ] = FailOn.HIGH,
    keys: Annotated[Keys | None, typer.Option(help="how keys are shown; template where nothing is said")] = None,
    reveal_keys: Annotated[bool, typer.Option("--reveal-keys", help="short for --keys reveal")] = False,
    window: Annotated[
        str | None, typer.Option(metavar="DURATION", help="the stretch that is judged at a time; else 5m")
    ] = None,
    salt_file: Annotated[Path | None, typer.Option(metavar="FILE", help="secret that the samplers share")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: thresholds, bounds, contract")
    ] = None,
    history: HistoryOption = None,
) -> None:
    """Analyze what collectors recorded.

    A recording may be a bug report, a test or a drill; it holds all that was seen in one stretch of time.

    \b
      dynascope replay page.jsonl           what `diagnose --record page.jsonl` saw
      dynascope replay page.jsonl --format markdown
      dynascope replay page.jsonl --history s3://bucket/prefix      beside the weeks before it

    Exit as analyze: 0 clean, 1 findings, 2 wrong usage, 3 when it cannot be told.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.inputs import expand  # noqa: PLC0415 -- light start
    from analyzer.cli.judging import judge_recording  # noqa: PLC0415 -- light start
    from analyzer.cli.reading import at_rest  # noqa: PLC0415 -- light start
    from analyzer.cli.remembered import recalling  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_of  # noqa: PLC0415 -- light start
    from analyzer.planning.diagnosis import diagnose_report  # noqa: PLC0415 -- light start
    from analyzer.planning.steps import Means  # noqa: PLC0415 -- light start
    from analyzer.recording import read_recording  # noqa: PLC0415 -- light start
    from analyzer.setup import salt_of  # noqa: PLC0415 -- light start

    settings = settings_of(config, contract, window, salt_file)
    salt, recall = salt_of(settings), recalling(history, settings)
    with at_rest(expand([recording])[0]) as path:
        read = read_recording(path)
        report = judge_recording(path, read, settings, recall)
    if read.asked is not None:
        report = diagnose_report(report, Means(), now=None, index=read.asked.index).report  # its first line
    print_report(report, output, Keys.REVEAL if reveal_keys else keys or Keys(settings.keys), salt)
    raise typer.Exit(exit_code(report, fail_on))
