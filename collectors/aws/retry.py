"""When to try again: full jitter, within a retry budget, so that a broken service does not cost twice the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.errors import MalformedError, ThrottledError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.errors import CollectError

__all__ = ["RetryBudget", "is_worth_retrying", "pause_ms"]

_FIRST_PAUSE_MS = 200
_LONGEST_PAUSE_MS = 10_000
_TOKENS = 100.0
"""Twenty retries can be made before calls must go well again."""
_COST = 5.0
_GIVEN_BACK = 1.0


class RetryBudget:
    """Tokens for retries in one account and region: a retry costs five, a call that goes well gives one back.

    As in the SDK's standard retry mode: when everything fails, nothing is tried twice.
    """

    def __init__(self) -> None:
        self._tokens = _TOKENS

    def take(self) -> bool:
        """Pay for a retry; False when there is nothing left."""
        if self._tokens < _COST:
            return False
        self._tokens -= _COST
        return True

    def give_back(self) -> None:
        """Note a call that went well."""
        self._tokens = min(self._tokens + _GIVEN_BACK, _TOKENS)


def is_worth_retrying(error: CollectError) -> bool:
    """Whether the same call may go well a moment later."""
    return isinstance(error, ThrottledError | UnreachableError | MalformedError)


def pause_ms(attempt: int, draw: Callable[[], float]) -> int:
    """Return how long to wait after the nth try that failed (from 1); `draw` is uniform in [0, 1)."""
    return round(draw() * min(_FIRST_PAUSE_MS << (attempt - 1), _LONGEST_PAUSE_MS))
