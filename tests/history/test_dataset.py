from __future__ import annotations

import asyncio
import errno
import os
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analyzer.errors import ThrottledError
from analyzer.history.columns import SCHEMAS, Kind
from analyzer.history.compaction import Keeping, tidy
from analyzer.history.dataset import Dataset
from analyzer.history.files import SCHEMA_VERSION, HistoryError, Label, NewerHistoryError, TornError, decode, encode
from analyzer.history.folder import FolderBlobs
from analyzer.history.merging import latency_matrix, merged
from analyzer.history.minutes import Minute, key_rows, request_rows
from analyzer.history.names import FileName
from analyzer.model.counts import HeavyKey, HeavyKeys, KeyLevel, KeyName
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.instant import parse_instant
from analyzer.model.traffic import Latency
from analyzer.model.window import Window
from tests.support.evidence import CASES, GSI2, row, shape

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path
    from typing import Any, TypeVar

    R = TypeVar("R")

T = parse_instant("2026-11-30T09:00:00Z")
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
WINDOW = Window(T, T + 2 * HOUR)
LATENCY = Latency((0, 60, 0, 40) + (0,) * 37, 100.0, 100)


def run(work: Coroutine[Any, Any, R]) -> R:
    return asyncio.run(work)


def key(units: int = 600, name: str = "CASE#~k1", **fields: Any) -> HeavyKeys:
    heavy = HeavyKey(KeyName(KeyLevel.PARTITION, name), units, units + 20, templates=("CASE#<id>",), **fields)
    return HeavyKeys(CASES, Direction.READ, 4000, 0, (heavy,), 100)


def minute(number: int = 0, requests: float = 100, keys: tuple[HeavyKeys, ...] = (), caller: str = "api") -> Minute:
    start = T + number * MINUTE
    rows = {CASES: [row(requests=requests, read_units=requests / 2, latency=LATENCY, caller=caller)], GSI2: []}
    return Minute(start, request_rows(start, rows), key_rows(start, keys))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "history"


@pytest.fixture
def dataset(folder: Path) -> Dataset:
    return Dataset(FolderBlobs(folder), "d1")


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def total(dataset: Dataset, kind: Kind = Kind.HOURS, window: Window = WINDOW) -> float:
    return float(np.sum(run(dataset.read_range(kind, window)).rows["requests"].to_numpy()))


def test_minutes_are_read_as_they_were_written(dataset: Dataset, folder: Path) -> None:
    run(dataset.write_minutes([minute(0), minute(1)]))
    assert files(folder) == [
        "kind=requests/date=2026-11-30/20261130T0900-d1.parquet",
        "kind=requests/date=2026-11-30/20261130T0901-d1.parquet",
    ]
    reading = run(dataset.read_range(Kind.REQUESTS, WINDOW))
    first = reading.rows.to_pylist()[0]
    assert (first["table_name"], first["pattern"], first["caller"], first["requests"]) == (
        "cases",
        "load-case",
        "api",
        100,
    )
    assert first["latency_ms"] == [(pytest.approx(0.707), 60), (pytest.approx(1.414), 40)]
    assert reading.covered == (Window(T, T + 2 * MINUTE),)
    assert reading.torn == ()


def test_a_counted_row_has_no_bounds_and_an_estimated_one_has() -> None:
    rows = {CASES: [row(requests=5), row(shape("Query"), requests=Estimate(100, 80, 130), observed=10)]}
    counted, estimated = request_rows(T, rows).to_pylist()
    assert (counted["requests_low"], counted["requests_high"], counted["observed"]) == (None, None, None)
    assert (estimated["requests_low"], estimated["requests_high"], estimated["observed"]) == (80, 130, 10)


def test_a_minute_that_is_written_again_counts_once(dataset: Dataset) -> None:
    run(dataset.write_minutes([minute(0)]))
    run(dataset.write_minutes([minute(0, requests=120)]))
    assert total(dataset) == 120


def test_what_comes_late_stands_beside_its_minute_and_merges_on_reading(dataset: Dataset) -> None:
    run(dataset.write_minutes([minute(0)]))
    run(dataset.write_minutes([minute(0, requests=7)], late=True))
    rows = run(dataset.read_range(Kind.REQUESTS, WINDOW)).rows
    assert len(rows) == 2
    assert merged(rows)["requests"].to_pylist() == [107]
    assert latency_matrix(merged(rows)).sum() == 200


def test_two_late_batches_that_hold_the_same_add_up_and_one_that_is_tried_again_counts_once(dataset: Dataset) -> None:
    run(dataset.write_minutes([minute(0)]))
    for number in (1, 2, 2):
        run(dataset.write_minutes([minute(0, requests=1)], late=True, number=number))
    assert total(dataset) == 102


