"""The budget of all AWS calls: calls a second of each API, billed metrics, and dollars a day.

Pure: the time comes in, and how long to wait comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.errors import BudgetError
from analyzer.knowledge.bill import Charge, charge_of
from collectors.aws.rates import rate_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.model.instant import Instant

__all__ = ["Bucket", "Budget", "Spent"]

_DAY_MS = 86_400_000
_SLOWEST = 1 / 16
"""A bucket that AWS throttles again and again goes no slower than this part of its rate."""
_RECOVERY = 1 / 64
"""What a call that went well gives back of the rate; a halved rate is whole again after 32 of them."""
_MOST_APIS = 256
"""Names of APIs that are counted apart; we call about thirty."""


class Bucket:
    """Tokens of one API in one region and account: `rate` a second, and as many saved up as one second brings."""

    def __init__(self, rate: float, now: Instant) -> None:
        self.full_rate = rate
        self.rate = rate
        self._size = max(rate, 1.0)
        self._tokens = self._size
        self._at = now

    def take(self, now: Instant) -> int:
        """Take a token and return how many milliseconds to wait before it may be used."""
        wait = self.wait_ms(now)
        self._tokens -= 1
        return wait

    def wait_ms(self, now: Instant) -> int:
        """Return how long whoever took a token now would have to wait; none is taken."""
        elapsed = max(now - self._at, 0)
        self._tokens = min(self._tokens + self.rate * elapsed / 1000, self._size)
        self._at = now
        return 0 if self._tokens >= 1 else round((1 - self._tokens) * 1000 / self.rate)

    def slow_down(self) -> None:
        """Halve the rate: AWS throttled a call, so somebody else uses the rest."""
        self.rate = max(self.rate / 2, self.full_rate * _SLOWEST)

    def recover(self) -> None:
        """Give back a little of the rate after a call that went well."""
        self.rate = min(self.rate + self.full_rate * _RECOVERY, self.full_rate)


class Spent(NamedTuple):
    """What was counted since the state began, by API."""

    calls: dict[str, int]
    billed_metrics: dict[str, int]
    usd: dict[str, float]


class Budget:
    """Counts calls, billed metrics and dollars; `max_usd_per_day` stops what would cost more, until midnight UTC."""

    def __init__(self, max_usd_per_day: float | None = None, rate_share: float = 1.0) -> None:
        self._most = max_usd_per_day
        self._share = rate_share
        self._buckets: dict[tuple[str, str, str, str], Bucket] = {}
        self._spent = Spent({}, {}, {})
        self._day = 0
        self._today = 0.0

    def bucket(self, service: str, operation: str, region: str, account: str, now: Instant) -> Bucket:
        """Return the bucket of one API in one region and account."""
        place = (service, operation, region, account)
        found = self._buckets.get(place)
        if found is None:
            found = self._buckets[place] = Bucket(rate_of(service, operation) * self._share, now)
        return found

    def spend(self, service: str, operation: str, params: Mapping[str, Any], now: Instant) -> Charge:
        """Count a call that is about to be sent, and return what it costs; raises BudgetError when the day's is spent.

        A call that costs nothing is never stopped.
        """
        charge = charge_of(service, operation, params)
        self._turn(now)
        if charge.usd and self._most is not None and self._today + charge.usd > self._most:
            raise BudgetError(
                f"{operation}: {_dollars(self._today)} dollars are spent today, and {self._most:g} are allowed:"
                f" this call costs {_dollars(charge.usd)}",
                hint="raise aws.max_usd_per_day, or look less often or at fewer tables; it goes on at midnight UTC",
            )
        self._count(operation, 1, charge)
        return charge

    def refund(self, operation: str, charge: Charge, now: Instant) -> None:
        """Take back what a call that AWS refused would have cost; the call stays counted."""
        self._turn(now)
        self._count(operation, 0, Charge(-charge.metrics, -charge.usd))
        self._today = max(self._today, 0.0)

    def spent(self) -> Spent:
        """Return the counters."""
        return Spent(dict(self._spent.calls), dict(self._spent.billed_metrics), dict(self._spent.usd))

    def spent_today(self, now: Instant) -> float:
        """Return the dollars of this UTC day."""
        self._turn(now)
        return self._today

    def plain(self) -> dict[str, Any]:
        """Return the counters as plain values, for the checkpoint."""
        return {**self._spent._asdict(), "day": self._day, "today": self._today}

    @classmethod
    def from_plain(
        cls, plain: Mapping[str, Any], max_usd_per_day: float | None = None, rate_share: float = 1.0
    ) -> Budget:
        """Go on from where another process stopped, so that a restart does not double the day's money."""
        budget = cls(max_usd_per_day, rate_share)
        budget._spent = Spent(dict(plain["calls"]), dict(plain["billed_metrics"]), dict(plain["usd"]))
        budget._day, budget._today = int(plain["day"]), float(plain["today"])
        return budget

    def _turn(self, now: Instant) -> None:
        """Begin a new day's money; a clock that went back over midnight stays in the day it was in.

        One that goes back further was wrong before: its day would not come for long.
        """
        day = now // _DAY_MS
        if day > self._day or day < self._day - 1:
            self._day, self._today = day, 0.0

    def _count(self, operation: str, calls: int, charge: Charge) -> None:
        name = operation if operation in self._spent.calls or len(self._spent.calls) < _MOST_APIS else "other"
        spent = self._spent
        spent.calls[name] = spent.calls.get(name, 0) + calls
        spent.billed_metrics[name] = spent.billed_metrics.get(name, 0) + charge.metrics
        spent.usd[name] = spent.usd.get(name, 0.0) + charge.usd
        self._today += charge.usd


def _dollars(amount: float) -> str:
    """Write an amount in cents, a smaller one with the digits that tell it."""
    return f"{amount:.2f}" if amount >= 1 or not amount else f"{amount:.2g}"
