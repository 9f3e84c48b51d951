from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.closing import Closed
from analyzer.config import load_settings
from analyzer.config_history import HistoryConfig
from analyzer.errors import ConfigError, UsageError
from analyzer.exporters.assemble import HistoryHealth
from analyzer.history.columns import Kind
from analyzer.history.compaction import Keeping
from analyzer.history.dataset import Dataset
from analyzer.history.files import HistoryError
from analyzer.history.folder import FolderBlobs
from analyzer.history_keeper import HistoryKeeper
from analyzer.history_opening import daemon_name, open_dataset, open_keeper
from analyzer.model.calls import CallBook
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.history import History
from analyzer.model.instant import parse_instant
from analyzer.model.shape import KeyPredicate
from analyzer.model.sight import GapReason, SourceName
from analyzer.model.table import TableDescription, TableSnapshot
from analyzer.model.window import Window
from analyzer.watch import Watch
from tests.support.calls import call
from tests.support.evidence import CASES, shape
from tests.support.scripted_aws import ScriptedAws
from tests.test_watch import Place, block

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


T = parse_instant("2026-11-30T09:00:00Z")
MINUTE, DAY = 60_000, 86_400_000
WINDOW = Window(T, T + 3_600_000)


class Log:
    """A logger that remembers."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def __getattr__(self, level: str) -> Any:
        return lambda event, **_: self.lines.append((level, event))


class Desk:
    """A keeper over a folder, and a watch whose minutes it is told of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = Log()
        self.watch = Watch(Place(folder).setup(), None)
        self.dataset = Dataset(FolderBlobs(folder / "history"), "d1")
        self.keeper = self.new()

    def new(self) -> HistoryKeeper:
        return HistoryKeeper(self.dataset, Keeping(), self.log, self.watch.setup.contract)

    def closed(self, requests: int, minute: int = 0) -> tuple[Closed, ...]:
        """Write so many requests into a minute, and return what closes two minutes after it."""
        at = T + minute * MINUTE
        self.watch.take(block(requests, at=at + 1000), at + 1000)
        return self.watch.close_minutes(at + 3 * MINUTE)

    def read(self, kind: Kind = Kind.REQUESTS) -> list[dict[str, Any]]:
        window = WINDOW if kind is Kind.REQUESTS else Window(T - T % DAY, T - T % DAY + DAY)
        found: list[dict[str, Any]] = asyncio.run(self.dataset.read_range(kind, window)).rows.to_pylist()
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_minute_that_has_closed_is_written_with_its_pattern_and_its_shape(desk: Desk) -> None:
    desk.keeper.take(desk.closed(10))
    asyncio.run(desk.keeper.write())
    (row,) = desk.read()
    assert (row["pattern"], row["kind_of_pattern"], row["caller"], row["requests"]) == (
        "load-case",
        "declared",
        "api",
        10,
    )
    (shape,) = desk.read(Kind.SHAPES)
    assert shape["fingerprint"] == row["fingerprint"]
    assert "GetItem cases" in shape["text"]


def test_keys_are_written_as_tokens_and_never_in_clear(desk: Desk) -> None:
    desk.keeper.take(desk.closed(10))
    asyncio.run(desk.keeper.write())
    keys = asyncio.run(desk.dataset.read_range(Kind.KEYS, WINDOW)).rows.to_pylist()
    assert keys
    assert all("~" in key["partition"] for key in keys)
    written = b"".join(path.read_bytes() for path in (desk.folder / "history").rglob("*.parquet"))
    assert b"CASE#7" not in written


def test_what_came_late_replaces_its_minute(desk: Desk) -> None:
    desk.keeper.take(desk.closed(10))
    desk.keeper.take(desk.closed(5))
    asyncio.run(desk.keeper.write())
    assert [row["requests"] for row in desk.read()] == [15]


