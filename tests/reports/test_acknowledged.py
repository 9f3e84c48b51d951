from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from analyzer.errors import UnreachableError, UsageError
from analyzer.history.files import HistoryError
from analyzer.history.folder import FolderBlobs
from analyzer.model.finding import Severity
from analyzer.reports.acknowledged import (
    Acknowledgement,
    acknowledge,
    apart,
    has_moved,
    load_acknowledged,
    take_back,
)
from analyzer.reports.week_values import Item, ItemKind

if TYPE_CHECKING:
    from pathlib import Path

WEEK = ("2026-W48", 1_000)


def item(identity: str = "a", /, **measures: float) -> Item:
    severity = Severity.MEDIUM
    return Item(id=identity, kind=ItemKind.MOVED, severity=severity, summary="it moved", table="t", measures=measures)


def said(**measures: float) -> Acknowledgement:
    return Acknowledgement(id="a", at=1, week="2026-W47", reason="known", measures=measures)


@pytest.mark.parametrize(
    ("before", "now", "moved"),
    [
        ({"units": 2.0}, {"units": 2.9}, False),
        ({"units": 2.0}, {"units": 3.0}, True),
        ({"units": 2.0}, {"units": 1.4}, False),
        ({"units": 2.0}, {"units": 1.3}, True),
        ({"units": 2.0}, {"units": 2.0, "p95": 9.0}, True),
        ({"units": 2.0, "p95": 9.0}, {"units": 2.0}, False),
        ({"severity": 1.0}, {"severity": 2.0}, True),
        ({"severity": 2.0}, {"severity": 1.0}, False),
        ({"units": 0.0}, {"units": 0.0}, False),
        ({"units": 0.0}, {"units": 1.0}, True),
        ({}, {}, False),
    ],
)
def test_an_item_is_news_again_when_it_moved_by_another_half(
    *, before: dict[str, float], now: dict[str, float], moved: bool
) -> None:
    assert has_moved(said(**before), item(**now)) is moved


def test_what_is_known_stands_apart_with_who_said_why() -> None:
    news, quiet = apart([item(units=2.0), item("b")], [said(units=2.0)])
    assert [one.id for one in news] == ["b"]
    assert [(one.id, one.reason, one.acknowledged_at) for one in quiet] == [("a", "known", 1)]


def test_what_is_kept_is_read_back_until_it_is_taken_back(tmp_path: Path) -> None:
    store = FolderBlobs(tmp_path)
    asyncio.run(acknowledge(store, [item(units=2.0)], "a", ("until Friday", "ann"), WEEK))
    ((kept,), torn) = asyncio.run(load_acknowledged(store))
    assert (kept.id, kept.week, kept.reason, kept.who, kept.measures, torn) == (
        *("a", "2026-W48", "until Friday", "ann"),
        {"units": 2.0},
        0,
    )
    asyncio.run(take_back(store, "a"))
    assert asyncio.run(load_acknowledged(store)) == ((), 0)
    with pytest.raises(UsageError, match="no acknowledgement has the id 'a'"):
        asyncio.run(take_back(store, "a"))


def test_a_torn_file_is_counted_and_keeps_nobody_quiet(tmp_path: Path) -> None:
    (tmp_path / "acknowledged").mkdir()
    (tmp_path / "acknowledged" / "a.json").write_text('{"v": 1, "id": "a"')
    assert asyncio.run(load_acknowledged(FolderBlobs(tmp_path))) == ((), 1)


def test_an_item_that_is_not_there_and_a_reason_of_many_lines_are_refused(tmp_path: Path) -> None:
    store = FolderBlobs(tmp_path)
    with pytest.raises(UsageError, match="in 2026-W48 no item has the id 'b'; there are a"):
        asyncio.run(acknowledge(store, [item()], "b", ("why", None), WEEK))
    for reason in ("", "a\nb", "x" * 201):
        with pytest.raises(UsageError, match="lines of 1 to 200"):
            asyncio.run(acknowledge(store, [item()], "a", (reason, None), WEEK))


class Failing:
    """A place that lists one name and does nothing else."""

    def __init__(self, error: Exception, listed: tuple[str, ...] = ("acknowledged/a.json",)) -> None:
        self.error = error
        self.listed = listed

    async def list(self, _: str) -> tuple[str, ...]:
        return self.listed

    async def read(self, _: str) -> bytes:
        if isinstance(self.error, KeyError):
            raise self.error
        return b'{"id": "a", "at": 1, "week": "2026-W48", "reason": "r"}'

    async def write(self, _: str, __: bytes) -> None:
        raise self.error

    async def delete(self, _: str) -> None:
        raise self.error


def test_what_cannot_be_kept_or_taken_back_is_told() -> None:
    full = Failing(OSError(28, "No space left on device"))
    with pytest.raises(HistoryError, match="cannot keep it: No space left on device"):
        asyncio.run(acknowledge(full, [item()], "a", ("why", None), WEEK))
    away = Failing(UnreachableError("S3 does not answer", hint="wait"))
    with pytest.raises(HistoryError, match="cannot take it back: S3 does not answer"):
        asyncio.run(take_back(away, "a"))


def test_what_is_taken_back_while_it_is_read_is_none_and_what_cannot_be_listed_is_told() -> None:
    assert asyncio.run(load_acknowledged(Failing(KeyError("a")))) == ((), 0)

    class Closed(Failing):
        async def list(self, _: str) -> tuple[str, ...]:
            raise self.error

    with pytest.raises(HistoryError, match="cannot read what was acknowledged: Permission denied"):
        asyncio.run(load_acknowledged(Closed(PermissionError(13, "Permission denied"))))
