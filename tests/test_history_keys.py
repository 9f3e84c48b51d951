"""No file of history holds a key in clear, whatever its kind: rows, labels and names."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from analyzer.history.columns import Kind
from analyzer.history.compaction import Keeping, tidy
from analyzer.history.names import FileName
from analyzer.model.table import TableDescription, TableSnapshot
from tests.support.evidence import CASES
from tests.test_history_keeper import DAY, MINUTE, Desk, T
from tests.test_watch import block, settle

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "canary-4711"
PARTITION = {"S": f"CASE#{CANARY}"}


def told(file: Path) -> str:
    """Everything that a file holds, unpacked."""
    table = pq.read_table(file, partitioning=None)
    return f"{file} {table.schema.metadata} {table.to_pylist()}"


def test_no_file_of_any_kind_holds_a_key_in_clear(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    common: dict[str, Any] = {"consumed": {"total": 6000.0}, "latency_ms": 5}
    load = {"key": {"PK": PARTITION, "SK": {"S": "META"}}}
    user = {"key": {"PK": {"S": f"USER#{CANARY}"}, "SK": {"S": "META"}}}
    bare = {"key": {"PK": {"S": CANARY}, "SK": {"S": f"{CANARY}#1"}}}
    listed = {"op": "Query", "key_condition": "PK = :p", "values": {":p": PARTITION}, "filter": f"owner = {CANARY}"}
    refused = {"error": {"code": "ProvisionedThroughputExceededException", "message": f"no {CANARY}"}}
    kinds = (load, user, bare, listed, load | refused, load | {"op": "PutItem"})
    for second in range(30):
        at = T + second * 1000
        for fields in kinds:
            desk.watch.take(block(1, at=at, **common | {"trace_id": f"t{second}"} | fields), at)
    judged = settle(desk.watch, T + 30_000)
    keeper = desk.new()
    assert desk.watch.bad_lines() == ()
    keeper.take(desk.watch.close_minutes(T + 3 * MINUTE))
    snapshot = TableSnapshot(target=CASES, table=TableDescription(name="cases"))
    for at in (T, T + 15 * MINUTE):
        keeper.look(at, judged.report.findings, [snapshot], desk.watch.calls)
    asyncio.run(keeper.write())
    before = [told(path) for path in (tmp_path / "history").rglob("*.parquet")]
    asyncio.run(tidy(desk.dataset, Keeping(), T + 3 * DAY))
    files = sorted((tmp_path / "history").rglob("*.parquet"))
    names = [FileName.parse(path.relative_to(tmp_path / "history").as_posix()) for path in files]
    assert {name.kind for name in names if name} == set(Kind)
    assert all(pq.read_metadata(path).num_rows for path in files)
    everything = "\n".join([*before, *map(told, files)])
    assert "hot-key" in everything
    assert "CASE#~" in everything
    assert CANARY not in everything
