"""What was seen of a log that is listed by time: fingerprints of names, as long as they may come again."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant

__all__ = ["Seen", "fingerprint_of"]

_FINGERPRINT_BYTES = 8
"""Of 50,000 names two have the same with a chance of one in ten billion."""


def fingerprint_of(name: str) -> str:
    """Return eleven characters for a name of any length."""
    return urlsafe_b64encode(blake2b(name.encode(), digest_size=_FINGERPRINT_BYTES).digest()).rstrip(b"=").decode()


class Seen:
    """Names with their times; `horizon` is the time before which everything was read, and nothing is remembered.

    `restored` are fingerprints of an earlier process, whose times nobody knows: they are kept until the horizon passes
    `now`. Beyond `most` the oldest are forgotten, and the horizon moves over them.
    """

    def __init__(self, horizon: Instant, most: int, restored: Iterable[str] = (), now: Instant = 0) -> None:
        self.horizon = horizon
        self._most = most
        self._times: dict[str, Instant] = dict.fromkeys(restored, max(now, horizon))
        self._tokens: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self._times)

    def is_new(self, token: str, at: Instant) -> bool:
        """Whether nothing of this fingerprint was read; what lies before the horizon was."""
        if at < self.horizon:
            return False
        if token in self._times:
            self._times[token] = at
            return False
        return True

    def add(self, token: str, at: Instant) -> None:
        """Remember what was read."""
        self._times[token] = at
        self._tokens = None

    def advance(self, horizon: Instant) -> bool:
        """Move the horizon forward, and forget what lies before it; whether anything changed."""
        before = self.horizon
        self._forget_before(horizon)
        if len(self._times) > self._most:
            surplus = sorted(self._times.values())[len(self._times) - self._most - 1]
            self._forget_before(surplus + 1)
        return self.horizon != before

    def _forget_before(self, horizon: Instant) -> None:
        if horizon <= self.horizon:
            return
        self.horizon = horizon
        self._times = {token: at for token, at in self._times.items() if at >= horizon}
        self._tokens = None

    def tokens(self) -> tuple[str, ...]:
        """Return what is remembered, for a position."""
        if self._tokens is None:
            self._tokens = tuple(self._times)
        return self._tokens
