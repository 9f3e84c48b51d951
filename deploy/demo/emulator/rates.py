"""Rates at which operations may be called: who calls more often is throttled, an account and region apart."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.wire import Asked

__all__ = ["Rates"]

_KNOWN = {("cloudtrail", "LookupEvents"): 2.0}
"""Calls a second that hold without being asked for. Source: CloudTrail API Reference, read 2026-11-30.

Others that AWS states are too high to matter to most tests; `set` states them.
"""


class Rates:
    """Token buckets that hold a second's worth, by the machine's clock."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._rates = dict(_KNOWN)
        self._tokens: dict[tuple[str, str, Place], tuple[float, float]] = {}

    def set(self, service: str, operation: str, calls_a_second: float | None) -> None:
        """State the rate of an operation; None lifts it."""
        self._rates.pop((service, operation), None)
        if calls_a_second is not None:
            self._rates[service, operation] = calls_a_second

    def admits(self, asked: Asked) -> bool:
        """Whether a call may pass now; counts it if so."""
        rate = self._rates.get((asked.service, asked.operation))
        if rate is None:
            return True
        name, now, most = (asked.service, asked.operation, asked.place), self._monotonic(), max(rate, 1.0)
        tokens, at = self._tokens.get(name, (most, now))
        tokens = min(most, tokens + (now - at) * rate)
        self._tokens[name] = (tokens - 1 if tokens >= 1 else tokens, now)
        return tokens >= 1
