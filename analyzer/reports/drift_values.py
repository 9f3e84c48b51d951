"""What a week did that the weeks before it, or the contract, do not say: frozen values, which the report renders."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from analyzer.model.estimate import Estimate
from analyzer.model.instant import Instant
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.statistics.rates import Standing

__all__ = ["ChangePoint", "Drift", "FacetDrift", "MixDrift", "MixTerm", "PatternDrift", "Presence", "Side", "Subject"]


class Side(StrEnum):
    """What a week is held against."""

    PAST = "past"
    DECLARED = "declared"


class Presence(StrEnum):
    """Whether a pattern is there, and was."""

    KNOWN = "known"  # it is here, and was before; or nothing is known of before
    NEW = "new"  # never seen before, and often enough to be meant
    AD_HOC = "ad hoc"  # never seen before, a few times
    RETURNED = "returned"  # seen before, not in the week before this one
    VANISHED = "vanished"  # seen before, and its absence now is no chance
    QUIET = "quiet"  # not seen now, which may be chance
    DEAD = "dead"  # declared, and not seen for two weeks or more, which is no chance


class Subject(Struct, frozen=True):
    """What drifts: a declared pattern of a target, or a shape that nobody declared."""

    target: Target
    pattern: str | None
    fingerprint: str | None = None

    @property
    def name(self) -> str:
        """The pattern's id, or the shape's fingerprint."""
        return self.pattern or self.fingerprint or ""


class FacetDrift(Struct, frozen=True, kw_only=True):
    """One side of a pattern beside its past or its declaration.

    `name`: of the past `rate`, `p50`, `p95`, `p99` (milliseconds), `units` and `bytes` a request, `waste` (the share
    of read units thrown away); of the declaration those of `traffic/drift.py` and `rate`. `seen` is this week's number,
    `expected` what the past says (None for a declaration), `ratio` seen ÷ expected with common growth divided out, with
    its 95 % interval. `q` is the least false discovery rate at which it is told. OUT is a finding; UNKNOWN ("NOT ENOUGH
    DATA") decides nothing.
    """

    name: str
    side: Side
    standing: Standing
    seen: Estimate
    expected: float | None = None
    ratio: Estimate | None = None
    margin: float | None = None
    q: float | None = None
    text: str = ""
    declared: str | None = None

    @property
    def is_out(self) -> bool:
        """Whether it is a finding."""
        return self.standing is Standing.OUT

    @property
    def is_worse(self) -> bool:
        """Whether it costs more than before: slower, dearer, more in vain."""
        return self.is_out and self.name != "rate" and (self.ratio is None or self.ratio.value > 1)


class ChangePoint(Struct, frozen=True):
    """The day from which a pattern came more or less often; means are requests a day, common ups and downs left out."""

    at: Instant
    before: float
    after: float


class PatternDrift(Struct, frozen=True, kw_only=True):
    """One subject in the week.

    `days_seen` of `days_covered` of the week; `expected_requests` is what the past predicts, growth that all share
    included (None: no past). `first_seen` is when history knows it first, to the hour in the week, to the day
    before it.
    """

    subject: Subject
    kind: str
    presence: Presence
    requests: Estimate
    expected_requests: float | None
    units: float
    expected_units: float | None
    wasted_units: float
    callers: tuple[str, ...]
    operations: tuple[str, ...]
    fingerprints: tuple[str, ...]
    days_seen: int
    days_covered: int
    hours_seen: int
    first_seen: Instant | None
    facets: tuple[FacetDrift, ...] = ()
    change: ChangePoint | None = None
    owner: str | None = None

    @property
    def out(self) -> tuple[FacetDrift, ...]:
        """The facets that are findings."""
        return tuple(facet for facet in self.facets if facet.is_out)

    @property
    def is_drifted(self) -> bool:
        """Whether anything of it is a finding: a facet, or that it came or went."""
        return bool(self.out) or self.presence in {
            Presence.NEW,
            Presence.RETURNED,
            Presence.VANISHED,
            Presence.DEAD,
        }

    @property
    def is_regressed(self) -> bool:
        """Whether a request of it costs or takes more than it did."""
        return any(facet.is_worse for facet in self.out)


class MixTerm(Struct, frozen=True):
    """One member of a mix: its share before and now, 0 to 1, and what of the distance is its own."""

    name: str
    before: float
    now: float
    part: float


class MixDrift(Struct, frozen=True, kw_only=True):
    """How the requests of a table are made up beside before: by `patterns`, `callers`, or `key families` (by units).

    `psi` is the population stability index, `jsd` the Jensen–Shannon divergence in bits (0 to 1). `rest_psi` leaves out
    the patterns that are findings themselves: where it is over `threshold` (0.05, or the 95th percentile of ordinary
    weeks), the mix is OUT.
    """

    what: str
    target: Target
    standing: Standing
    psi: float
    jsd: float
    rest_psi: float
    threshold: float
    terms: tuple[MixTerm, ...] = ()


class Drift(Struct, frozen=True, kw_only=True):
    """A week beside its past and the contract; `growth` is what all patterns share, of the week before this one.

    `weeks` is the number of past weeks that were there; `gaps` are the stretches of the week that nobody looked at.
    """

    window: Window
    weeks: int
    growth: float
    patterns: tuple[PatternDrift, ...]
    mixes: tuple[MixDrift, ...] = ()
    gaps: tuple[Window, ...] = ()

    @property
    def drifted(self) -> tuple[PatternDrift, ...]:
        """The patterns of which anything is a finding."""
        return tuple(pattern for pattern in self.patterns if pattern.is_drifted)