def at_hour(desk: Desk, requests: int, later: int) -> None:
    """Write so many requests into the first minute, judge so many slices after an hour and more, and let go."""
    now = T + 70 * MINUTE + later * 10_000
    desk.watch.take(block(requests, at=T + 1000), now)
    desk.keeper.take(desk.watch.close_minutes(now))
    desk.watch.forget(now)
    while desk.keeper.unwritten:
        asyncio.run(desk.keeper.write())


def test_late_batches_that_hold_the_same_add_up(desk: Desk) -> None:
    desk.keeper.take(desk.closed(100))
    for later, requests in enumerate((0, 1, 1)):
        at_hour(desk, requests, later)
    assert sum(row["requests"] for row in desk.read()) == 102


def test_a_late_batch_counts_once_though_the_daemon_was_killed_before_its_next_checkpoint(desk: Desk) -> None:
    desk.keeper.take(desk.closed(100))
    at_hour(desk, 0, 0)
    saved = desk.watch.checkpoint(T + 71 * MINUTE, ())
    for later in (1, 2):
        at_hour(desk, later, later)
    assert sum(row["requests"] for row in desk.read()) == 103
    desk.watch, desk.keeper = Watch(Place(desk.folder).setup(), saved), desk.new()
    desk.keeper.known_late = desk.watch.closing.known_late
    at_hour(desk, 3, 3)  # the same records, in one batch now
    assert sum(row["requests"] for row in desk.read()) == 103


@pytest.mark.parametrize("tidies", [False, True])
def test_nothing_is_written_before_what_was_written_late_is_known_to_be_gone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, tidies: bool
) -> None:
    desk.keeper.known_late = 1
    desk.keeper.take(desk.closed(1))
    with monkeypatch.context() as patch:
        patch.setattr(desk.dataset, "forget_late", broken)
        asyncio.run(desk.keeper._tidy(T) if tidies else desk.keeper.write())
    assert desk.read() == []
    assert len(desk.log.lines) == 1
    asyncio.run(desk.keeper.write())
    assert desk.keeper.known_late is None
    assert len(desk.read()) == 1


def test_what_comes_late_after_a_reload_is_written(desk: Desk) -> None:
    for _ in range(3):
        desk.keeper.take(desk.closed(10))
    renamed = Place(desk.folder).setup((desk.folder / "contract.yaml").read_text().replace("load-case", "read-case"))
    desk.watch.adopt(renamed)
    desk.keeper.take(desk.closed(5))
    asyncio.run(desk.keeper.write())
    assert sum(row["requests"] for row in desk.read()) == 35


def test_a_reload_with_a_longer_window_doubles_nothing(desk: Desk) -> None:
    at_hour(desk, 0, -300)
    for minute in (30, 31, 50):
        desk.keeper.take(desk.closed(10, minute=minute))
    desk.watch.forget(T + 60 * MINUTE)
    desk.watch.adopt(msgspec.structs.replace(desk.watch.setup, window_ms=3 * 60 * MINUTE))
    for minute in range(95, 130, 5):
        desk.keeper.take(desk.watch.close_minutes(T + minute * MINUTE))
        desk.watch.forget(T + minute * MINUTE)
    while desk.keeper.unwritten:
        asyncio.run(desk.keeper.write())
    assert sum(row["requests"] for row in desk.read()) == 30


def test_the_other_half_of_a_minute_that_is_being_let_go_is_written(desk: Desk) -> None:
    desk.keeper.take(desk.closed(100))
    now = T + 60 * MINUTE + 30_000
    for later, requests in enumerate((0, 1, 1)):
        desk.watch.take(block(requests, at=T + 45_000), now)
        desk.keeper.take(desk.watch.close_minutes(now + later * 10_000))
        desk.watch.forget(now + later * 10_000)
    while desk.keeper.unwritten:
        asyncio.run(desk.keeper.write())
    assert sum(row["requests"] for row in desk.read()) == 102


