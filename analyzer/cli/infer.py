"""dynascope infer."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.cli.output import say
from analyzer.cli.shapes import Input
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.cli.reading import LogFile
    from analyzer.contract.draft import Draft
    from analyzer.contract.evidence import Evidence
    from analyzer.contract.model import Contract
    from analyzer.model.table import TableDescription

__all__ = ["infer"]

_SUFFIXES = frozenset({".yaml", ".yml"})
_MOST_TOLD = 6
_WEIGHTY = ("partition_key", "kind", "operation", "key", "name")
"""The fields whose guesses are told first: much follows from them."""

_MOST_SCANS = 3
_NOTHING_TO_JUDGE = 3


def infer(
    logs: Annotated[list[str], typer.Argument(metavar="LOG...", help="request logs, .gz and .zst too; - is stdin")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="write there; it must not exist yet")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="CONTRACT",
            help="add to this contract what it lacks, changing nothing that is there; with -o, to that file instead",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="with --into: show what would be added, and stop")] = False,
    tables: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="output of `aws dynamodb describe-table`: keys and indexes as they are"),
    ] = None,
    shape: Annotated[Input, typer.Option("--input", help="what wrote the logs; auto looks at them")] = Input.AUTO,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", help="where the fields stand, for --input mapped")
    ] = None,
) -> None:
    """Draft a contract from request logs, or add to one what it lacks.

    It is for its owners to edit: guesses are marked `# unsure:`, and what cannot be declared as it was asked is
    commented out, with the reason. A Scan is declared as it was seen; `dynascope check` then asks why it is there.

    \b
      dynascope infer requests.jsonl -o contract.yaml
      dynascope infer trail/*.json.gz --tables tables.json > contract.yaml
      dynascope infer requests.jsonl --into contract.yaml --dry-run

    Exit 0 when it is done, 2 on wrong usage, 3 where no request can be read, or a log breaks off.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.foreign import choose  # noqa: PLC0415 -- light start
    from analyzer.cli.infer_into import add, read_target  # noqa: PLC0415 -- light start
    from analyzer.cli.inputs import expand  # noqa: PLC0415 -- light start
    from analyzer.cli.reading import LogFile, at_rest  # noqa: PLC0415 -- light start
    from analyzer.contract.induce import induce  # noqa: PLC0415 -- light start
    from analyzer.contract.model import EMPTY_CONTRACT  # noqa: PLC0415 -- light start

    if output is not None:
        _check_place(output)
    if dry_run and into is None:
        raise UsageError("--dry-run shows what --into would add; without it nothing is changed anyway")
    target = None if into is None else read_target(into, output)
    known = EMPTY_CONTRACT if target is None else target.known
    described = {} if tables is None else _described(tables)
    with ExitStack() as stack:
        files = [LogFile(stack.enter_context(at_rest(path))) for path in expand(logs)]
        _refuse_recordings(files, logs)
        for said in choose(files, shape, mapping):
            say(said)
        evidence = _gather(files, known, described)
    complaints = [file.breaks_off for file in files if file.breaks_off is not None]
    for complaint in complaints:
        say(complaint)
    if evidence is None:
        say("nothing to draft from: no request can be read; `dynascope analyze` says what is wrong with the logs")
        raise typer.Exit(_NOTHING_TO_JUDGE)
    draft = induce(evidence)
    if target is None:
        _print_draft(draft, output)
    else:
        add(draft, target, is_dry=dry_run)
        _tell_guesses(draft)
    _tell_scans(draft)
    if complaints:
        raise typer.Exit(_NOTHING_TO_JUDGE)


def _check_place(output: Path) -> None:
    """Refuse before the work what could only fail after it."""
    if output.exists():
        raise UsageError(f"{output} exists: infer never overwrites a contract; name another file, or add with --into")
    if not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no folder {output.parent}")
    if not os.access(output.parent, os.W_OK):
        raise UsageError(f"{output} cannot be written: the folder {output.parent} is not yours to write in")
    if output.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{output}: infer writes YAML; name the file {output.with_suffix('.yaml')}")


def _described(tables: Path) -> Mapping[str, TableDescription]:
    from analyzer.cli.described import read_tables  # noqa: PLC0415 -- light start

    if not tables.is_file():
        raise UsageError(f"{tables}: there is no such file")
    return {table.name: table for table in read_tables(tables.read_text(encoding="utf-8"), str(tables))}


def _refuse_recordings(files: Sequence[LogFile], names: Sequence[str]) -> None:
    from analyzer.cli.reading import is_recording  # noqa: PLC0415 -- light start

    for file in files:
        if is_recording(file.path):
            name = str(file.path) if str(file.path) in names else "this"
            raise UsageError(
                f"{name} is a recording, and infer reads request logs; take its requests out: "
                f"jq -c 'select(.kind==\"request\").request' {name} | dynascope infer -"
            )


def _gather(files: Sequence[LogFile], known: Contract, described: Mapping[str, TableDescription]) -> Evidence | None:
    """Read, with a bar on a terminal while it lasts."""
    from analyzer.cli.inferring import gather_evidence  # noqa: PLC0415 -- light start

    if not sys.stderr.isatty():
        return gather_evidence(files, known, described)
    from rich.console import Console  # noqa: PLC0415 -- light start
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn  # noqa: PLC0415 -- light start

    size = 2 * sum(file.path.stat().st_size for file in files) or None
    columns = ("reading twice", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=size)
        return gather_evidence(files, known, described, lambda count: progress.advance(task, count))


def _print_draft(draft: Draft, output: Path | None) -> None:
    from analyzer.cli.output import so_many, write  # noqa: PLC0415 -- light start
    from analyzer.cli.replacing import replace_file  # noqa: PLC0415 -- light start
    from analyzer.contract.write import write_contract  # noqa: PLC0415 -- light start

    text = write_contract(draft)
    if output is None:
        write(text)
    else:
        replace_file(output, text.encode())
        patterns = sum(len(table["patterns"]) for table in draft.document["tables"])
        write(
            f"{output}: {so_many(patterns, 'pattern')}; set aside: {len(draft.set_aside)}. "
            f"Next: dynascope check {output}\n"
        )
    _tell_guesses(draft)


def _tell_guesses(draft: Draft) -> None:
    """Say on standard error what is unsure, the first of it in words."""
    if not draft.unsure:
        return
    number = len(draft.unsure)
    say(f"unsure of {number} {'thing' if number == 1 else 'things'}, each marked `# unsure:` where it stands")
    ranked = sorted(draft.unsure, key=lambda one: _WEIGHTY.index(one.field) if one.field in _WEIGHTY else len(_WEIGHTY))
    for one in ranked[:_MOST_TOLD]:
        print(f"  {one}", file=sys.stderr)
    if number > _MOST_TOLD:
        print(f"  and {number - _MOST_TOLD} more", file=sys.stderr)


def _tell_scans(draft: Draft) -> None:
    """Say what `check` will fail of what was drafted, and what to do: it asks of each Scan what traffic cannot tell."""
    scans = [one["id"] for table in draft.document["tables"] for one in table["patterns"] if one["operation"] == "Scan"]
    if scans:
        names = ", ".join(scans[:_MOST_SCANS]) + (" and more" if len(scans) > _MOST_SCANS else "")
        are = "is a Scan" if len(scans) == 1 else "are Scans"
        mend = "add purpose, schedule and max_units_per_second, or delete what nobody meant"
        say(f"`dynascope check` fails until somebody says why {names} {are}: {mend}")
