"""The weekly report: frozen values that are rendered, printed as JSON and delivered.

Dollars are dollars a month at the week's rate, shares 0 to 1, rates requests a second. None is "not known".
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from analyzer.model.estimate import Estimate
from analyzer.model.finding import Advice, Direction, Severity
from analyzer.model.instant import Instant
from analyzer.model.window import Window

__all__ = [
    "Better",
    "CoverageOfContract",
    "FilterWaste",
    "IndexUse",
    "Item",
    "ItemKind",
    "KeyForecast",
    "KeyRow",
    "Moved",
    "Quieted",
    "ReadinessLine",
    "ReadinessState",
    "Together",
    "Togetherness",
    "TransactionUse",
    "Undeclared",
    "Unseen",
    "WeekMap",
    "WeekReport",
]


class ItemKind(StrEnum):
    """What an item is."""

    MOVED = "moved"  # a pattern left its past, or its declaration
    NEW = "new"  # asked for the first time, as nobody declared
    RETURNED = "returned"  # asked again after a week without it
    VANISHED = "vanished"  # asked before, and its absence is no chance
    MIX = "mix"  # what a table's requests are made of shifted
    FINDING = "finding"  # what the daemon found in the week


class Moved(Struct, frozen=True, kw_only=True):
    """One side of an item that moved.

    `name` is that of `drift_values.FacetDrift`, `against` is `past` or `declared`. `ratio` is now over before, with its
    95 % interval and common growth divided out; None against a declaration.
    """

    name: str
    against: str
    seen: Estimate
    before: float | None = None
    ratio: Estimate | None = None
    declared: str | None = None
    text: str = ""


class Item(Struct, frozen=True, kw_only=True):
    """One thing that the team should know of.

    `id` is stable: the same thing in the next week has the same one. `extra_usd` is what it costs more than before, or
    the cost of the fault; `since` the day on which it changed, `first_seen` when history knows it first. `measures` are
    the numbers that an acknowledgement remembers. `page` is the detector's page that says more.
    """

    id: str
    kind: ItemKind
    severity: Severity
    summary: str
    also: tuple[str, ...] = ()
    account: str | None = None
    region: str | None = None
    table: str
    index: str | None = None
    pattern: str | None = None
    fingerprint: str | None = None
    caller: str | None = None
    owner: str | None = None
    moved: tuple[Moved, ...] = ()
    extra_usd: float | None = None
    first_seen: Instant | None = None
    since: Instant | None = None
    change: str | None = None
    days_seen: int | None = None
    days_covered: int | None = None
    advice: tuple[Advice, ...] = ()
    page: str = ""
    measures: dict[str, float] = {}


class Quieted(Struct, frozen=True, kw_only=True):
    """An item that somebody acknowledged, and that has not moved by another margin since."""

    id: str
    summary: str
    reason: str
    who: str | None
    acknowledged_at: Instant


class Better(Struct, frozen=True, kw_only=True):
    """What got better; `saved_usd` is what it costs less than before."""

    table: str
    index: str | None = None
    pattern: str | None = None
    summary: str
    saved_usd: float | None = None


class Undeclared(Struct, frozen=True, kw_only=True):
    """What was asked as nobody declared; `yaml` is the declaration to add under `patterns` of its table.

    `is_ad_hoc`: a few calls in one hour or two, of somebody at a console.
    """

    table: str
    index: str | None
    fingerprint: str
    text: str
    callers: tuple[str, ...]
    requests: float
    dollars: float | None
    is_ad_hoc: bool
    yaml: str
    yaml_table: str
    doubts: tuple[str, ...] = ()


class Unseen(Struct, frozen=True, kw_only=True):
    """A declared pattern that nobody asked for; `is_dead`: at its declared rate that is no chance."""

    table: str
    index: str | None
    pattern: str
    owner: str | None
    is_dead: bool
    last_seen: str
    declared_rate: float | None


class KeyRow(Struct, frozen=True, kw_only=True):
    """One key in the map: the share of the ceiling in each column, None where nothing is known.

    `is_second`: cells are the fullest second of the hour, else its mean.
    """

    label: str
    table: str
    index: str | None
    direction: Direction
    heat: tuple[float | None, ...]
    hottest: float
    hottest_at: Instant
    units: float
    is_second: bool


class WeekMap(Struct, frozen=True, kw_only=True):
    """The heat of tracked keys, hour by hour; `left_out` counts keys that have no row."""

    start: Instant
    step_ms: int
    columns: int
    rows: tuple[KeyRow, ...]
    left_out: int = 0


class FilterWaste(Struct, frozen=True, kw_only=True):
    """Read units that a filter threw away."""

    table: str
    index: str | None
    pattern: str
    attributes: tuple[str, ...]
    callers: tuple[str, ...]
    wasted_units: float
    share: float
    dollars: float


class IndexUse(Struct, frozen=True, kw_only=True):
    """What one index costs, and who reads it; `days_unread` is there where nobody did this week.

    `unit_dollars` are its writes on demand, and its capacity where it is provisioned.
    """

    table: str
    index: str
    kind: str
    unit_dollars: float | None
    storage_dollars: float | None
    reads: float
    patterns: tuple[str, ...]
    days_unread: float | None = None
    is_unused: bool = False


class TransactionUse(Struct, frozen=True, kw_only=True):
    """How far one caller writes or reads in transactions.

    `share` is of the table's calls in that direction, `items_each` between bounds. `dollars_more` is what they cost
    beyond plain calls: a transaction takes twice the units.
    """

    table: str
    caller: str | None
    operation: str
    pattern: str | None
    requests: float
    share: float
    items_each: Estimate | None
    declared_items: int | None
    because: str | None
    dollars_more: float | None


class Togetherness(StrEnum):
    """How two entities go together."""

    ALWAYS = "always"
    NEVER = "never"


class Together(Struct, frozen=True, kw_only=True):
    """Two entities in one table, or in two, that one trace reads together always or never."""

    how: Togetherness
    one_table: str
    one_entity: str
    other_table: str
    other_entity: str
    traces: float
    of_traces: float
    advice: str


class KeyForecast(Struct, frozen=True, kw_only=True):
    """When a tracked key reaches what one partition serves, if it goes on like this.

    `growth_a_week` is a factor with its interval; days are counted from the end of the week, `days_high` None where it
    may never be. `is_near`: it may be within 28 days.
    """

    label: str
    table: str
    index: str | None
    direction: Direction
    heat: float
    growth_a_week: Estimate
    days: float
    days_low: float
    days_high: float | None
    is_near: bool
    days_fitted: int


class CoverageOfContract(Struct, frozen=True, kw_only=True):
    """How much of a table's traffic is declared; `patterns_seen` of `patterns` declared ones were asked."""

    table: str
    owner: str | None
    is_declared: bool
    requests: float
    declared_share: float | None
    undeclared_share: float | None
    unclear_share: float | None
    units_share: float | None
    patterns: int
    patterns_seen: int