def test_minutes_that_were_lost_by_a_restart_are_counted(desk: Desk) -> None:
    desk.keeper.take((), lost=[T, T + MINUTE])
    (hole,) = desk.keeper.gaps(T + 3 * MINUTE)
    assert (hole.start, hole.end) == (T, T + 2 * MINUTE)
    assert desk.keeper.health() == HistoryHealth(lost=2)


def test_a_contract_that_is_loaded_anew_names_what_is_written_from_then_on(desk: Desk) -> None:
    renamed = Place(desk.folder).setup((desk.folder / "contract.yaml").read_text().replace("load-case", "read-case"))
    desk.keeper.adopt(renamed.contract)
    desk.keeper.take(desk.closed(1))
    asyncio.run(desk.keeper.write())
    assert [row["pattern"] for row in desk.read()] == ["read-case"]


def test_a_full_disk_is_said_once_and_what_waits_is_written_when_there_is_room(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object, **__: object) -> None:
        raise HistoryError("cannot write: No space left on device")

    desk.keeper.take(desk.closed(10))
    with monkeypatch.context() as patch:
        patch.setattr(desk.dataset, "write_minutes", full)
        asyncio.run(desk.keeper.write())
        desk.keeper.take(desk.closed(1, minute=5))
        asyncio.run(desk.keeper.write())
    assert desk.log.lines == [("error", "history cannot be written")]
    asyncio.run(desk.keeper.write())
    assert sum(row["requests"] for row in desk.read()) == 11
    assert desk.log.lines[1:] == [("info", "mended")]


def test_what_fails_is_said_again_once_a_minute(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk.dataset, "write_minutes", broken)
    desk.keeper.take(desk.closed(10))
    asyncio.run(desk.keeper.write())
    for seconds in range(0, 130, 10):
        desk.keeper.look(T + seconds * 1000, [], [], lambda: CallBook(()))
    assert desk.log.lines == [("error", "history cannot be written")] * 3
    monkeypatch.undo()
    asyncio.run(desk.keeper.write())
    desk.keeper.look(T + 300_000, [], [], lambda: CallBook(()))
    assert desk.log.lines[3:] == [("info", "mended")]


def test_a_file_of_the_day_that_failed_is_written_the_next_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object, **__: object) -> None:
        raise HistoryError("cannot write: No space left on device")

    desk.keeper.take(desk.closed(10))
    with monkeypatch.context() as patch:
        patch.setattr(desk.dataset, "write_day", full)
        asyncio.run(desk.keeper.write())
    asyncio.run(desk.keeper.write())
    assert len(desk.read(Kind.SHAPES)) == 1


def test_minutes_beyond_the_bound_are_lost_and_counted(desk: Desk) -> None:
    closed = desk.closed(1)[:1]
    desk.keeper.take(closed * 130)
    assert desk.keeper.lost == 10


def emptied(desk: Desk, minute: int) -> Closed:
    """A minute that has closed without a request."""
    window = Window(T + minute * MINUTE, T + (minute + 1) * MINUTE)
    return Closed(desk.watch.digest.result(window), is_late=False)


def test_minutes_that_were_lost_are_a_hole_that_is_told_for_hours(desk: Desk) -> None:
    desk.keeper.take(emptied(desk, minute) for minute in (*range(5), 10, *range(20, 140)))
    lost = desk.keeper.gaps(T + 140 * MINUTE)
    assert [(gap.source, gap.start, gap.end) for gap in lost] == [
        (SourceName.HISTORY, T, T + 5 * MINUTE),
        (SourceName.HISTORY, T + 10 * MINUTE, T + 11 * MINUTE),
    ]
    assert lost[0].detail.startswith("5 minutes are missing in history from 2026-11-30T09:00:00.000Z")
    assert lost[1].detail.startswith("1 minute is missing")
    assert desk.keeper.lost == 6
    assert len(desk.keeper.gaps(T + 246 * MINUTE)) == 1
    assert desk.keeper.gaps(T + 300 * MINUTE) == ()


