"""dynascope capacity."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from analyzer.cli.calling import ProfileOption, RegionOption, with_aws
from analyzer.cli.paged import PageFormat, as_json, check_place, format_of, named_place, print_page, rendered
from analyzer.cli.shapes import HistoryOption, Input, WeekOption
from analyzer.errors import UsageError, closest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.cli.planned import Bench
    from analyzer.contract.model import Contract
    from analyzer.planning.capacity_evidence import Observed

__all__ = ["capacity", "factor_of", "target_of"]

_SHORTEST_MS = 600_000
_LONGEST_MS = 14 * 86_400_000
"""CloudWatch keeps points of a minute for fifteen days."""
_LEAST_PEAK, _MOST_PEAK = 1.1, 10_000
"""A peak that is more than today's fullest stretch, and one that anybody plans for."""
_NAMES = 5
"""So many names of tables are read in a line."""


def capacity(  # noqa: PLR0913, PLR0917 -- one parameter an option
    table: Annotated[str, typer.Argument(metavar="TABLE", help="the table, its indexes with it")],
    log: Annotated[
        list[str] | None, typer.Option("--log", metavar="FILE", help="a request log; may be given again; - is stdin")
    ] = None,
    recording: Annotated[
        str | None, typer.Option(metavar="FILE", help="a recording, such as `diagnose --record` writes")
    ] = None,
    history: HistoryOption = None,
    week: WeekOption = None,
    live: Annotated[bool, typer.Option("--live", help="ask AWS too where a log is given")] = False,
    contract: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="declared access patterns; may be given again")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DURATION", help="how far back to look; of AWS 1d, of a log all of it")
    ] = None,
    event: Annotated[
        str | None, typer.Option(metavar="FACTOR", help="plan for a peak of so many times the fullest, such as 5x")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="PERCENT", help="autoscaling's target utilization; else the table's, else 70%")
    ] = None,
    form: Annotated[
        PageFormat | None, typer.Option("--format", help="how to print; else by the name of -o, else text")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="write there", parser=named_place)
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: prices, contract")
    ] = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
    shape: Annotated[Input, typer.Option("--input", help="what wrote the logs; auto looks at them")] = Input.AUTO,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", help="where the fields stand, for --input mapped")
    ] = None,
) -> None:
    """Say what a table's capacity costs, and what it should be.

    On demand, with a maximum, provisioned with autoscaling, reserved and Standard-IA, at the demand that was observed:
    dollars a month, the arithmetic and the risk of each; and what each pattern costs beside what it should. It reads
    CloudWatch and the table's description unless a log, a recording or history is given, and changes nothing.

    \b
      dynascope capacity orders --since 7d --contract contract.yaml
      dynascope capacity orders --log requests.jsonl --contract contract.yaml --event 5x
      dynascope capacity orders --recording day.jsonl -o capacity.html
      dynascope capacity orders --history s3://bucket/prefix --week 2026-W48

    Exit 0 when it could be reckoned, 2 on wrong usage, 3 when nothing of the table or no consumed units are in
    what was read, or AWS could not be asked.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.planned import Bench, tables_in  # noqa: PLC0415 -- light start
    from analyzer.cli.remembered import refuse_two  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_and_contract  # noqa: PLC0415 -- light start
    from analyzer.planning.capacity import plan_capacity  # noqa: PLC0415 -- light start
    from analyzer.render.capacity import capacity_page  # noqa: PLC0415 -- light start

    factor, share = factor_of(event), target_of(target)
    check_place(output)
    if recording is not None and (log or live or since is not None):
        raise UsageError("--recording holds its own stretch: leave out --log, --live and --since")
    refuse_two(history, week, {"--log": log, "--recording": recording, "--live": live, "--since": since})
    bench = Bench(*settings_and_contract(config, contract))
    if history is not None:
        found = _from_history(bench, history, week)
    elif recording is not None:
        bench, found = _from_recording(bench, recording, has_contract=bool(contract))
    elif log and not live:
        found = _from_logs(bench, log, since, shape, mapping)
    else:
        found = _from_aws(bench, table, log or (), since or "1d", (region, profile))
    observed = tables_in(found, table, region)
    declared = bench.contract.table(observed.traffics[0].target)
    plan = plan_capacity(observed, declared, factor=factor, target_share=share)
    if declared is None and bench.contract.tables:
        plan = msgspec.structs.replace(plan, notes=(_undeclared(bench.contract, plan.table), *plan.notes))
    chosen = format_of(output, form, PageFormat.TEXT)
    print_page(as_json(plan) if chosen is PageFormat.JSON else rendered(capacity_page(plan), chosen), output)
    if not plan.demands:
        raise typer.Exit(3)


def _undeclared(contract: Contract, table: str) -> str:
    names = list(dict.fromkeys(one.name for one in contract.tables))
    near = closest(table, names)
    if table in names:
        hint = "it declares one of that name of another account or region"
    elif near:
        hint = f"did you mean {near}?"
    else:
        hint = f"it declares {', '.join(names[:_NAMES])}{' and others' * (len(names) > _NAMES)}"
    return f"the contract does not declare {table}: what its patterns should cost cannot be told; {hint}"


def factor_of(text: str | None) -> float | None:
    """Read a factor such as 5x; raises UsageError."""
    if text is None:
        return None
    try:
        factor = float(text.lower().removesuffix("x"))
    except ValueError:
        factor = 0.0
    if not _LEAST_PEAK <= factor <= _MOST_PEAK:
        bounds = f"from {_LEAST_PEAK:g}x to {_MOST_PEAK:,}x"
        raise UsageError(f"--event {text}: write how many times today's fullest stretch, {bounds}, such as 5x")
    return factor


def target_of(text: str | None) -> float | None:
    """Read a target utilization such as 70%, as a share; raises UsageError."""
    if text is None:
        return None
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not 0.2 <= share <= 0.9:  # noqa: PLR2004 -- Developer Guide: a target lies between 20 and 90 percent
        raise UsageError(f"--target {text}: autoscaling's target lies between 20% and 90%")
    return share


def _from_recording(bench: Bench, name: str, *, has_contract: bool) -> tuple[Bench, tuple[Observed, ...]]:
    """Read a recording, with its own contract where none is given."""
    from analyzer.cli.inputs import expand  # noqa: PLC0415 -- light start
    from analyzer.cli.planned import Bench, observed_recording  # noqa: PLC0415 -- light start
    from analyzer.cli.reading import at_rest  # noqa: PLC0415 -- light start
    from analyzer.contract.load import contract_from  # noqa: PLC0415 -- light start
    from analyzer.recording import read_recording  # noqa: PLC0415 -- light start

    with at_rest(expand([name])[0]) as path:
        recorded = read_recording(path).contract
        if recorded is not None and not (has_contract or bench.settings.contract):
            bench = Bench(bench.settings, contract_from(recorded, f"{name} (contract)"))
        return bench, observed_recording(bench, path)


def _from_history(bench: Bench, place: str, week: str | None) -> tuple[Observed, ...]:
    from analyzer.cli.planned_history import observed_history  # noqa: PLC0415 -- only what is asked for

    return observed_history(bench, place, week)


def _from_logs(
    bench: Bench, names: Sequence[str], since: str | None, shape: Input, mapping: Path | None
) -> tuple[Observed, ...]:
    from analyzer.cli.planned import observed_logs  # noqa: PLC0415 -- light start
    from analyzer.cli.planned_logs import named_logs, stretch_of  # noqa: PLC0415 -- light start

    files = named_logs(names, bench.contract, shape, mapping, lambda said: print(f"dynascope: {said}", file=sys.stderr))
    return observed_logs(bench, files, stretch_of(files, since))


def _from_aws(
    bench: Bench, table: str, logs: Sequence[str], since: str, place: tuple[str | None, str | None]
) -> tuple[Observed, ...]:
    from analyzer.cli.diagnosing import duration_of, logs_of  # noqa: PLC0415 -- light start
    from analyzer.cli.planned_live import look  # noqa: PLC0415 -- heavy

    length = duration_of("--since", since)
    if not _SHORTEST_MS <= length <= _LONGEST_MS:
        raise UsageError(f"--since {since}: CloudWatch has minutes of 10m to 14d")
    with ExitStack() as stack:
        files = logs_of(logs, stack)
        return with_aws(lambda aws, region: look(aws, region, bench, table, length, files), *place)
