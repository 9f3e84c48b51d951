"""dynascope check."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analyzer.errors import ContractError, UsageError
from analyzer.knowledge.limits import GSIS_A_TABLE, LSIS_A_TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.contract.lint import Remark
    from analyzer.contract.load import Reading

__all__ = ["check"]


class CheckFormat(StrEnum):
    """How remarks are printed."""

    TEXT = "text"
    JSON = "json"


def check(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="contract files, or folders that hold some")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="fail every Scan, declared operational or not")] = False,
    output: Annotated[CheckFormat, typer.Option("--format", help="how to print")] = CheckFormat.TEXT,
    tables: Annotated[
        Path | None, typer.Option("--tables", metavar="FILE", help="DescribeTable output to compare with")
    ] = None,
    max_gsis: Annotated[int, typer.Option("--max-gsis", help="GSIs a table may have; AWS raises it on request")] = (
        GSIS_A_TABLE
    ),
    max_lsis: Annotated[int, typer.Option("--max-lsis", help="LSIs a table may have")] = LSIS_A_TABLE,
    schema: Annotated[bool, typer.Option("--schema", help="print the JSON Schema of a contract and stop")] = False,
) -> None:
    """Judge declared access patterns before they meet traffic; reads files, writes nothing, calls nobody.

    Exit 0 without faults (warnings do not count), 1 with faults of form or design, 2 on wrong usage.
    """
    if schema:
        from analyzer.contract.form import json_schema  # noqa: PLC0415 (light start)

        print(json.dumps(json_schema(), indent=2))
        return
    if not paths:
        raise UsageError("check needs a PATH: a contract file, or a folder that holds some")
    for path in [*paths, *([] if tables is None else [tables])]:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
    from analyzer.contract.lint import lint  # noqa: PLC0415 (light start)
    from analyzer.contract.load import read_contract  # noqa: PLC0415 (light start)
    from analyzer.contract.scope import Limits  # noqa: PLC0415 (light start)

    reading = read_contract(paths)
    remarks = [*_form(reading), *lint(reading.contract, Limits(max_gsis, max_lsis, strict=strict))]
    if tables is not None:
        remarks += _compared(reading, tables)
    remarks.sort(key=lambda r: (r.file, r.line or 0, r.severity))
    if output is CheckFormat.JSON:
        _print_json(reading, remarks)
    else:
        _print_text(reading, remarks)
    if any(remark.severity == "fail" for remark in remarks):
        raise typer.Exit(1)


def _form(reading: Reading) -> list[Remark]:
    from analyzer.contract.lint import Remark  # noqa: PLC0415 (light start)

    return [Remark("fail", f.field, f.file, f.line, f.message, f.mend, "form", "") for f in reading.faults]


def _compared(reading: Reading, tables: Path) -> Sequence[Remark]:
    from analyzer.contract.catalog import compare, parse_tables  # noqa: PLC0415 (light start)

    try:
        return compare(reading.contract, parse_tables(tables.read_text(encoding="utf-8"), str(tables)))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{tables}: it cannot be read: {error}") from error
    except ContractError as error:
        raise UsageError(str(error)) from error


def _print_json(reading: Reading, remarks: Sequence[Remark]) -> None:
    shown: dict[str, Any] = {
        "v": 1,
        "files": list(reading.files),
        "ignored": list(reading.ignored),
        "tables": len(reading.contract.tables),
        "patterns": sum(len(table.patterns) for table in reading.contract.tables),
    }
    for name, severity in (("faults", "fail"), ("warnings", "warn")):
        shown[name] = [_remark(remark) for remark in remarks if remark.severity == severity]
    print(json.dumps(shown, indent=2, ensure_ascii=False))


def _remark(remark: Remark) -> dict[str, Any]:
    fields = ("rule", "severity", "file", "line", "table", "field", "message", "mend")
    return {name: getattr(remark, name) for name in fields}


def _print_text(reading: Reading, remarks: Sequence[Remark]) -> None:
    is_colourful = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for remark in remarks:
        place = remark.file if remark.line is None else f"{remark.file}:{remark.line}"
        severity = f"{remark.severity:4}"
        if is_colourful:
            severity = f"\x1b[{'31;1' if remark.severity == 'fail' else '33'}m{severity}\x1b[0m"
        field = f"{remark.field}: " if remark.field else ""
        print(f"{place}: {severity} {remark.rule}: {field}{remark.message}\n    mend: {remark.mend}")
    patterns = sum(len(table.patterns) for table in reading.contract.tables)
    faults = sum(remark.severity == "fail" for remark in remarks)
    if not patterns and not remarks:
        print("nothing is declared")
        return
    print(
        f"{_count(faults, 'fault')}, {_count(len(remarks) - faults, 'warning')}: {_count(patterns, 'pattern')} of "
        f"{_count(len(reading.contract.tables), 'table')} in {_count(len(reading.files), 'file')}"
    )


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