def test_what_cannot_be_written_is_a_gap_until_it_is(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object, **__: object) -> None:
        raise HistoryError("cannot write x: No space left on device")

    desk.keeper.take(desk.closed(10))
    with monkeypatch.context() as patch:
        patch.setattr(desk.dataset, "write_minutes", full)
        asyncio.run(desk.keeper.write())
    (gap,) = desk.keeper.gaps(T)
    assert (gap.source, gap.reason) == (SourceName.HISTORY, GapReason.LATE)
    assert gap.detail == "history cannot be written: cannot write x: No space left on device; 1 minute waits"
    asyncio.run(desk.keeper.write())
    assert desk.keeper.gaps(T) == ()


def written_at(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


def finding(name: str) -> Finding:
    sure = Confidence.CERTAIN
    return Finding(detector="hot-key", severity=Severity.HIGH, confidence=sure, table="cases", id=name, summary="")


async def live(keeper: HistoryKeeper, of_day: Callable[[], None], closed: tuple[Closed, ...], file: Path) -> None:
    """Let a keeper run until it has written a file."""
    running = asyncio.create_task(keeper.run(lambda: T))
    await asyncio.sleep(0)
    keeper.take(closed)
    before = written_at(file)
    of_day()
    async with asyncio.timeout(20):
        while written_at(file) == before:  # noqa: ASYNC110 -- nothing here is awaited
            await asyncio.sleep(0.01)
    running.cancel()


def test_a_day_has_its_findings_tables_and_pairs_and_a_restart_goes_on_with_them(desk: Desk) -> None:
    snapshot = TableSnapshot(target=CASES, table=TableDescription(name="cases"))
    user, order = (shape("GetItem", name, key=(KeyPredicate("PK", "=", f"{name}#<id>"),)) for name in ("USER", "ORDER"))
    calls = [call(of=of, trace="t", at=T / 1000 + 5 + n) for n, of in enumerate((user, order))]

    def looked(keeper: HistoryKeeper, name: str) -> None:
        for at in (T, T + 900_000):
            keeper.look(at, [finding(name)], [snapshot], lambda: CallBook(calls))

    # the last of its files, by the names of their kinds
    file = desk.folder / "history/kind=tables/date=2026-11-30/20261130-d1.parquet"
    for name in ("f1", "f2"):
        keeper = desk.new()
        asyncio.run(live(keeper, lambda k=keeper, n=name: looked(k, n), desk.closed(1), file))  # type: ignore[misc]
    assert [row["id"] for row in desk.read(Kind.FINDINGS)] == ["f1", "f2"]
    assert [row["table_name"] for row in desk.read(Kind.TABLES)] == ["cases"]
    (pair,) = desk.read(Kind.PAIRS)
    assert (pair["one_entity"], pair["other_entity"], pair["traces"]) == ("ORDER#<id>", "USER#<id>", 2)
    assert len(desk.read(Kind.SHAPES)) == 1


async def broken(*_: object, **__: object) -> None:
    raise HistoryError("cannot read: Connection reset by peer")


def a_day_before(desk: Desk) -> None:
    """Leave a file of today with one finding, as a process before would have."""
    desk.keeper.look(T, [finding("f1")], [], lambda: CallBook(()))
    asyncio.run(desk.keeper.write())


def test_a_file_of_the_day_that_cannot_be_read_is_not_replaced_before_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_day_before(desk)
    keeper = desk.new()
    with monkeypatch.context() as patch:
        patch.setattr(desk.dataset, "load", broken)
        with pytest.raises(TimeoutError):
            asyncio.run(asyncio.wait_for(keeper.run(lambda: T), 0.05))
        keeper.look(T, [finding("f2")], [], lambda: CallBook(()))
        asyncio.run(keeper.write())
    assert [row["id"] for row in desk.read(Kind.FINDINGS)] == ["f1"]
    assert ("error", "history of the day cannot be read") in desk.log.lines
    asyncio.run(keeper.write())
    assert [row["id"] for row in desk.read(Kind.FINDINGS)] == ["f1", "f2"]


def test_a_torn_file_of_the_day_is_set_aside_before_it_is_replaced(desk: Desk) -> None:
    a_day_before(desk)
    (file,) = (desk.folder / "history/kind=findings").rglob("*.parquet")
    file.write_bytes(b"PAR1")
    keeper = desk.new()
    keeper.look(T, [finding("f2")], [], lambda: CallBook(()))
    asyncio.run(keeper.write())
    assert [row["id"] for row in desk.read(Kind.FINDINGS)] == ["f2"]
    assert file.with_name(f".{file.name}.torn").read_bytes() == b"PAR1"
    assert desk.log.lines == [("error", "history set aside: it cannot be read")]
    assert keeper.health() == HistoryHealth(torn_files=1)


def of_day(desk: Desk, kind: Kind, days: int) -> list[dict[str, Any]]:
    """The rows of a day so many days after today."""
    start = T - T % DAY + days * DAY
    found: list[dict[str, Any]] = asyncio.run(
        desk.dataset.read_range(kind, Window(start, start + DAY))
    ).rows.to_pylist()
    return found


def pair_at(at: int) -> CallBook:
    user, order = (shape("GetItem", name, key=(KeyPredicate("PK", "=", f"{name}#<id>"),)) for name in ("USER", "ORDER"))
    return CallBook([call(of=of, trace="t", at=at / 1000) for of in (user, order)])


def test_midnight_writes_what_the_day_still_owed(desk: Desk) -> None:
    midnight = T - T % DAY + DAY
    book = pair_at(midnight - 30_000)
    desk.keeper.look(midnight - 120_000, [finding("f1")], [], lambda: book)
    asyncio.run(desk.keeper.write())
    desk.keeper.look(midnight - 60_000, [finding("f2")], [], lambda: book)
    desk.keeper.look(midnight + 10_000, [finding("f3")], [], lambda: book)
    asyncio.run(desk.keeper.write())
    assert [row["id"] for row in of_day(desk, Kind.FINDINGS, 0)] == ["f1", "f2"]
    assert [row["id"] for row in of_day(desk, Kind.FINDINGS, 1)] == ["f3"]
    assert [row["traces"] for row in of_day(desk, Kind.PAIRS, 0)] == [1]


def test_the_end_writes_what_the_day_still_owes(desk: Desk) -> None:
    desk.keeper.look(T, [finding("f1")], [], lambda: pair_at(T + 5000))
    asyncio.run(desk.keeper.write())
    desk.keeper.look(T + 10_000, [finding("f2")], [], lambda: pair_at(T + 5000))
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(desk.keeper.run(lambda: T), 0.2))
    assert [row["id"] for row in desk.read(Kind.FINDINGS)] == ["f1", "f2"]
    assert len(desk.read(Kind.PAIRS)) == 1