class ReadinessState(StrEnum):
    """How a line of the checklist stands."""

    PROVED = "proved"  # traffic or the table shows it
    DECLARED = "declared"  # the contract says so, and nothing speaks against it
    FAILED = "failed"  # traffic, table or contract speaks against it
    NOT_OBSERVABLE = "not observable"


class ReadinessLine(Struct, frozen=True, kw_only=True):
    """One line of the readiness checklist, with what it rests on."""

    name: str
    state: ReadinessState
    evidence: str


class WeekReport(Struct, frozen=True, kw_only=True):
    """What one week did.

    `weeks` past ones were there to hold it against; `covered_share` of the week was looked at; `remarks` are what a
    reader has to know before numbers. `growth` is what all patterns share since the week before. `basis` says at which
    prices dollars are reckoned.
    """

    week: str
    window: Window
    weeks: int
    covered_share: float
    growth: float
    requests: float
    dollars: float | None
    basis: str
    has_contract: bool
    remarks: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    quieted: tuple[Quieted, ...] = ()
    better: tuple[Better, ...] = ()
    undeclared: tuple[Undeclared, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    heat: WeekMap | None = None
    forecasts: tuple[KeyForecast, ...] | None = None
    waste: tuple[FilterWaste, ...] | None = None
    indexes: tuple[IndexUse, ...] | None = None
    transactions: tuple[TransactionUse, ...] = ()
    together: tuple[Together, ...] | None = None
    coverage: tuple[CoverageOfContract, ...] = ()
    readiness: tuple[ReadinessLine, ...] = ()
