"""dynascope diagnose."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.ahead import wall_clock
from analyzer.cli.calling import ProfileOption  # noqa: TC001 -- typer evaluates the annotations
from analyzer.cli.output import FailOn, Format, Keys, exit_code
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.cli.diagnosing import Told
    from analyzer.diagnose import Looked

__all__ = ["diagnose"]

_SINCE = "30m"


def diagnose(  # noqa: PLR0913, PLR0917 -- one parameter an option
    table: Annotated[str | None, typer.Argument(metavar="TABLE", help="the table; else all are swept")] = None,
    index: Annotated[str | None, typer.Option(metavar="INDEX", help="its index, instead of the table")] = None,
    since: Annotated[str | None, typer.Option(metavar="DURATION", help="how far back to look, else 30m")] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="the end of the stretch, RFC 3339; else now")
    ] = None,
    contract: Annotated[list[Path] | None, typer.Option(help="declared access patterns")] = None,
    log: Annotated[
        list[str] | None, typer.Option("--log", metavar="FILE", help="a request log to read beside AWS; - is stdin")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="write what was seen, keys as tokens, for replay; .gz is packed")
    ] = None,
    wait: Annotated[
        str | None, typer.Option(metavar="DURATION", help="look again each minute until it is decided, so long")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="look again each minute, until it is stopped")] = False,
    from_: Annotated[
        str | None, typer.Option("--from", "--url", metavar="URL", help="ask a daemon that runs, instead of AWS")
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="how to print")] = Format.TEXT,
    fail_on: Annotated[
        FailOn, typer.Option(metavar="SEVERITY", help="end with 1 for findings this bad or worse, or never")
    ] = FailOn.NEVER,
    keys: Annotated[Keys | None, typer.Option(help="how keys are shown; template where nothing is said")] = None,
    reveal_keys: Annotated[bool, typer.Option("--reveal-keys", help="short for --keys reveal")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="sweep without asking, whatever it costs")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="tell calls, rounds and dollars")] = False,
    salt_file: Annotated[Path | None, typer.Option(metavar="FILE", help="secret that the samplers share")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: thresholds, contract")
    ] = None,
    region: Annotated[
        list[str] | None, typer.Option("--region", metavar="REGION", help="AWS region, several for a sweep")
    ] = None,
    profile: ProfileOption = None,
    role: Annotated[str | None, typer.Option(metavar="ARN", help="a role to assume")] = None,
) -> None:
    """Say what is wrong with a table, from what AWS shows of it now; it changes nothing.

    It compares the last half hour with the same minutes an hour, a day and a week before. Without a TABLE it sweeps
    all tables and indexes, and looks at the worst. What it costs (under a cent a table) counts each metric asked for; a
    sweep over 0.10 dollars asks first.

    \b
      dynascope diagnose                    which table of the region, and what is wrong with it
      dynascope diagnose orders             one table, the last half hour
      dynascope diagnose orders --at 2026-06-01T02:58:00Z --since 1h
      dynascope diagnose orders --wait 5m   look again until the key shows
      dynascope diagnose orders --record page.jsonl --format markdown

    Exit 0 when it could be told, 1 for a finding at or over --fail-on, 2 on wrong usage, 3 when it cannot be told.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli import diagnosing  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_of  # noqa: PLC0415 -- light start
    from analyzer.setup import salt_of  # noqa: PLC0415 -- light start

    question = diagnosing.question_of(table, index, since or _SINCE, at)
    settings = settings_of(config, contract, None, salt_file)
    chosen = Keys.REVEAL if reveal_keys else keys or Keys(settings.keys)
    told = diagnosing.Told(output=output, keys=chosen, verbose=verbose)
    if from_ is not None:
        _refuse_beside_daemon(record, log)
        own = {"--wait": wait, "--watch": watch, "--since": since, "--at": at, "--region": region, "--role": role}
        _refuse_unheard(own | {"--keys": keys, "--reveal-keys": reveal_keys, "--profile": profile})
        raise typer.Exit(_from_daemon(from_, table, index, told, fail_on))
    if watch and (wait is not None or at is not None):
        raise UsageError("--watch looks at now for ever: leave out --wait and --at")
    regions = diagnosing.regions_of(table, region)
    bench = diagnosing.bench_of(settings, hides=chosen is not Keys.REVEAL, profile=profile, role=role)
    with ExitStack() as stack:
        logs = diagnosing.logs_of(log or (), stack)
        recorder = None if record is None else diagnosing.recorder_of(record, bench, settings, logs)
        asked = diagnosing.Asked(
            question=question,
            bench=bench,
            regions=regions,
            role=role,
            logs=logs,
            recorder=recorder,
            wait_ms=None if wait is None else diagnosing.duration_of("--wait", wait),
            is_watching=watch,
            yes=yes,
        )
        salt = salt_of(settings)

        def tell(looked: Looked) -> None:
            diagnosing.note(looked, asked)
            diagnosing.print_diagnosis(looked.diagnosis, told, salt)

        try:
            looked = diagnosing.run(asked, tell)
        except KeyboardInterrupt:
            if watch:
                raise typer.Exit(0) from None
            typer.echo("dynascope: stopped before anything could be told", err=True)
            raise typer.Exit(3) from None
    has_failed = recorder is not None and recorder.has_failed
    raise typer.Exit(2 if has_failed else exit_code(looked.diagnosis.report, fail_on))


def _refuse_beside_daemon(record: Path | None, log: list[str] | None) -> None:
    """Raise UsageError for what a daemon cannot give: it tells what it concluded, not the requests that it read."""
    if record is not None:
        raise UsageError(
            "--from tells what a daemon concluded; the requests that it rests on are not kept, so that there is nothing"
            " to replay. Leave --from out to record what AWS shows, with --log FILE the requests; --format json keeps"
            " the report"
        )
    if log:
        raise UsageError("--log is read beside AWS: leave out --from, which asks a daemon instead")


def _refuse_unheard(own: Mapping[str, object]) -> None:
    """Raise UsageError for options that a daemon does not hear: it tells its last stretch, keys as it shows them."""
    unheard = [name for name, value in own.items() if value]
    if unheard:
        raise UsageError(
            f"{', '.join(unheard)}: a daemon tells its last stretch, of all that it watches and with keys as it shows"
            " them; leave --from out, which asks AWS"
        )


def _from_daemon(url: str, table: str | None, index: str | None, told: Told, fail_on: FailOn) -> int:
    """Print what a daemon says, and return the exit code."""
    from analyzer.cli.daemon_report import fetch_report  # noqa: PLC0415 -- light start
    from analyzer.cli.diagnosing import print_as_shown  # noqa: PLC0415 -- light start
    from analyzer.planning.diagnosis import diagnosis_of_daemon  # noqa: PLC0415 -- light start

    diagnosis = diagnosis_of_daemon(fetch_report(url), wall_clock(), table, index)
    print_as_shown(diagnosis, told)
    return exit_code(diagnosis.report, fail_on)