def test_an_end_that_follows_the_beginning_writes_what_was_noted(desk: Desk) -> None:
    desk.keeper.look(T, [finding("f1")], [], lambda: pair_at(T + 5000))
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(desk.keeper.run(lambda: T), 0.2))
    assert ([row["id"] for row in desk.read(Kind.FINDINGS)], desk.read(Kind.PAIRS)) == (["f1"], [])


def test_rows_that_wait_for_their_turn_keep_the_day_that_they_are_of(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    midnight, write_day = T - T % DAY + DAY, desk.dataset.write_day

    async def slowly(kind: Kind, start: int, *rest: Any) -> None:
        desk.keeper.look(midnight + 10_000, [finding("f2")], [], lambda: CallBook(()))
        await write_day(kind, start, *rest)

    snapshot = TableSnapshot(target=CASES, table=TableDescription(name="cases"))
    desk.keeper.look(midnight - 10_000, [finding("f1")], [snapshot], lambda: CallBook(()))
    monkeypatch.setattr(desk.dataset, "write_day", slowly)
    asyncio.run(desk.keeper.write())
    asyncio.run(desk.keeper.write())
    assert [len(of_day(desk, Kind.TABLES, day)) for day in (0, 1)] == [1, 0]
    assert [row["id"] for row in of_day(desk, Kind.FINDINGS, 1)] == ["f2"]
    assert {row["start"].day for row in of_day(desk, Kind.TABLES, 0)} == {30}


def test_shapes_of_a_minute_before_midnight_are_told_in_their_day(desk: Desk) -> None:
    closed = desk.closed(1, minute=15 * 60 - 1)
    desk.keeper.look(T - T % DAY + DAY + 120_000, [], [], lambda: CallBook(()))
    desk.keeper.take(closed)
    asyncio.run(desk.keeper.write())
    assert [len(of_day(desk, Kind.SHAPES, day)) for day in (0, 1)] == [1, 0]


def test_days_that_cannot_be_written_wait_and_the_oldest_of_too_many_is_lost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(desk.dataset, "write_day", broken)
        for day in range(10):
            desk.keeper.look(T + day * DAY, [finding(f"f{day}")], [], lambda: CallBook(()))
            asyncio.run(desk.keeper.write())
    assert desk.log.lines.count(("error", "history of a day is lost: it could not be written")) == 2
    asyncio.run(desk.keeper.write())
    assert [len(of_day(desk, Kind.FINDINGS, day)) for day in range(10)] == [0, 0, *[1] * 8]


def test_what_cannot_be_tidied_is_said_and_writing_goes_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.history_keeper.tidy", broken)
    file = desk.folder / "history/kind=shapes/date=2026-11-30/20261130-d1.parquet"
    asyncio.run(live(desk.keeper, lambda: None, desk.closed(1), file))
    assert desk.log.lines == [("error", "history cannot be tidied")]


def test_a_torn_file_is_set_aside_and_said(desk: Desk) -> None:
    torn = desk.folder / "history/kind=requests/date=2026-11-20/20261120T0900-d1.parquet"
    torn.parent.mkdir(parents=True)
    torn.write_bytes(b"PAR1")
    file = desk.folder / "history/kind=shapes/date=2026-11-30/20261130-d1.parquet"
    asyncio.run(live(desk.keeper, lambda: None, desk.closed(1), file))
    assert desk.log.lines == [("error", "history set aside: it cannot be read")]
    assert torn.with_name(f".{torn.name}.torn").exists()
    assert desk.keeper.health() == HistoryHealth(torn_files=1)


def test_who_stands_by_reads_and_writes_nothing_until_it_is_its_turn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(*_: object) -> History:
        return known

    known = History(spans={CASES: WINDOW})
    turns: dict[str, bool | None] = {"ours": None}
    desk.keeper.is_ours = lambda: turns["ours"]
    monkeypatch.setattr("analyzer.history_keeper.load_past", read)
    desk.keeper.take(desk.closed(10))
    assert len(desk.keeper.unwritten) == 1
    turns["ours"] = False
    desk.keeper.take(desk.closed(10, minute=1))
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(desk.keeper.run(lambda: T), 0.1))
    assert (desk.keeper.past, desk.read(), desk.keeper.gaps(T), desk.keeper.lost) == (known, [], (), 0)
    turns["ours"] = True
    desk.keeper.take(desk.closed(7, minute=5))
    asyncio.run(desk.keeper.write())
    assert [row["requests"] for row in desk.read()] == [7]


