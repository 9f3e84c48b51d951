"""What is remembered of findings beyond a report: their lives, and what people said of them."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.finding import Direction, Severity, Status
from analyzer.model.instant import Instant

__all__ = ["LONGEST_DAYS", "NO_MEMORY", "Life", "Memory", "Snooze"]

LONGEST_DAYS = 366
"""Nobody remembers for longer why a finding is silent; what is accepted for good is a threshold of its own."""


class Snooze(Struct, frozen=True, kw_only=True):
    """Nobody is told of the finding `id` before `until`; `at` is when somebody said so."""

    id: str
    until: Instant
    reason: str
    who: str | None = None
    at: Instant


class Life(Struct, frozen=True, kw_only=True):
    """The life of one finding, without its subject: of a key the template alone.

    `first_seen` is the first time ever, `opened_at` the last of the `times` that it opened; `closed_at` is None while
    it is open. `severities` are those that it had, each with the time from which on, the oldest first.
    """

    id: str
    detector: str
    account: str | None = None
    region: str | None = None
    table: str
    index: str | None = None
    pattern: str | None = None
    fingerprint: str | None = None
    cause: str | None = None
    direction: Direction | None = None
    key_template: dict[str, str | int | float] | None = None
    status: Status
    severity: Severity
    first_seen: Instant
    opened_at: Instant
    last_seen: Instant
    closed_at: Instant | None = None
    times: int = 1
    severities: tuple[tuple[Instant, Severity], ...] = ()


class Memory(Struct, frozen=True):
    """What a judgement has to know of an install: the snoozes that stand, and when it began."""

    snoozes: tuple[Snooze, ...] = ()
    began: Instant = 0


NO_MEMORY = Memory()
