"""dynascope check."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from analyzer.cli.calling import ProfileOption, RegionOption, with_aws
from analyzer.cli.output import is_colorful, so_many, write
from analyzer.errors import ContractError, Fault, UsageError
from analyzer.knowledge.limits import GSIS_A_TABLE, LSIS_A_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.contract.lint import Remark
    from analyzer.contract.load import Reading

__all__ = ["check"]


_LIVE = "live"
"""Stands for the tables that AWS has; a file of that name is `./live`."""


class CheckFormat(StrEnum):
    """How remarks are printed."""

    TEXT = "text"
    JSON = "json"


def check(  # noqa: PLR0913, PLR0917 -- one parameter an option
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="contract files, or folders that hold some")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="fail every Scan, declared operational or not")] = False,
    output: Annotated[CheckFormat, typer.Option("--format", help="how to print")] = CheckFormat.TEXT,
    tables: Annotated[
        str | None,
        typer.Option("--tables", metavar="FILE|live", help="DescribeTable output to compare with; live asks AWS"),
    ] = None,
    region: RegionOption = None,
    profile: ProfileOption = None,
    max_gsis: Annotated[int, typer.Option("--max-gsis", help="GSIs a table may have; AWS raises it on request")] = (
        GSIS_A_TABLE
    ),
    max_lsis: Annotated[int, typer.Option("--max-lsis", help="LSIs a table may have")] = LSIS_A_TABLE,
    sampler_schema: Annotated[
        Path | None,
        typer.Option("--sampler-schema", metavar="FILE", help="write there what the sampler takes as schema="),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="print the JSON Schema of a contract and stop")] = False,
) -> None:
    """Judge declared access patterns before they meet traffic.

    It reads files, and calls nobody but AWS where --tables live asks for it (dynamodb:DescribeTable, of names with a
    star dynamodb:ListTables too); it writes nothing but what --sampler-schema asks for.

    \b
      dynascope check contract.yaml
      dynascope check contract.yaml --sampler-schema schema.json
      dynascope check contracts/ --strict --tables live --region eu-west-1

    Exit 0 without faults (warnings do not count), 1 with faults of form or design, 2 on wrong usage, 3 where AWS could
    not be asked.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    if schema:
        from analyzer.contract.form import json_schema  # noqa: PLC0415 (light start)

        write(json.dumps(json_schema(), indent=2) + "\n")
        return
    if not paths:
        raise UsageError("check needs a PATH: a contract file, or a folder that holds some")
    for path in [*paths, *([] if tables in {None, _LIVE} else [Path(str(tables))])]:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
    from analyzer.contract.lint import lint  # noqa: PLC0415 (light start)
    from analyzer.contract.load import read_contract  # noqa: PLC0415 (light start)
    from analyzer.contract.scope import Limits  # noqa: PLC0415 (light start)

    reading = _without_configurations(read_contract(paths), frozenset(map(str, paths)))
    today = datetime.now(tz=UTC).date().isoformat()
    remarks = [*_form(reading), *lint(reading.contract, Limits(max_gsis, max_lsis, strict=strict, today=today))]
    if tables is not None:
        remarks += _compared(reading, tables, region, profile)
    remarks.sort(key=lambda r: (r.file, r.line or 0, r.severity))
    write(_as_json(reading, remarks) if output is CheckFormat.JSON else _as_text(reading, remarks))
    for file in reading.ignored if output is CheckFormat.TEXT else ():
        sys.stderr.write(f"dynascope: passed over {file}: it declares no access pattern\n")
    if sampler_schema is not None:
        _write_schema(reading, sampler_schema)
    if any(remark.severity == "fail" for remark in remarks):
        raise typer.Exit(1)


def _without_configurations(reading: Reading, named: frozenset[str]) -> Reading:
    """Tell a configuration by its keys: one that was named is one fault, one that was found is passed over."""
    if not reading.faults:
        return reading
    from analyzer.config import Settings  # noqa: PLC0415 (only for what is faulty)

    keys = {str(field.alias or name) for name, field in Settings.model_fields.items()} - {"version"}
    declaring = {table.file for table in reading.contract.tables}
    found = {fault.file for fault in reading.faults if fault.field in keys} - declaring
    faults = [fault for fault in reading.faults if fault.file not in found]
    for file in sorted(found & named):
        mend = f"check it with `dynascope config --config {file}`, and name the contract that it names here"
        faults.append(Fault(file, None, "", "this is a configuration of dynascope, not a contract", mend))
    return msgspec.structs.replace(
        reading,
        faults=tuple(faults),
        files=tuple(file for file in reading.files if file not in found - named),
        ignored=(*reading.ignored, *sorted(found - named)),
    )