def test_what_waits_while_nobody_is_known_to_hold_the_lease_is_written_later(desk: Desk) -> None:
    turns: dict[str, bool | None] = {"ours": True}
    desk.keeper.is_ours = lambda: turns["ours"]
    desk.keeper.take(desk.closed(10))
    for ours in (None, False):
        turns["ours"] = ours
        desk.keeper.take(())
        asyncio.run(desk.keeper.write())
    assert (desk.read(), len(desk.keeper.unwritten)) == ([], 1)
    turns["ours"] = None  # it was given back a moment ago, since the daemon ends
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(desk.keeper.run(lambda: T), 0.3))
    assert [row["requests"] for row in desk.read()] == [10]


def test_a_lease_says_who_writes_to_a_bucket_and_nothing_of_a_folder(tmp_path: Path) -> None:
    contract, ours = Place(tmp_path).setup().contract, lambda: False
    for place, said in (("s3://bucket/history", False), (str(tmp_path / "history"), True)):
        config = HistoryConfig(place, None, "d1", MINUTE, MINUTE, MINUTE)
        keeper = open_keeper(config, tmp_path, contract, Log(), ScriptedAws({}), ours)
        assert keeper.is_ours() is said


async def test_two_daemons_of_one_name_in_a_folder_are_told_until_one_ends(tmp_path: Path) -> None:
    setup = Place(tmp_path).setup()
    config = HistoryConfig(str(tmp_path / "history"), None, "web", DAY, DAY, DAY)
    logs = [Log(), Log(), Log()]
    one, two, other = (
        open_keeper(of, tmp_path / "state", setup.contract, log, None)
        for of, log in zip((config, config, msgspec.structs.replace(config, daemon="api")), logs, strict=True)
    )
    for keeper in (one, two, other):
        await keeper.write()
    assert [log.lines for log in logs] == [[], [("error", "two daemons write history under one name")], []]
    (gap,) = two.gaps(T)
    assert (gap.source, "web there too" in gap.detail) == (SourceName.HISTORY, True)
    ended = asyncio.create_task(one.run(lambda: T))
    await asyncio.sleep(0)
    ended.cancel()
    await asyncio.wait([ended])
    await two.write()
    assert (two.gaps(T), logs[1].lines[-1]) == ((), ("info", "mended"))
    for keeper in (two, other):
        assert keeper.claim is not None
        keeper.claim.release()


