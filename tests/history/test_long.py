"""A long history is as quick to read as a short one: only files of the stretch that was asked for are opened."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from analyzer.contract.load import contract_from
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history.names import DAY_MS, FileName
from analyzer.history.past import read_past
from analyzer.history.traffic import read_traffic
from analyzer.model.instant import to_instant
from analyzer.model.window import Window
from analyzer.reports.frame import load_weeks
from tests.support.history_days import write_days

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path
    from typing import Any

END = to_instant(datetime(2026, 11, 30, tzinfo=UTC))
WEEK = Window(END - 7 * DAY_MS, END)
DAYS = 90


class Counting(FolderBlobs):
    """A folder that remembers which days were read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.read_days: set[int] = set()

    async def read(self, name: str) -> bytes:
        found = FileName.parse(name)
        assert found is not None
        self.read_days.add((END - found.start) // DAY_MS)
        return await super().read(name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    write_days(folder, END, {"load-case": [100.0] * DAYS})
    return folder


@pytest.mark.parametrize(
    ("ask", "days"),
    [
        (lambda dataset: read_traffic(dataset, WEEK, contract_from({}), (), lambda _: False), 7),
        (lambda dataset: load_weeks(dataset, WEEK), 63),
        (lambda dataset: read_past(dataset, END), 42),
    ],
    ids=["a week, as diff and capacity read it", "the report of a week", "what detectors know"],
)
def test_only_days_that_are_asked_for_are_read(
    folder: Path, ask: Callable[[Dataset], Coroutine[Any, Any, object]], days: int
) -> None:
    store = Counting(folder)
    assert asyncio.run(ask(Dataset(store))) is not None
    assert store.read_days == set(range(1, days + 1))
