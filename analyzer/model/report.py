"""What one analysis concluded, and the evidence that it rests on."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from analyzer.model.finding import Change, Confidence, Direction, Finding, KeyShown
from analyzer.model.instant import Instant
from analyzer.model.sight import Gap, SightState, Skipped
from analyzer.model.target import Target
from analyzer.model.traffic import Traffic
from analyzer.model.window import Window

__all__ = ["Coverage", "KeyLine", "Mode", "Outside", "PatternKind", "PatternLine", "Report", "Verdict", "VerdictState"]


class VerdictState(StrEnum):
    """The one answer: a fault, clean, or that it cannot be told."""

    FAULT = "fault"
    CLEAN = "clean"
    CANNOT_TELL = "cannot-tell"


class Mode(StrEnum):
    """What a daemon's findings do: they are only shown, or they page too."""

    OBSERVE = "observe"
    PAGE = "page"


class Verdict(Struct, frozen=True):
    """One sentence for on-call; `finding` is the id of the one it rests on."""

    state: VerdictState
    text: str
    confidence: Confidence
    finding: str | None = None


class PatternKind(StrEnum):
    """The kinds of a report's pattern rows; `other` is what a bound cut off."""

    DECLARED = "declared"
    UNDECLARED = "undeclared"
    AMBIGUOUS = "ambiguous"
    UNPARSED = "unparsed"
    OTHER = "other"


class PatternLine(Struct, frozen=True, kw_only=True):
    """One pattern or undeclared shape of a target; numbers are estimates of all requests, bounds beside them.

    `p99_ms` is the upper bound of the latency bucket (a factor of 1.4 wide) that holds the 99th percentile.
    """

    kind: PatternKind
    pattern: str | None = None
    candidates: tuple[str, ...] = ()
    fingerprint: str | None = None
    table: str | None = None
    index: str | None = None
    operation: str | None = None
    text: str | None = None
    callers: tuple[str | None, ...] = ()
    requests: float
    requests_low: float
    requests_high: float
    units: float | None
    waste_units: float | None
    p99_ms: float | None
    errors: float = 0
    throttled: float = 0
    account: str | None = None
    region: str | None = None


class KeyLine(Struct, frozen=True, kw_only=True):
    """One heavy key; `key` is shown as the policy allows.

    `units` are those of the window; `heat` and `peak_second` (the worst second) are shares of the ceiling.
    """

    table: str
    index: str | None
    direction: Direction
    key: KeyShown
    key_template: KeyShown
    units: float
    units_low: float
    units_high: float
    heat: float
    peak_second: float | None


class Coverage(Struct, frozen=True):
    """Explained ÷ billed units of a target; None where nothing tells what was billed."""

    table: str
    index: str | None
    direction: Direction
    explained_units: float
    billed_units: float | None
    ratio: float | None
    account: str | None = None
    region: str | None = None

    @property
    def target(self) -> Target:
        """Whose units these are."""
        return Target(self.account, self.region, self.table, self.index)


class Outside(Struct, frozen=True):
    """Requests that lie so far from all others that their clock was wrong, or outside of the stretch that was given.

    They are counted with the rest, but `window` does not reach there. `requests` is None where nobody counted them.
    """

    start: Instant
    end: Instant
    requests: int | None


class Report(Struct, frozen=True, kw_only=True):
    """The outcome of one `analyze()`; exporters build everything from it, `traffic` included.

    `mode` is a daemon's, None of all other reports; `observing_until` is None too where observing has no end.
    """

    window: Window
    as_of: Instant
    region: str | None
    account: str | None
    verdict: Verdict
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...] = ()
    gaps: tuple[Gap, ...] = ()
    sight: tuple[SightState, ...] = ()
    changes: tuple[Change, ...] = ()
    patterns: tuple[PatternLine, ...] = ()
    keys: tuple[KeyLine, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    outside: tuple[Outside, ...] = ()
    mode: Mode | None = None
    observing_until: Instant | None = None
    traffic: tuple[Traffic, ...] = ()
