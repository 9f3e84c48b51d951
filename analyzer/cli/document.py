"""dynascope document."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.paged import PageFormat, as_json, check_place, format_of, named_place, print_page, rendered
from analyzer.cli.shapes import Input, WeekOption
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.cli.planned import Bench
    from analyzer.planning.capacity_evidence import Observed
    from analyzer.planning.document import Seen

__all__ = ["document"]


def document(  # noqa: PLR0913, PLR0917 -- one parameter an option
    contract: Annotated[list[Path], typer.Argument(metavar="CONTRACT...", help="contract files, or folders of them")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="write there; .html and .md choose the format",
            parser=named_place,
        ),
    ] = None,
    observed: Annotated[
        list[str] | None,
        typer.Option(
            "--observed", metavar="LOG|URL|DIR", help="request logs, a recording, history, or a daemon's address"
        ),
    ] = None,
    week: WeekOption = None,
    form: Annotated[
        PageFormat | None, typer.Option("--format", help="how to print; else by the name of -o, else markdown")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration: prices, salt")
    ] = None,
    shape: Annotated[Input, typer.Option("--input", help="what wrote the logs; auto looks at them")] = Input.AUTO,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", help="where the fields stand, for --input mapped")
    ] = None,
) -> None:
    """Write the documents of a design from its contract.

    The access-pattern list; the key design, with a record for each index; capacity, cost and the risk of hot
    partitions. With --observed, what traffic showed stands beside what is declared. What nobody declared is said to be
    that.

    \b
      dynascope document contract.yaml -o design.html
      dynascope document contract.yaml --observed requests.jsonl > design.md
      dynascope document contract.yaml --observed http://127.0.0.1:8642 -o design.md
      dynascope document contract.yaml --observed /var/lib/dynascope/history --week 2026-W48

    Exit 0 when it was written, 2 on wrong usage or a contract that cannot be read, 3 when what was observed cannot
    be read, or holds nothing of these tables: the documents are written all the same.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.planned import Bench, faults_of  # noqa: PLC0415 -- light start
    from analyzer.cli.settings import settings_and_contract  # noqa: PLC0415 -- light start
    from analyzer.planning.document import Designs, design_of  # noqa: PLC0415 -- light start
    from analyzer.render.document import document_page  # noqa: PLC0415 -- light start

    check_place(output)
    for path in contract:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
    bench = Bench(*settings_and_contract(config, contract))
    tables = bench.contract.tables
    if not tables:
        raise UsageError("nothing is declared: the contract names no table and no pattern")
    seen = {} if not observed else _seen(bench, observed, week, (shape, mapping))
    designs = tuple(design_of(table, seen.get(table.name), faults_of(bench.contract, table.name)) for table in tables)
    chosen = format_of(output, form, PageFormat.MARKDOWN)
    page = as_json(Designs(designs)) if chosen is PageFormat.JSON else rendered(document_page(designs), chosen)
    print_page(page, output)
    if observed and not seen:
        raise typer.Exit(3)


def _seen(bench: Bench, names: Sequence[str], week: str | None, read_as: tuple[Input, Path | None]) -> dict[str, Seen]:
    """Return what traffic shows of each declared table, by the name it is declared with."""
    from analyzer.cli.remembered import is_history, refuse_two  # noqa: PLC0415 -- light start
    from analyzer.planning.document import seen_in_report  # noqa: PLC0415 -- light start

    urls = [name for name in names if name.startswith(("http://", "https://"))]
    places = [name for name in names if is_history(name)]
    if len(names) > 1 and (urls or places):
        raise UsageError("--observed takes one daemon, one history, or request logs, not several of them")
    if places:
        return _in_history(bench, places[0], week)
    refuse_two(None, week, {})
    if not urls:
        return _in_logs(bench, names, *read_as)
    from analyzer.cli.daemon_report import fetch_report  # noqa: PLC0415 -- light start

    seen = seen_in_report(fetch_report(urls[0]), bench.contract)
    if not seen:
        print(f"dynascope: the daemon at {urls[0]} saw none of the declared tables", file=sys.stderr)
    return seen


def _in_history(bench: Bench, place: str, week: str | None) -> dict[str, Seen]:
    from analyzer.cli.planned_history import observed_history  # noqa: PLC0415 -- only what is asked for
    from analyzer.cli.planned_logs import by_declaration  # noqa: PLC0415 -- light start

    found = by_declaration(bench, observed_history(bench, place, week))
    return _planned(bench, found, "history", "history holds no request to a declared table")


def _in_logs(bench: Bench, names: Sequence[str], shape: Input, mapping: Path | None) -> dict[str, Seen]:
    from analyzer.cli.planned_logs import observed_in  # noqa: PLC0415 -- light start

    found = observed_in(bench, names, None, shape, mapping)
    return _planned(bench, found, "a request log", "the logs hold no request to a declared table")


def _planned(bench: Bench, found: dict[str, Observed], source: str, otherwise: str) -> dict[str, Seen]:
    from analyzer.planning.capacity import plan_capacity  # noqa: PLC0415 -- light start
    from analyzer.planning.document import seen_in_plan  # noqa: PLC0415 -- light start

    if not found:
        print(f"dynascope: {otherwise}", file=sys.stderr)
    return {
        name: seen_in_plan(plan_capacity(one, bench.contract.table(one.traffics[0].target)), one, source)
        for name, one in found.items()
    }
