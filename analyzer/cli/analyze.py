"""dynascope analyze."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.output import FailOn, Format, Keys, exit_code, print_report
from analyzer.cli.shapes import HistoryOption, Input
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.cli.inputs import Moment
    from analyzer.cli.judging import Judged, Recall, Stretch
    from analyzer.cli.reading import LogFile
    from analyzer.config import Settings
    from analyzer.contract.model import Contract

__all__ = ["analyze"]

_STOPPED = 130
_RARELY = (50_000, 20, 50)
"""When to look for garbage in cycles: reading makes millions of values that live for a moment, and no cycles."""


def analyze(  # noqa: PLR0913, PLR0917 -- one parameter an option
    logs: Annotated[list[str], typer.Argument(metavar="LOG...", help="request logs, .gz and .zst too; - is stdin")],
    contract: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="declared access patterns; may be given again")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="RFC 3339 time, or how long before the end, such as 30m")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="RFC 3339 time, or how long before the end")] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="processes to read with")] = 1,
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
    shape: Annotated[Input, typer.Option("--input", help="what wrote the logs; auto looks at them")] = Input.AUTO,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", help="where the fields stand, for --input mapped")
    ] = None,
) -> None:
    """Say what is wrong in request logs.

    And why, who does it, whether it heals alone, and what to do.

    \b
      dynascope analyze requests.jsonl --contract contract.yaml
      dynascope analyze trail/*.json.gz --since 1h             the last hour of them
      zcat old/*.gz | dynascope analyze - --format markdown
      dynascope analyze requests.jsonl --contract contract.yaml --history /var/lib/dynascope/history

    Exit 0 when nothing is as bad as --fail-on, 1 when something is, 2 on wrong usage, 3 when it cannot be told, because
    nothing could be read, or not everything.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    gc.set_threshold(*_RARELY)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no matrix is multiplied here, and idle threads cost
    from analyzer.cli.foreign import choose, declare_keys  # noqa: PLC0415 -- light start
    from analyzer.cli.inputs import parse_moment  # noqa: PLC0415 -- light start
    from analyzer.cli.remembered import recalling  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_and_contract  # noqa: PLC0415 -- light start
    from analyzer.setup import salt_of  # noqa: PLC0415 -- light start

    settings, declared = settings_and_contract(config, contract, window, salt_file)
    salt, recall = salt_of(settings), recalling(history, settings)
    files = _logs(logs, jobs)
    ends = parse_moment(since, "--since"), parse_moment(until, "--until")
    is_relative = _is_relative(files, *ends)
    for said in choose(files, shape, mapping):
        print(f"dynascope: {said}", file=sys.stderr)
    if any(file.decoder is not None for file in files):
        declare_keys(files, declared)
    stretch = _stretch(files, *ends, is_relative=is_relative)
    judged = _judge(files, (settings, declared), stretch, jobs, recall)
    for file in files:
        if file.is_torn:
            print(f"dynascope: the last line of {file.name} is not whole, and is left out", file=sys.stderr)
    for complaint in judged.complaints:
        print(f"dynascope: {complaint}", file=sys.stderr)
    print_report(judged.report, output, Keys.REVEAL if reveal_keys else keys or Keys(settings.keys), salt)
    code = exit_code(judged.report, fail_on, source_failed=bool(judged.complaints))
    raise typer.Exit(_STOPPED if judged.was_stopped else code)


def _logs(names: Sequence[str], jobs: int) -> tuple[LogFile, ...]:
    from analyzer.cli.inputs import STDIN, expand  # noqa: PLC0415 -- light start
    from analyzer.cli.reading import LogFile, is_recording  # noqa: PLC0415 -- light start

    files = sorted(expand(names), key=lambda path: path != STDIN)  # it cannot be opened twice: first
    for path in files:
        if path != STDIN and is_recording(path):
            raise UsageError(f"{path} is a recording; read it with `dynascope replay {path}`")
    if jobs > 1 and STDIN in files:
        raise UsageError("--jobs needs files: standard input can only be read by one")
    return tuple(LogFile(path) for path in files)


def _is_relative(logs: Sequence[LogFile], since: Moment | None, until: Moment | None) -> bool:
    """Whether the stretch counts back from the end of the logs."""
    from analyzer.cli.inputs import STDIN  # noqa: PLC0415 -- light start

    relative = [moment for moment in (since, until) if moment is not None and moment.at is None]
    if relative and any(log.path == STDIN for log in logs):
        raise UsageError(f"{relative[0].text} counts back from the end, which standard input has not; write a time")
    return bool(relative)


def _stretch(logs: Sequence[LogFile], since: Moment | None, until: Moment | None, *, is_relative: bool) -> Stretch:
    from analyzer.cli.inputs import place_stretch  # noqa: PLC0415 -- light start
    from analyzer.cli.judging import Stretch  # noqa: PLC0415 -- light start
    from analyzer.cli.reading import end_of  # noqa: PLC0415 -- light start

    return Stretch(*place_stretch(since, until, end_of(logs) if is_relative else None))


def _judge(
    logs: Sequence[LogFile], read: tuple[Settings, Contract], stretch: Stretch, jobs: int, recall: Recall | None
) -> Judged:
    """Judge, with a bar on a terminal while it lasts."""
    from analyzer.cli.inputs import STDIN  # noqa: PLC0415 -- light start
    from analyzer.cli.judging import judge_logs  # noqa: PLC0415 -- light start

    if not sys.stderr.isatty():
        return judge_logs(logs, *read, stretch, jobs, recall=recall)
    from rich.console import Console  # noqa: PLC0415 -- only on a terminal
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn  # noqa: PLC0415 -- same

    size = sum(log.path.stat().st_size for log in logs if log.path != STDIN) or None
    columns = ("reading", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=size)
        return judge_logs(logs, *read, stretch, jobs, lambda count: progress.advance(task, count), recall)
