"""One DescribeTable a table, in the background, for those who allow it."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from dynascope_sampler.schema import schema_of_description

if TYPE_CHECKING:
    from dynascope_sampler.schema import Schema

__all__ = ["Describer"]

_TABLES = 200


class Describer:
    """Asks each table once; a refusal is not repeated."""

    def __init__(self, source: Any, schema: Schema, *, is_async: bool) -> None:
        """Take a client, or a session that makes clients."""
        self._source = source
        self._schema = schema
        self._is_async = is_async
        self._asked: set[str] = set()
        self._tasks: set[Any] = set()
        self.failures = 0

    def describe(self, table: str, region: str | None, endpoint: str | None) -> None:
        """Begin to ask, unless that was done before. Returns at once."""
        if table in self._asked or len(self._asked) >= _TABLES:
            return
        self._asked.add(table)
        if self._is_async:
            task = asyncio.get_running_loop().create_task(self._ask_async(table, region, endpoint))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            arguments = (table, region, endpoint)
            threading.Thread(target=self._ask, args=arguments, name="dynascope-describe", daemon=True).start()

    def _make(self, region: str | None, endpoint: str | None) -> Any:
        make = getattr(self._source, "create_client", None) or self._source.client
        return make("dynamodb", region_name=region, endpoint_url=endpoint)

    def _ask(self, table: str, region: str | None, endpoint: str | None) -> None:
        try:
            client = self._source if hasattr(self._source, "describe_table") else self._make(region, endpoint)
            self._learn(client.describe_table(TableName=table))
        except Exception:  # noqa: BLE001 - not allowed, not there, not reachable: the key stays unknown
            self.failures += 1

    async def _ask_async(self, table: str, region: str | None, endpoint: str | None) -> None:
        try:
            if hasattr(self._source, "describe_table"):
                self._learn(await self._source.describe_table(TableName=table))
                return
            async with self._make(region, endpoint) as client:
                self._learn(await client.describe_table(TableName=table))
        except Exception:  # noqa: BLE001 - same
            self.failures += 1

    def _learn(self, answer: Any) -> None:
        self._schema.learn(answer["Table"]["TableName"], schema_of_description(answer["Table"]))
