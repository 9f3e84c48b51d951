"""Nights on the local AWS: a table with a past, and the fault that somebody is woken for.

    night = Night(emulator)                                  # "now" is the machine's time, whole minutes
    night.table("orders", provisioned=(1000, 500))
    night.usual("orders", "PutItem", requests=6_000)         # these minutes now, an hour, a day and a week before
    night.now("orders", "PutItem", requests=30_000, throttles=8_000, reasons=[WRITES_PROVISIONED])

Amounts are for each minute. The fault lasts the last `minutes` before what has settled.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.emulator import LocalAws

__all__ = ["MINUTE_MS", "WRITES_PROVISIONED", "WRITE_KEY_RANGE", "Night"]

MINUTE_MS = 60_000
WRITE_KEY_RANGE = "TableWriteKeyRangeThroughputExceeded"
WRITES_PROVISIONED = "TableWriteProvisionedThroughputExceeded"
_HOUR = 60
_DAY = 24 * _HOUR
_READS = frozenset({"GetItem", "Query", "Scan", "BatchGetItem"})


class Night:
    """Plants what the metrics of some tables tell; `end` is the newest minute that has settled."""

    def __init__(self, aws: LocalAws, minutes: int = 12, now: int | None = None) -> None:
        self.aws = aws
        self.minutes = minutes
        at = time.time_ns() // 1_000_000 if now is None else now
        self.end = (at - 2 * MINUTE_MS) // MINUTE_MS * MINUTE_MS
        self._planted: list[dict[str, Any]] = []

    def table(self, name: str, **more: Any) -> Night:
        """Create a table with a sort key."""
        self.aws.create_table(name, sort="SK", **more)
        return self

    def usual(self, table: str, operation: str, *, requests: float, units: float | None = None, **more: Any) -> Night:
        """Plant quiet traffic of the last 100 minutes, and of the same minutes on the last seven days."""
        self._plant(table, operation, 100, 100, requests, units, more)
        for day in range(1, 8):
            self._plant(table, operation, day * _DAY + 90, 120, requests, units, more)
        return self

    def now(self, table: str, operation: str, *, requests: float, units: float | None = None, **more: Any) -> Night:
        """Plant what comes on top in the minutes of the fault; a little further, for what has not settled yet."""
        self._plant(table, operation, self.minutes, self.minutes + 2, requests, units, more)
        return self

    def done(self) -> Night:
        """Hand over all that was planted."""
        self.aws.plant_all(self._planted)
        self._planted = []
        return self

    def _plant(
        self,
        table: str,
        operation: str,
        back: int,
        minutes: int,
        requests: float,
        units: float | None,
        more: dict[str, Any],
    ) -> None:
        direction = "reads" if operation in _READS else "writes"
        self._planted.append(
            {
                "table": table,
                "at": self.end - back * MINUTE_MS,
                "minutes": minutes,
                "operation": operation,
                "requests": requests,
                direction: requests if units is None else units,
                **more,
            }
        )
