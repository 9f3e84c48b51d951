"""The record stream: what the emulator served and refused, in one place.

Whatever wants to speak of it later (metrics by minute, contributors by key, fault scripts) listens here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from deploy.demo.emulator.charges import Charge
    from deploy.demo.emulator.refusal import ThrottleReason

__all__ = ["Journal", "KeySecond", "Served"]

_SECONDS_KEPT = 600


@dataclass(frozen=True, slots=True)
class Served:
    """One call over one table: what it cost, or why it was refused (then `charges` is what it would have cost)."""

    at: float
    operation: str
    table: str
    charges: tuple[Charge, ...]
    refusals: tuple[ThrottleReason, ...] = ()


@dataclass(slots=True)
class KeySecond:
    """What one partition key of a table or index took in one second."""

    units: float = 0.0
    calls: int = 0
    throttles: int = 0


@dataclass(slots=True)
class Second:
    """What was served in one second, by (table, index, direction, partition key), and throttles by (reason, ARN)."""

    keys: dict[tuple[str, str | None, str, str], KeySecond] = field(default_factory=dict)
    throttles: Counter[tuple[str, str]] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)


class Journal:
    """The last ten minutes by second, and listeners that get every record as it comes."""

    def __init__(self) -> None:
        self.seconds: dict[int, Second] = {}
        self.listeners: list[Callable[[Served], None]] = []

    def note(self, served: Served) -> None:
        """Keep a record and pass it on."""
        at = int(served.at)
        if at not in self.seconds:
            self.seconds[at] = Second()
            for old in [second for second in self.seconds if second < at - _SECONDS_KEPT]:
                del self.seconds[old]
        second = self.seconds[at]
        second.calls[served.operation] += 1
        refused_at = {reason.resource for reason in served.refusals}
        for charge in served.charges:
            name = (charge.table.name, charge.resource, charge.direction, _readable(charge.partition))
            key = second.keys.setdefault(name, KeySecond())
            if not served.refusals:
                key.units += charge.units
                key.calls += 1
            elif charge.table.resource(charge.resource) in refused_at:
                key.throttles += 1
        second.throttles.update((reason.reason, reason.resource) for reason in served.refusals)
        for listen in self.listeners:
            listen(served)

    def tell(self) -> list[dict[str, Any]]:
        """Return all seconds as JSON has it."""
        return [
            {
                "second": at,
                "calls": dict(second.calls),
                "keys": [
                    {"table": t, "index": i, "direction": d, "key": k}
                    | {"units": v.units, "calls": v.calls, "throttles": v.throttles}
                    for (t, i, d, k), v in second.keys.items()
                ],
                "throttles": [
                    {"reason": reason, "resource": arn, "count": n} for (reason, arn), n in second.throttles.items()
                ],
            }
            for at, second in sorted(self.seconds.items())
        ]


def _readable(partition: Iterable[object]) -> str:
    return "|".join(part.decode(errors="replace") if isinstance(part, bytes) else str(part) for part in partition)
