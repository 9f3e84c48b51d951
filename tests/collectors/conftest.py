from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.model.batch import Block, Position
from collectors.request_log.collector import FileStream
from collectors.request_log.config import RequestLogConfig

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAR = 10**15
"""A time long after any file was written."""


class Reader:
    """Reads a log as the daemon does, keeping the position that a checkpoint would hold."""

    def __init__(
        self, *files: str, positions: tuple[Position, ...] = (), since: int | None = None, **bounds: int
    ) -> None:
        self.now = FAR
        self.positions = {position.path: position for position in positions}
        settled: dict[str, Any] = {"rescan_ms": 0, **bounds}
        config = RequestLogConfig(files, **settled)
        self.stream = FileStream(config, positions, lambda: self.now, since)
        self.overlong = 0
        self.blocks: list[Block] = []

    def read(self) -> list[str]:
        lines: list[str] = []
        while (block := self.stream.next_block()) is not None:
            assert block.position is not None
            self.positions[block.position.path] = block.position
            self.overlong += block.overlong
            self.blocks.append(block)
            assert not block.lines or block.lines.endswith(b"\n")
            lines += block.lines.decode().splitlines()
        return lines

    def checkpoint(self) -> tuple[Position, ...]:
        stored = msgspec.msgpack.encode(tuple(self.positions.values()))
        return msgspec.msgpack.decode(stored, type=tuple[Position, ...])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "requests.jsonl"


@pytest.fixture
def reader() -> Callable[..., Reader]:
    return Reader


@pytest.fixture
def append() -> Callable[[Path, str], None]:
    def write(path: Path, text: str) -> None:
        with path.open("a") as file:
            file.write(text)

    return write
