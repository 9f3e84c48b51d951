"""The emulator's wall clock: it runs with the machine's, stands where a test puts it, and goes on when told."""

from __future__ import annotations

import time

__all__ = ["MINUTE", "Clock", "minute_of"]

MINUTE = 60
"""Seconds: CloudWatch's grain for DynamoDB."""


class Clock:
    """Seconds since the epoch. A clock that stands makes what is noted and asked the same in every run."""

    def __init__(self) -> None:
        self._stands_at: float | None = None

    def now(self) -> float:
        """Return the time that the emulator goes by."""
        return time.time() if self._stands_at is None else self._stands_at

    def stand(self, at: float) -> None:
        """Stand at a time until told otherwise."""
        self._stands_at = at

    def advance(self, seconds: float) -> None:
        """Go on by so much, and stand there."""
        self._stands_at = self.now() + seconds

    def run(self) -> None:
        """Go with the machine's clock again."""
        self._stands_at = None


def minute_of(at: float) -> int:
    """Return the beginning of the minute that holds a time."""
    return int(at // MINUTE) * MINUTE