def test_a_late_batch_that_a_checkpoint_does_not_know_goes_and_others_stay(dataset: Dataset, folder: Path) -> None:
    other = Dataset(FolderBlobs(folder), "d2")
    for writer, number in ((dataset, 3), (dataset, 4), (other, 5)):
        run(writer.write_minutes([minute(0, requests=number, keys=(key(),))], late=True, number=number))
    run(dataset.forget_late(3))
    assert total(dataset) == 8
    assert len(files(folder)) == 4


def test_two_daemons_write_side_by_side(dataset: Dataset, folder: Path) -> None:
    other = Dataset(FolderBlobs(folder), "d2")
    run(dataset.write_minutes([minute(0)]))
    run(other.write_minutes([minute(0, caller="batch")]))
    assert total(dataset) == 200
    assert len(run(dataset.read_range(Kind.HOURS, WINDOW)).rows) == 2


def test_old_minutes_become_an_hour_and_no_number_changes(dataset: Dataset, folder: Path) -> None:
    run(dataset.write_minutes([minute(n, keys=(key(peak_second=90, seconds_over=2),)) for n in range(70)]))
    before = [run(dataset.read_range(kind, WINDOW)) for kind in (Kind.HOURS, Kind.KEY_HOURS)]
    tidied = run(tidy(dataset, Keeping(), T + 2 * HOUR + 2 * DAY))
    assert (tidied.united, tidied.expired, tidied.torn) == (4, 0, ())
    assert len(files(folder)) == 8
    after = [run(dataset.read_range(kind, WINDOW)) for kind in (Kind.HOURS, Kind.KEY_HOURS)]
    assert [one.rows.equals(other.rows) for one, other in zip(before, after, strict=True)] == [True, True]
    assert [one.covered for one in after] == [(Window(T, T + 70 * MINUTE),)] * 2
    assert len(run(dataset.read_range(Kind.REQUESTS, WINDOW)).rows) == 70


def test_an_hour_tells_its_highest_minute(dataset: Dataset) -> None:
    run(dataset.write_minutes([minute(0, requests=10), minute(1, requests=90)]))
    (hour,) = run(dataset.read_range(Kind.HOURS, WINDOW)).rows.to_pylist()
    assert (hour["requests"], hour["peak_requests"], hour["peak_read_units"], hour["minutes"]) == (100, 90, 45, 2)


def test_some_columns_are_read_as_they_lie_whether_minutes_became_hours_or_not(dataset: Dataset) -> None:
    run(dataset.write_minutes([minute(n) for n in range(70)]))
    run(tidy(dataset, Keeping(minutes_alone_ms=0), T + HOUR))
    run(dataset.write_minutes([minute(1, requests=7)], late=True))
    reading = run(dataset.read_as_it_lies(Kind.HOURS, WINDOW, ["start", "requests"]))
    assert reading.rows.column_names == ["start", "requests"]
    assert sum(reading.rows["requests"].to_pylist()) == 7007 == total(dataset)
    assert (reading.covered, reading.torn) == ((Window(T, T + 70 * MINUTE),), ())