def test_a_bucket_needs_a_way_to_aws(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="way to AWS"):
        open_dataset("s3://bucket/prefix")
    assert open_dataset("s3://bucket/prefix", ScriptedAws({}), daemon="d1").daemon == "d1"
    assert open_dataset(str(tmp_path)).daemon == ""


def test_a_daemon_keeps_the_name_that_was_made_up(tmp_path: Path) -> None:
    name = daemon_name(tmp_path / "state")
    assert len(name) == 8
    assert daemon_name(tmp_path / "state") == name


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"to": "s3://"}, "names no bucket"),
        ({"daemon": "My Daemon"}, "lower-case letters and digits"),
        ({"minutes_alone": "5m"}, "for an hour at least"),
        ({"minutes": "3d"}, "keep them for 4d at least"),
        ({"hours": "1d"}, "as long at least"),
    ],
)
def test_a_section_that_would_lose_history_is_refused(tmp_path: Path, section: dict[str, str], said: str) -> None:
    path = tmp_path / "dynascope.yaml"
    path.write_text(json.dumps({"request_log": {"files": ["log"]}, "history": section}))
    with pytest.raises(ConfigError, match=said):
        load_settings(path, {})


def test_a_folder_is_taken_from_that_of_the_file_and_a_bucket_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "dynascope.yaml"
    for to, found in (("history", str(tmp_path / "history")), ("s3://logs/h", "s3://logs/h")):
        path.write_text(json.dumps({"request_log": {"files": ["log"]}, "history": {"to": to}}))
        settings = load_settings(path, {})
        assert settings.history is not None
        config = settings.history.config()
        assert (config.to, config.needs_aws) == (found, to != "history")
