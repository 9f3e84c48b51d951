"""What tests of streams share: an AWS that answers as it is told, records, and a reader that keeps its checkpoint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.model.batch import Position
from analyzer.model.instant import format_instant

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from analyzer.errors import CollectError
    from analyzer.model.batch import Block

NOW = 1_764_500_000_000
"""2025-11-30T10:53:20Z."""


def record(number: int = 0, at: int = NOW, **fields: Any) -> dict[str, Any]:
    return {"v": 1, "time": format_instant(at), "op": "Scan", "table": "cases", "request_id": f"r{number}", **fields}


def lines_of(records: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


class FakeAws:
    """Answers operations with functions of their parameters; `fail` makes the next calls of one raise."""

    def __init__(self, **operations: Callable[..., dict[str, Any]]) -> None:
        self.operations = operations
        self.failures: dict[str, list[CollectError]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def fail(self, operation: str, *errors: CollectError) -> None:
        self.failures.setdefault(operation, []).extend(errors)

    async def call(
        self, service: str, operation: str, *, region: str | None = None, account: str | None = None, **params: Any
    ) -> dict[str, Any]:
        self.calls.append((operation, params))
        waiting = self.failures.get(operation)
        if waiting:
            raise waiting.pop(0)
        return self.operations[operation](**params)

    def count(self, operation: str) -> int:
        return sum(name == operation for name, _ in self.calls)


class Kept:
    """Reads as the daemon does: what was counted and the position belong together, whenever it is killed."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.bad: dict[str, int] = {}
        self.positions: dict[str, Position] = {}
        self.blocks = 0
        self.torn = 0
        self.operations: list[str] = []

    def take(self, block: Block) -> None:
        self.blocks += 1
        lines = block.lines.splitlines()
        torn = [line for line in lines if not line.endswith(b"}")]
        self.torn += len(torn)
        found = [json.loads(line) for line in lines if line not in torn]
        self.ids += [one["request_id"] for one in found if "request_id" in one]
        self.operations += [one["op"] for one in found]
        for reason, count in block.bad.items():
            self.bad[reason] = self.bad.get(reason, 0) + count
        if block.position is not None:
            self.positions[block.position.path] = block.position

    async def read(self, blocks: AsyncIterator[Block], most: int = 10**9) -> None:
        """Take blocks to their end, or be killed after so many."""
        if most == 0:
            return
        async for block in blocks:
            self.take(block)
            most -= 1
            if most == 0:
                await blocks.aclose()  # type: ignore[attr-defined] # a generator's
                return

    def checkpoint(self) -> tuple[Position, ...]:
        stored = msgspec.msgpack.encode(tuple(self.positions.values()))
        return msgspec.msgpack.decode(stored, type=tuple[Position, ...])


@pytest.fixture
def kept() -> Kept:
    return Kept()
