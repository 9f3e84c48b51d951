"""Tables as they exist, for `check --tables`: from a file, or asked of AWS."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from analyzer.errors import CollectError, ContractError, Fault
from collectors.table_catalog.parse import parse_table

if TYPE_CHECKING:
    from analyzer.contract.model import Contract
    from analyzer.interfaces import AwsCaller
    from analyzer.model.table import TableDescription

__all__ = ["ask_tables", "read_tables"]

_MEND = "give the output of `aws dynamodb describe-table`"


def read_tables(text: str, file: str) -> tuple[TableDescription, ...]:
    """Read DescribeTable output: one, a list, or JSON Lines, with or without `Table` around; raises ContractError."""
    try:
        documents = [json.loads(text)]
    except ValueError:
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise ContractError((Fault(file, None, "", "this is no JSON", _MEND),)) from error
    listed = [one for document in documents for one in (document if isinstance(document, list) else [document])]
    return tuple(_described(table, file) for one in listed if (table := _table_of(one)) is not None)


def _table_of(one: Any) -> Any:  # noqa: ANN401 (a document is what its author wrote)
    """Return the `Table` object; a recording's line of another kind holds none."""
    if isinstance(one, dict):
        if "kind" in one:
            return one.get("table") if one["kind"] == "table" else None
        return one.get("Table", one)
    return one


def _described(table: Any, file: str) -> TableDescription:  # noqa: ANN401 (same)
    try:
        described = parse_table(table)
    except ValueError as error:
        raise ContractError((Fault(file, None, "", f"this describes no table: {error}", _MEND),)) from error
    if not described.partition_key:
        raise ContractError((Fault(file, None, described.name, "the table has no KeySchema", _MEND),))
    return described


async def ask_tables(contract: Contract, aws: AwsCaller, region: str) -> tuple[Contract, tuple[TableDescription, ...]]:
    """Describe the tables that a contract names in one region; raises CollectError where one cannot be looked at.

    The contract comes back without the tables of other regions. A table that is not there is no failure: that is what
    the comparison tells.
    """
    from analyzer.model.sight import GapReason  # noqa: PLC0415 (light start)
    from analyzer.model.target import Target  # noqa: PLC0415 (light start)
    from analyzer.model.window import Window  # noqa: PLC0415 (light start)
    from collectors.asking import Spot  # noqa: PLC0415 (light start)
    from collectors.table_catalog.collector import TableCatalog  # noqa: PLC0415 (light start)
    from collectors.table_catalog.config import TableCatalogConfig  # noqa: PLC0415 (light start)

    here = tuple(table for table in contract.tables if table.where.takes(Target(None, region, table.name)))
    names = tuple(dict.fromkeys(table.name for table in here))
    config = TableCatalogConfig(include=names, with_ttl=False)
    batch = await TableCatalog(aws, config, Spot(region)).describe(Window(0, 0))
    for gap in batch.gaps:
        if gap.reason is not GapReason.NOT_ENABLED:
            raise CollectError(gap.detail, hint=gap.hint or "try it with the AWS command line")
    return replace(contract, tables=here), tuple(snapshot.table for snapshot in batch.tables)
