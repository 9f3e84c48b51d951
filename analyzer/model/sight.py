"""What can be seen of a target, and what cannot: a hole in the evidence is a value."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from analyzer.errors import (
    AbsentError,
    BudgetError,
    CollectError,
    DeniedError,
    MalformedError,
    ThrottledError,
    UnreachableError,
)
from analyzer.model.instant import Instant
from analyzer.model.target import Target
from analyzer.model.window import Window

__all__ = ["Covers", "Gap", "GapReason", "Horizon", "Sight", "SightState", "SkipReason", "Skipped", "SourceName"]


class SourceName(StrEnum):
    """Where evidence comes from; also the label `source` of the metrics."""

    REQUEST_LOG = "request-log"
    CLOUDWATCH_METRICS = "cloudwatch-metrics"
    CONTRIBUTOR_INSIGHTS = "contributor-insights"
    TABLE_CATALOG = "table-catalog"
    CHANGES = "changes"
    CANARY = "canary"
    CONTRACT = "contract"
    HISTORY = "history"


class Sight(StrEnum):
    """A capability for one target and window; what detectors need is stated in these."""

    REQUESTS = "REQUESTS"
    REQUEST_KEYS = "REQUEST_KEYS"
    REQUEST_COUNTS = "REQUEST_COUNTS"
    REQUEST_UNITS = "REQUEST_UNITS"
    REQUEST_FILTERS = "REQUEST_FILTERS"
    REQUEST_SEQUENCES = "REQUEST_SEQUENCES"
    RETURNED_KEYS = "RETURNED_KEYS"
    METRICS = "METRICS"
    INSIGHTS_ACCESSED = "INSIGHTS_ACCESSED"
    INSIGHTS_THROTTLED = "INSIGHTS_THROTTLED"
    TABLE = "TABLE"
    SCALING = "SCALING"
    CONTRACT = "CONTRACT"
    CHANGES = "CHANGES"
    CANARY = "CANARY"
    SPAN_14D = "SPAN(14d)"


class Horizon(StrEnum):
    """How far a detector looks: the live window, or all that is known (a whole log; the daemon's last hour)."""

    WINDOW = "window"
    SPAN = "span"


class GapReason(StrEnum):
    """Why something could not be looked at."""

    DENIED = "denied"
    THROTTLED = "throttled"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    NOT_ENABLED = "not-enabled"
    UNSUPPORTED = "unsupported"
    LATE = "late"
    BUDGET = "budget"
    LOW_COVERAGE = "low-coverage"
    MISUSED = "misused"
    INCONSISTENT = "inconsistent"


class SkipReason(StrEnum):
    """Why a detector was not run."""

    MISSING_SIGHT = "missing-sight"
    TOO_LITTLE = "too-little"
    NOT_COVERED = "not-covered"


class Covers(Struct, frozen=True):
    """The stretch that a source really saw of a table, or of everything where table is None."""

    source: SourceName
    window: Window
    table: str | None = None
    index: str | None = None


class Gap(Struct, frozen=True):
    """What could not be looked at, why, and how to mend it; `detail` is in AWS's own words.

    Account and region are those that were asked, where it was told which.
    """

    source: SourceName
    reason: GapReason
    detail: str
    hint: str | None = None
    table: str | None = None
    index: str | None = None
    start: Instant | None = None
    end: Instant | None = None
    account: str | None = None
    region: str | None = None

    @classmethod
    def from_error(
        cls,
        source: SourceName,
        error: CollectError,
        *,
        window: Window | None = None,
        table: str | None = None,
        index: str | None = None,
    ) -> Gap:
        """Return the gap that a failure to look leaves."""
        reason = next((reason for kind, reason in _REASONS if isinstance(error, kind)), GapReason.UNSUPPORTED)
        start, end = (None, None) if window is None else (window.start, window.end)
        return cls(source, reason, str(error), error.hint, table, index, start, end)


_REASONS: tuple[tuple[type[CollectError], GapReason], ...] = (
    (DeniedError, GapReason.DENIED),
    (ThrottledError, GapReason.THROTTLED),
    (UnreachableError, GapReason.TIMEOUT),
    (MalformedError, GapReason.MALFORMED),
    (AbsentError, GapReason.NOT_ENABLED),
    (BudgetError, GapReason.BUDGET),
)


class Skipped(Struct, frozen=True):
    """A detector that could not judge a target; `needs` names the sights that would let it."""

    detector: str
    table: str
    index: str | None
    reason: SkipReason
    needs: tuple[str, ...] = ()
    account: str | None = None
    region: str | None = None

    @property
    def target(self) -> Target:
        """Where it could not judge."""
        return Target(self.account, self.region, self.table, self.index)


class SightState(Struct, frozen=True):
    """Whether one capability was there for one target, and how to get it: one name may be seen here and blind there."""

    table: str
    index: str | None
    capability: Sight
    state: str
    since: Instant | None = None
    hint: str | None = None
    account: str | None = None
    region: str | None = None

    @property
    def target(self) -> Target:
        """Where it was there, or was not."""
        return Target(self.account, self.region, self.table, self.index)