def written_with(rows: pa.Table) -> bytes:
    """Return a file of rows as they are, labelled as one of ours."""
    content = encode(Kind.REQUESTS, minute(0).requests, Label("d1", (T,)))
    told = pq.ParquetFile(pa.BufferReader(content)).schema_arrow.metadata
    sink = pa.BufferOutputStream()
    pq.write_table(rows.replace_schema_metadata(told), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def test_a_column_that_an_older_file_has_not_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    content = written_with(minute(0).requests.drop_columns(["caller"]))
    with pytest.raises(TornError, match="x lacks caller, which every file of its version has"):
        decode(Kind.REQUESTS, content, "x", ["caller", "requests"])
    monkeypatch.setattr("analyzer.history.files.SCHEMA_VERSION", 2)
    found, _ = decode(Kind.REQUESTS, content, "x", ["caller", "requests"])
    assert found.to_pylist() == [{"caller": None, "requests": 100}]


@pytest.mark.parametrize("wild", [float("inf"), float("nan"), -1.0])
def test_numbers_that_are_none_make_a_file_torn(wild: float) -> None:
    rows = minute(0).requests
    place = rows.column_names.index("read_units")
    spoilt = rows.set_column(
        place, rows.schema.field(place), pa.array([wild] * len(rows), rows.schema.field(place).type)
    )
    with pytest.raises(TornError, match="x holds numbers that are none in read_units"):
        decode(Kind.REQUESTS, written_with(spoilt), "x")


def test_hours_become_days_and_what_is_too_old_goes(dataset: Dataset, folder: Path) -> None:
    run(dataset.write_minutes([minute(n) for n in (0, 60)]))
    run(tidy(dataset, Keeping(), T + 3 * DAY))
    for day in (9, 10):  # it goes on: a clock that is wrong lets nothing go
        run(dataset.write_minutes([minute(day * 1440)]))
    run(tidy(dataset, Keeping(), T + 10 * DAY))
    assert files(folder)[0] == "kind=hours/date=2026-11-30/20261130-d1.parquet"
    assert total(dataset) == 200
    for day in (401, 402):
        run(dataset.write_minutes([minute(day * 1440)]))
    run(tidy(dataset, Keeping(), T + 402 * DAY))
    assert total(dataset) == 0
    assert not (folder / "kind=hours/date=2026-11-30").exists()


def test_minutes_that_came_after_their_hour_was_made_join_it(dataset: Dataset) -> None:
    run(dataset.write_minutes([minute(0)]))
    run(tidy(dataset, Keeping(), T + 3 * DAY))
    run(dataset.write_minutes([minute(0, requests=7)], late=True))
    assert total(dataset) == 107
    assert run(tidy(dataset, Keeping(), T + 3 * DAY)).united == 1
    assert total(dataset) == 107
    assert total(dataset, Kind.REQUESTS) == 107


class KilledError(Exception):
    """The process is gone."""


@pytest.mark.parametrize("steps", range(1, 6))
def test_whoever_is_killed_while_hours_are_made_leaves_nothing_that_counts_twice(
    dataset: Dataset, folder: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    run(dataset.write_minutes([minute(n) for n in range(3)]))
    left = [steps]

    def counted(step: Any) -> Any:
        async def once(*given: Any) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise KilledError
            await step(*given)

        return once

    with monkeypatch.context() as patch:
        patch.setattr(dataset, "put", counted(dataset.put))
        patch.setattr(dataset, "drop", counted(dataset.drop))
        with pytest.raises(KilledError):
            run(tidy(dataset, Keeping(), T + 3 * DAY))
    assert (total(dataset), total(dataset, Kind.REQUESTS)) == (300, 300)
    run(tidy(dataset, Keeping(), T + 3 * DAY))
    assert (total(dataset), total(dataset, Kind.REQUESTS)) == (300, 300)
    assert len(files(folder)) == 2


def test_minutes_of_a_daemon_that_went_for_good_are_made_hours_later(dataset: Dataset, folder: Path) -> None:
    gone = Dataset(FolderBlobs(folder), "d2")
    run(gone.write_minutes([minute(0)]))
    assert run(tidy(dataset, Keeping(), T + 3 * DAY)).united == 0
    assert run(tidy(dataset, Keeping(), T + 5 * DAY)).united == 1
    assert total(dataset) == 100


def test_a_torn_file_costs_its_rows_and_is_counted(dataset: Dataset, folder: Path) -> None:
    run(dataset.write_minutes([minute(0), minute(1)]))
    torn = folder / "kind=requests/date=2026-11-30/20261130T0900-d1.parquet"
    torn.write_bytes(torn.read_bytes()[:-40])
    for kind in (Kind.REQUESTS, Kind.HOURS):
        reading = run(dataset.read_range(kind, WINDOW))
        assert reading.torn == (torn.relative_to(folder).as_posix(),)
        assert reading.covered == (Window(T + MINUTE, T + 2 * MINUTE),)
    assert run(tidy(dataset, Keeping(), T + 3 * DAY)).torn == (torn.relative_to(folder).as_posix(),)
    assert torn.with_name(f".{torn.name}.torn").exists()
    assert total(dataset) == 100


def test_a_file_of_another_kind_is_torn(dataset: Dataset) -> None:
    told = {b"dynascope.history": b"1", b"dynascope.label": b'{"daemon":"","covers":[],"replaces":[]}'}
    rows = pa.table({"start": pa.array(["never"])}).replace_schema_metadata(told)
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    run(dataset.put(FileName(Kind.REQUESTS, T, MINUTE, "d1"), sink.getvalue().to_pybytes()))
    assert len(run(dataset.read_range(Kind.REQUESTS, WINDOW)).torn) == 1


def test_a_newer_file_is_refused_by_name(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.history.files.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    run(dataset.write_minutes([minute(0)]))
    monkeypatch.undo()
    with pytest.raises(NewerHistoryError, match=r"20261130T0900-d1\.parquet has schema 2"):
        run(dataset.read_range(Kind.REQUESTS, WINDOW))


def test_an_older_file_is_brought_to_the_present(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = minute(0).requests
    older = pa.schema([field for field in SCHEMAS[Kind.REQUESTS] if field.name != "resumed"])
    with monkeypatch.context() as patch:
        patch.setitem(SCHEMAS, Kind.REQUESTS, older)
        file = encode(Kind.REQUESTS, rows, Label("d1", (T,)))
    run(dataset.put(FileName(Kind.REQUESTS, T, MINUTE, "d1"), file))
    monkeypatch.setattr("analyzer.history.files.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    (found,) = run(dataset.read_range(Kind.REQUESTS, WINDOW)).rows.to_pylist()
    assert (found["requests"], found["resumed"]) == (100, None)
    assert total(dataset) == 100


def test_a_full_disk_is_said_and_leaves_no_half_file(
    dataset: Dataset, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("analyzer.history.folder.os.fsync", full)
    with pytest.raises(HistoryError, match="No space left on device"):
        run(dataset.write_minutes([minute(0)]))
    assert files(folder) == []


@pytest.mark.parametrize("operation", ["list", "read", "write", "delete"])
def test_what_a_store_cannot_do_is_an_error_of_history(operation: str) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            async def asked(*_: object) -> Any:
                if name == operation:
                    raise ThrottledError("S3 asked to slow down", hint="wait")
                return ("kind=requests/date=2026-11-30/20261130T0900-d1.parquet",) if name == "list" else b""

            return asked

    broken = Dataset(Broken(), "d1")
    name = FileName(Kind.REQUESTS, T, MINUTE, "d1")
    work = {
        "list": broken.read_range(Kind.REQUESTS, WINDOW),
        "read": broken.load(name),
        "write": broken.put(name, b""),
        "delete": broken.drop(name),
    }
    with pytest.raises(HistoryError, match="slow down"):
        run(work.pop(operation))
    if operation in {"read", "write"}:
        with pytest.raises(HistoryError, match="aside"):
            run(broken.set_aside(name))
    for other in work.values():
        other.close()


def test_the_name_of_every_kind_is_read_back() -> None:
    for kind in Kind:
        name = FileName(kind, T, MINUTE, "d1")
        assert FileName.parse(str(name)) == name


def test_names_that_are_not_ours_are_left_alone(dataset: Dataset, folder: Path) -> None:
    run(dataset.write_minutes([minute(0)]))
    place = folder / "kind=requests/date=2026-11-30"
    for name in ("notes.parquet", "20261399T0900-d1.parquet", ".20261130T0901-d1.parquet.77.part"):
        (place / name).write_bytes(b"not ours")
    assert total(dataset) == 100
    assert FileName.parse("kind=weather/date=2026-11-30/20261130T0900-d1.parquet") is None
    assert run(tidy(dataset, Keeping(), T + 10 * DAY)).torn == ()
    assert len(files(folder)) == 5


def test_names_come_back_as_they_are_written() -> None:
    for name in (
        FileName(Kind.REQUESTS, T, MINUTE, "d1", "0a1b2c3d"),
        FileName(Kind.HOURS, T, HOUR, "a" * 32),
        FileName(Kind.SHAPES, T - 9 * HOUR, DAY, "x"),
    ):
        assert FileName.parse(str(name)) == name


def test_only_so_many_keys_of_a_minute_are_told_and_templates_alone_are_none() -> None:
    many = [key(units=n, name=f"CASE#~k{n}") for n in range(600)]
    rows = key_rows(T, [*many, HeavyKeys(CASES, Direction.READ, 10, 0, many[0].keys, 1, real=False)])
    assert len(rows) == 500
    assert rows["units_low"].to_pylist()[0] == 299.5
    assert rows["units"].to_pylist()[0] == 304.5


def test_keys_without_seconds_have_no_peak(dataset: Dataset) -> None:
    rung = key(tracked_since=T, peak_second=40, seconds_over=0)
    run(dataset.write_minutes([minute(0, keys=(key(),)), minute(1, keys=(rung,))]))
    (hour,) = run(dataset.read_range(Kind.KEY_HOURS, WINDOW)).rows.to_pylist()
    assert (hour["units_low"], hour["peak_second"], hour["seconds_over"], hour["minutes"]) == (600, 20, 0, 2)
    assert hour["tracked_since"] is not None
    run(dataset.write_minutes([minute(0, keys=(key(),)), minute(1, keys=(key(),))]))
    (hour,) = run(dataset.read_range(Kind.KEY_HOURS, WINDOW)).rows.to_pylist()
    assert (hour["peak_second"], hour["seconds_over"], hour["tracked_since"]) == (None, None, None)
