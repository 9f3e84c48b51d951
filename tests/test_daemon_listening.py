"""A daemon that cannot listen leaves nothing behind that a later one would go by."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tests.test_daemon import Stage, judged

if TYPE_CHECKING:
    from pathlib import Path


async def test_who_cannot_listen_does_not_begin_the_week_of_observing(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        stage.settings["listen"] = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(BaseException, match="address already in use"):
            await stage.new().run()
    week = 7 * 86_400_000
    stage.now += week + 1
    del stage.settings["listen"]
    assert (await judged(stage)).observing_until == stage.now + week
