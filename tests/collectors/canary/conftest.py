"""A table with a lagging index, served to the canary by the clock of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.errors import UnsupportedError
from tests.support.lagging_store import mostly_fast
from tests.support.scripted_aws import ScriptedAws

if TYPE_CHECKING:
    from collections.abc import Callable

ACCOUNT = "111122223333"
CHARGED = {"ConsumedCapacity": {"TableName": "orders", "CapacityUnits": 2.0}}


class Clock:
    """A clock that goes when somebody sleeps or calls."""

    def __init__(self) -> None:
        self.now = 1_780_000_000_000.0
        self.waiting: Callable[[], None] = lambda: None

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds * 1000
        self.waiting()


def described(*, partition: str = "S", sort: str | None = "S", **more: Any) -> dict[str, Any]:
    """A table `orders` with an index `by-status` of status and placed."""
    keys = [{"AttributeName": "PK", "KeyType": "HASH"}]
    keys += [{"AttributeName": "SK", "KeyType": "RANGE"}] if sort is not None else []
    types = {"PK": "S", "SK": sort or "S", "status": partition, "placed": "N"}
    of_index = [{"AttributeName": "status", "KeyType": "HASH"}, {"AttributeName": "placed", "KeyType": "RANGE"}]
    index = {"IndexName": "by-status", "KeySchema": of_index, "IndexStatus": "ACTIVE"}
    return {
        "TableName": "orders",
        "KeySchema": keys,
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": kind} for n, kind in types.items()],
        "GlobalSecondaryIndexes": [index],
        **more,
    }


class LaggingTable(ScriptedAws):
    """Items by key; the index shows each one when its lag has passed. A call takes four milliseconds."""

    def __init__(
        self, clock: Clock, table: dict[str, Any] | None = None, lag: Any = mostly_fast, seed: int = 11, **answers: Any
    ) -> None:
        self._clock = clock
        self._rng = np.random.default_rng(seed)
        self._lag = lag
        self._keys = [one["AttributeName"] for one in (table or described())["KeySchema"]]
        self.items: dict[str, tuple[dict[str, Any], float]] = {}
        self.ever: list[dict[str, Any]] = []
        self.queried: list[str] = []
        super().__init__(
            {
                "GetCallerIdentity": {"Account": ACCOUNT},
                "DescribeTable": {"Table": table or described()},
                "DescribeTimeToLive": {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}},
                "PutItem": self._put,
                "Query": self._query,
                "DeleteItem": self._delete,
                **answers,
            }
        )

    def _named(self, values: dict[str, Any]) -> str:
        return repr([values[name] for name in self._keys])

    def _put(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._clock.now += 4
        name = self._named(asked["Item"])
        if name in self.items:
            raise UnsupportedError("ConditionalCheckFailedException", hint="it is there")
        shown = self._clock.now - 2 + float(self._lag(self._rng, 1)[0]) * 1000
        self.items[name] = (asked["Item"], shown)
        self.ever.append(asked["Item"])
        return CHARGED

    def _query(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._clock.now += 2
        wanted = {
            asked["ExpressionAttributeNames"][f"#{n}"]: asked["ExpressionAttributeValues"][f":{n}"]
            for n in ("k0", "k1")
        }
        self.queried.append(wanted["status"]["S"])
        items = [item for item, shown in self.items.values() if shown <= self._clock.now]
        self._clock.now += 2
        return {"Items": [one for one in items if all(one[name] == value for name, value in wanted.items())]}

    def _delete(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._clock.now += 4
        self.items.pop(self._named(asked["Key"]), None)
        return CHARGED
