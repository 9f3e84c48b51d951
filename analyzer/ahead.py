"""AWS asked ahead: what depends on nothing is asked at once, and every source finds its answer there.

Sources ask one thing after the other, each for itself; an engineer waits. What they will ask for anyway is asked side
by side before they begin. The calls are counted, and in how many rounds that wait for one another.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant

__all__ = ["Ahead", "Lane", "wall_clock"]

_Call = tuple[str, str, str | None, str | None, str]


class _Sent(NamedTuple):
    """A call that was asked for ahead, and in which round."""

    task: asyncio.Task[dict[str, Any]]
    depth: int


def wall_clock() -> Instant:
    """Return the machine's time."""
    return time.time_ns() // 1_000_000


class Ahead:
    """One look at AWS: the answers that were asked for ahead, each given once, and what all of it took.

    `described` are the `Table` objects of DescribeTable by name, as AWS gave them.
    """

    def __init__(self, aws: AwsCaller) -> None:
        self._aws = aws
        self._asked: dict[_Call, _Sent] = {}
        self._lanes: list[Lane] = []
        self.calls = 0
        self.described: dict[str, dict[str, Any]] = {}

    @property
    def rounds(self) -> int:
        """How many calls waited for one another at most."""
        return max((lane.depth for lane in self._lanes), default=0)

    def ask(
        self, service: str, operation: str, region: str, account: str | None, after: int = 0, /, **params: object
    ) -> None:
        """Send a call now; whoever makes the same one later gets its answer, or its failure.

        `after` is how many rounds of calls were waited for before it.
        """
        call = _named(service, operation, region, account, params)
        if call not in self._asked:
            asked = self.send(service, operation, region=region, account=account, **params)
            task = asyncio.ensure_future(asked)
            task.add_done_callback(_heard)
            self._asked[call] = _Sent(task, after + 1)

    def lane(self) -> Lane:
        """Return a caller for one source, whose calls follow one another."""
        lane = Lane(self)
        self._lanes.append(lane)
        return lane

    def taken(
        self, service: str, operation: str, region: str | None, account: str | None, params: dict[str, object]
    ) -> _Sent | None:
        """Return what was asked for ahead, None where nobody did."""
        return self._asked.get(_named(service, operation, region, account, params))

    async def send(self, service: str, operation: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 -- AwsCaller's
        """Make a call and count it; raises CollectError."""
        self.calls += 1
        answer = await self._aws.call(service, operation, **params)
        table = answer.get("Table")
        if operation == "DescribeTable" and isinstance(table, dict):
            self.described[str(table.get("TableName"))] = table
        return answer

    async def settle(self) -> None:
        """Wait for what nobody took, so that nothing is left half done."""
        await asyncio.gather(*(sent.task for sent in self._asked.values()), return_exceptions=True)


class Lane:
    """The calls of one source; `depth` counts those that waited for another one of it."""

    def __init__(self, ahead: Ahead) -> None:
        self._ahead = ahead
        self.depth = 0

    async def call(
        self, service: str, operation: str, *, region: str | None = None, account: str | None = None, **params: object
    ) -> dict[str, Any]:
        """Make one call; see AwsCaller. Raises CollectError."""
        ahead = self._ahead.taken(service, operation, region, account, params)
        depth = ahead.depth if ahead is not None else self.depth + 1
        try:
            if ahead is not None:
                return await asyncio.shield(ahead.task)
            return await self._ahead.send(service, operation, region=region, account=account, **params)
        finally:
            self.depth = max(self.depth, depth)


def _heard(asked: asyncio.Task[dict[str, Any]]) -> None:
    """Take note of a failure: of one that nobody came for, asyncio would print a traceback at the end."""
    if not asked.cancelled():
        asked.exception()


def _named(service: str, operation: str, region: str | None, account: str | None, params: dict[str, object]) -> _Call:
    return service, operation, region, account, repr(sorted(params.items()))