def _write_schema(reading: Reading, file: Path) -> None:
    """Write what samplers need, but nothing by halves: a contract that cannot be read whole lacks keys."""
    from analyzer.contract.sampler import sampler_schema  # noqa: PLC0415 (light start)

    if reading.faults:
        sys.stderr.write(f"dynascope: {file} is not written: mend the faults of form first\n")
        return
    text = json.dumps(sampler_schema(reading.contract), indent=2, ensure_ascii=False)
    file.write_text(f"{text}\n", encoding="utf-8")
    sys.stderr.write(f"dynascope: {file} is written: give it to the sampler as schema=\n")


def _form(reading: Reading) -> list[Remark]:
    from analyzer.contract.lint import Remark, unknown_detectors  # noqa: PLC0415 (light start)

    faults = list(reading.faults)
    if any(pattern.allow for table in reading.contract.tables for pattern in table.patterns):
        from analyzer.detectors import DETECTORS  # noqa: PLC0415 (heavy)

        faults += unknown_detectors(reading.contract, [str(detector.name) for detector in DETECTORS])
    return [Remark("fail", f.field, f.file, f.line, f.message, f.mend, "form", "") for f in faults]


def _compared(reading: Reading, tables: str, region: str | None, profile: str | None) -> Sequence[Remark]:
    from analyzer.cli.described import ask_tables, read_tables  # noqa: PLC0415 (light start)
    from analyzer.contract.catalog import compare  # noqa: PLC0415 (light start)

    if tables == _LIVE:
        contract, described = with_aws(partial(ask_tables, reading.contract), region, profile)
        return compare(contract, described)
    try:
        return compare(reading.contract, read_tables(Path(tables).read_text(encoding="utf-8"), tables))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{tables}: it cannot be read: {error}") from error
    except ContractError as error:
        raise UsageError(str(error)) from error


def _as_json(reading: Reading, remarks: Sequence[Remark]) -> str:
    shown: dict[str, Any] = {
        "v": 1,
        "files": list(reading.files),
        "ignored": list(reading.ignored),
        "tables": len(reading.contract.tables),
        "patterns": sum(len(table.patterns) for table in reading.contract.tables),
    }
    for name, severity in (("faults", "fail"), ("warnings", "warn")):
        shown[name] = [_remark(remark) for remark in remarks if remark.severity == severity]
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def _remark(remark: Remark) -> dict[str, Any]:
    fields = ("rule", "severity", "file", "line", "table", "field", "message", "mend")
    return {name: getattr(remark, name) for name in fields}


def _as_text(reading: Reading, remarks: Sequence[Remark]) -> str:
    return "".join(f"{line}\n" for line in (*_lines(remarks), _summary(reading, remarks)))


def _lines(remarks: Sequence[Remark]) -> Iterator[str]:
    is_bright = is_colorful()
    for remark in remarks:
        place = remark.file if remark.line is None else f"{remark.file}:{remark.line}"
        severity = f"{remark.severity:4}"
        if is_bright:
            severity = f"\x1b[{'31;1' if remark.severity == 'fail' else '33'}m{severity}\x1b[0m"
        field = f"{remark.field}: " if remark.field else ""
        yield f"{place}: {severity} {remark.rule}: {field}{remark.message}\n    mend: {remark.mend}"


def _summary(reading: Reading, remarks: Sequence[Remark]) -> str:
    patterns = sum(len(table.patterns) for table in reading.contract.tables)
    if not patterns and not remarks:
        looked_at = len(reading.files) + len(reading.ignored)
        return f"nothing is declared: {so_many(looked_at, 'file')} looked at, and no pattern in them"
    faults = sum(remark.severity == "fail" for remark in remarks)
    return (
        f"{so_many(faults, 'fault')}, {so_many(len(remarks) - faults, 'warning')}: {so_many(patterns, 'pattern')} of "
        f"{so_many(len(reading.contract.tables), 'table')} in {so_many(len(reading.files), 'file')}"
    )
