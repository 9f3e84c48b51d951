"""What a day has one file of: descriptions of tables, and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import json

from analyzer.history.columns import SCHEMAS, Kind
from analyzer.render.show import show_finding, view_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.finding import Finding
    from analyzer.model.instant import Instant
    from analyzer.model.table import TableSnapshot

__all__ = ["finding_rows", "table_rows"]


def table_rows(start: Instant, snapshots: Iterable[TableSnapshot]) -> pa.Table:
    """Return a row a table, its description as JSON."""
    rows = [
        {
            "start": start,
            "account": one.target.account,
            "region": one.target.region,
            "table_name": one.target.table,
            "snapshot": json.encode(one).decode(),
        }
        for one in snapshots
    ]
    return _table(Kind.TABLES, rows)


def finding_rows(start: Instant, findings: Iterable[Finding]) -> pa.Table:
    """Return a row a finding, as it was last told, all of it as JSON; keys are as they are kept: tokens.

    The summary is for whoever reads the row: it names a key by its template, as a report does.
    """
    view = view_of("template")
    rows = [
        {
            "start": start,
            "account": one.account,
            "region": one.region,
            "table_name": one.table,
            "index_name": one.index,
            "id": one.id,
            "detector": one.detector,
            "severity": one.severity.value,
            "status": one.status.value,
            "pattern": one.pattern,
            "caller": one.caller,
            "summary": show_finding(one, view).summary,
            "first_seen": one.first_seen,
            "last_seen": one.last_seen,
            "cost_per_month_usd": one.cost_per_month_usd,
            "finding": json.encode(one).decode(),
        }
        for one in findings
    ]
    return _table(Kind.FINDINGS, rows)


def _table(kind: Kind, rows: list[dict[str, Any]]) -> pa.Table:
    schema = SCHEMAS[kind]
    arrays = [
        pa.array(
            [row[name] for row in rows],
            pa.int64() if pa.types.is_timestamp(schema.field(name).type) else schema.field(name).type,
        )
        for name in schema.names
    ]
    return pa.table(arrays, names=schema.names).cast(schema)
