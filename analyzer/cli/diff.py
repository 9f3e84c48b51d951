"""dynascope diff."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.paged import PageFormat, as_json, check_place, format_of, named_place, print_page, rendered
from analyzer.cli.shapes import HistoryOption, Input, WeekOption
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from analyzer.planning.capacity_evidence import Observed

__all__ = ["diff"]


def diff(  # noqa: PLR0913, PLR0917 -- one parameter an option
    contract_a: Annotated[Path, typer.Argument(metavar="CONTRACT_A", help="the contract as it is")],
    contract_b: Annotated[Path, typer.Argument(metavar="CONTRACT_B", help="the contract as it is meant to be")],
    log: Annotated[
        list[str] | None,
        typer.Option("--log", metavar="FILE", help="request logs of last week, or a recording"),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="RFC 3339 time, or how long before the logs end, such as 7d"),
    ] = None,
    history: HistoryOption = None,
    week: WeekOption = None,
    form: Annotated[
        PageFormat | None, typer.Option("--format", help="how to print; else by the name of -o, else text")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="write there", parser=named_place)
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: prices, salt")
    ] = None,
    shape: Annotated[Input, typer.Option("--input", help="what wrote the logs; auto looks at them")] = Input.AUTO,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", help="where the fields stand, for --input mapped")
    ] = None,
) -> None:
    """Say what a change of contract does to heat, cost and indexes.

    At traffic that was observed, where a log or history is given: units and heat are those observed, scaled by what
    both contracts say a request costs. It changes nothing, and calls nobody but the bucket that holds history; it is
    made for a pull request.

    \b
      dynascope diff contract.yaml changed.yaml --log 'last-week/*.jsonl.gz'
      dynascope diff contract.yaml changed.yaml --history s3://bucket/prefix
      dynascope diff contract.yaml changed.yaml --format markdown -o comment.md

    Exit 0 when nothing breaks, 1 when the heat of a key crosses 1 or a pattern loses its index, 2 on wrong usage or a
    contract that cannot be read, 3 when the log or history cannot be read, or holds nothing of these tables.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.planned import Bench  # noqa: PLC0415 -- light start
    from analyzer.cli.planned_logs import by_declaration, observed_in  # noqa: PLC0415 -- light start
    from analyzer.cli.remembered import refuse_two  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_and_contract  # noqa: PLC0415 -- light start
    from analyzer.planning.diff import diff_contracts  # noqa: PLC0415 -- light start
    from analyzer.render.diff import diff_page  # noqa: PLC0415 -- light start

    check_place(output)
    for path in (contract_a, contract_b):
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
    if since is not None and not log:
        raise UsageError("--since bounds the stretch of a --log; give one")
    refuse_two(history, week, {"--log": log})
    bench = Bench(*settings_and_contract(config, [contract_a]))
    after = settings_and_contract(config, [contract_b])[1]
    found: dict[str, Observed] | None
    if history is not None:
        from analyzer.cli.planned_history import observed_history  # noqa: PLC0415 -- only what is asked for

        found = by_declaration(bench, observed_history(bench, history, week))
    elif log:
        found = observed_in(bench, log, since, shape, mapping)
    else:
        found = None  # nobody looked: empty is that there was nothing to see
    notes = tuple(dict.fromkeys(note for one in (found or {}).values() for note in one.complaints))
    is_blind = found is not None and not found
    if is_blind:
        source = "the logs hold" if log else "history holds"
        notes = (*notes, f"{source} no request to a table of {contract_a}: rates are the declared ones")
    outcome = diff_contracts(bench.contract, after, found, notes)
    chosen = format_of(output, form, PageFormat.TEXT)
    print_page(as_json(outcome) if chosen is PageFormat.JSON else rendered(diff_page(outcome), chosen), output)
    if is_blind:
        raise typer.Exit(3)
    if outcome.breaks:
        raise typer.Exit(1)
