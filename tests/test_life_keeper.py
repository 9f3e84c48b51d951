from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import structlog
from structlog.testing import capture_logs

from analyzer.history.life import FILE_NAME, LifeError, LifeFile
from analyzer.life_keeper import LifeKeeper
from analyzer.model.life import Snooze
from tests.exporters.conftest import finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = 1_800_000_000_000
SNOOZE = Snooze(id="abc", until=NOW + 1000, reason="known", who="ada", at=NOW)


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[LifeKeeper]:
    one = LifeKeeper(tmp_path, structlog.get_logger())
    yield one
    one.close()


async def test_a_finding_that_was_noted_is_known_and_a_snooze_of_it_is_listed_with_it(keeper: LifeKeeper) -> None:
    await keeper.note([finding()], NOW)
    await keeper.add(SNOOZE)
    ((snooze, life),) = await keeper.listed(NOW)
    assert (snooze, life and life.detector) == (SNOOZE, "hot-key")
    assert await keeper.known() == {"abc"}
    assert (await keeper.memory(NOW)).snoozes == (SNOOZE,)
    assert await keeper.end("abc")
    assert (await keeper.memory(NOW)).snoozes == ()


async def test_what_a_command_wrote_into_the_file_is_seen(keeper: LifeKeeper, tmp_path: Path) -> None:
    command = LifeFile.open(tmp_path / FILE_NAME)
    command.snooze(SNOOZE)
    command.close()
    assert (await keeper.memory(NOW)).snoozes == (SNOOZE,)


async def test_what_fails_is_said_once_and_what_was_read_last_stands(
    keeper: LifeKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise LifeError("disk I/O error")

    await keeper.add(SNOOZE)
    await keeper.memory(NOW)
    with capture_logs() as logs:
        for name in ("snoozes", "note"):
            monkeypatch.setattr(LifeFile, name, fail)
        for _ in range(2):
            assert (await keeper.memory(NOW)).snoozes == (SNOOZE,)
            await keeper.note([finding()], NOW)
        monkeypatch.undo()
        await keeper.memory(NOW)
        await keeper.note([finding()], NOW)
    assert [(entry["log_level"], entry.get("what", entry["event"])) for entry in logs] == [
        ("error", "snoozes cannot be read"),
        ("error", "lives of findings cannot be written"),
        ("info", "snoozes cannot be read"),
        ("info", "lives of findings cannot be written"),
    ]


def test_that_snoozes_are_forgotten_is_said(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database" * 100)
    with capture_logs() as logs:
        LifeKeeper(tmp_path, structlog.get_logger()).close()
    assert [entry["event"] for entry in logs] == ["lives set aside: snoozes are forgotten"]


def test_that_a_command_set_them_aside_is_said_and_a_gap(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database" * 100)
    LifeFile.open(tmp_path / FILE_NAME).close()
    with capture_logs() as logs:
        keeper = LifeKeeper(tmp_path, structlog.get_logger())
    assert [entry["event"] for entry in logs] == ["lives were set aside: snoozes are forgotten"]
    (gap,) = keeper.gaps()
    assert (gap.source.value, gap.reason.value) == ("history", "malformed")
    assert gap.detail.startswith("snoozes are lost: life.sqlite was damaged, and lies set aside as ")
    (tmp_path / f"{FILE_NAME}.corrupt").unlink()
    assert keeper.gaps() == ()
    keeper.close()


async def test_an_install_begins_once(keeper: LifeKeeper, tmp_path: Path) -> None:
    keeper.begin(NOW)
    again = LifeKeeper(tmp_path, structlog.get_logger())
    again.begin(NOW + 1)
    assert (await again.memory(NOW)).began == again.began == NOW
    again.close()
