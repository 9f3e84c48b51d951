"""What a detector concludes, with the evidence that convicts and the advice that helps."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from analyzer.model.instant import Instant

__all__ = [
    "Advice",
    "Change",
    "Confidence",
    "Direction",
    "Finding",
    "KeyShown",
    "Risk",
    "SelfHeals",
    "Severity",
    "Status",
    "Victim",
]

KeyShown = dict[str, str | int | float]
"""Attribute to value, as the show policy allows it."""


class Severity(StrEnum):
    """How bad: `critical` callers fail now · `high` partly failing, or will · `medium` waste · `low` worth knowing."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for low up to 3 for critical."""
        return _SEVERITIES.index(self)


_SEVERITIES = list(Severity)


class Confidence(StrEnum):
    """How sure a finding is."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Status(StrEnum):
    """Where a finding stands in its life."""

    OPEN = "open"
    ONGOING = "ongoing"
    CLOSED = "closed"
    SNOOZED = "snoozed"


class Direction(StrEnum):
    """Reads or writes: DynamoDB enforces their limits apart."""

    READ = "read"
    WRITE = "write"


class Risk(StrEnum):
    """What an action risks in production."""

    NONE = "none"
    LOW = "low"
    HIGH = "high"


class Advice(Struct, frozen=True, kw_only=True):
    """One thing to do; `action` is a name of the fixed list, a command says whether it changes production."""

    action: str
    text: str
    effect: str | None = None
    command: str | None = None
    risk: Risk = Risk.NONE
    reversible: bool | None = None
    takes: str | None = None
    snippet: str | None = None


class Victim(Struct, frozen=True):
    """Who suffers."""

    caller: str | None
    pattern: str | None


class SelfHeals(Struct, frozen=True):
    """Whether DynamoDB will fix it alone: `yes`, `no` or `unknown`, and why."""

    answer: str
    reason: str


class Change(Struct, frozen=True, kw_only=True):
    """Something that people or scaling changed; account and region are None where it may be any, as of a deploy."""

    time: Instant
    what: str
    table: str | None = None
    index: str | None = None
    who: str | None = None
    detail: str | None = None
    source: str | None = None
    account: str | None = None
    region: str | None = None

    def is_at(self, account: str | None, region: str | None) -> bool:
        """Whether it may be of this account and region; what is not known may be any."""
        is_same_account = self.account is None or account in {None, self.account}
        return is_same_account and (self.region is None or region in {None, self.region})


class Finding(Struct, frozen=True, kw_only=True):
    """A fault with its place, cause and evidence; `subject` names what the id is made of, and is never printed.

    `because` is the reason of the verdict or of its cause, `caveat` what is to be borne in mind of its numbers.
    """

    detector: str
    severity: Severity
    confidence: Confidence
    table: str
    index: str | None = None
    account: str | None = None
    region: str | None = None
    subject: str = ""
    summary: str
    because: str | None = None
    sources: tuple[str, ...] = ()
    key: KeyShown | None = None
    key_template: KeyShown | None = None
    pattern: str | None = None
    fingerprint: str | None = None
    caller: str | None = None
    victims: tuple[Victim, ...] = ()
    cause: str | None = None
    direction: Direction | None = None
    evidence: dict[str, float | str | None] = {}
    advice: tuple[Advice, ...] = ()
    self_heals: SelfHeals | None = None
    cost_per_month_usd: float | None = None
    id: str = ""
    status: Status = Status.OPEN
    caused_by: str | None = None
    first_seen: Instant | None = None
    last_seen: Instant | None = None
    since_change: Change | None = None
    runbook: str | None = None
    caveat: str | None = None
