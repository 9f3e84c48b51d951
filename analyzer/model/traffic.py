"""The joined evidence for one target: what was asked of it, by whom, as which declared pattern, at what cost."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Change, Direction, KeyShown
from analyzer.model.instant import Instant
from analyzer.model.shape import Attribution, Shape
from analyzer.model.sight import Sight
from analyzer.model.table import TableDescription, TimeToLive
from analyzer.model.target import Target
from analyzer.model.window import Window

__all__ = [
    "Capacity",
    "Declared",
    "Hurt",
    "KeyHeat",
    "KeySlice",
    "Latency",
    "PatternTraffic",
    "Place",
    "Refused",
    "Throttles",
    "Traffic",
]


class Latency(Struct, frozen=True):
    """Counts of calls by latency bucket (model.counts.LATENCY_BOUNDS_MS), as observed, unweighted."""

    buckets: tuple[int, ...]
    sum_ms: float
    calls: int


class PatternTraffic(Struct, frozen=True, kw_only=True):
    """What one shape of one caller did in the window; estimates are of all requests, kept or not.

    `units_known` is the share of calls that told their units: where it is 0, `read_units` and `write_units` mean
    nothing. `wasted_units` are read units spent on items that a filter threw away. `write_units` of a write are the
    base table's; what its indexes cost stands in the traffic of those indexes.
    """

    shape: Shape
    attribution: Attribution
    caller: str | None
    requests: Estimate
    failed: Estimate
    throttled: Estimate
    throttled_failed: Estimate
    throttled_tries: Estimate
    read_units: Estimate
    write_units: Estimate
    wasted_units: Estimate
    scanned: Estimate
    returned: Estimate
    observed: int
    units_known: float
    counts_known: float
    attempts_a_request: float | None
    latency: Latency
    secondary: bool = False


class KeySlice(Struct, frozen=True):
    """The units a second that a key took in one slice."""

    start: Instant
    low: float
    high: float


class KeyHeat(Struct, frozen=True, kw_only=True):
    """A key, prefix or index key that takes much of its target in one direction.

    `heat` = demand ÷ ceiling in the hottest slice, demand being admitted units and throttled tries × units a request;
    `admitted` the same without the tries. `series` holds the admitted units a second of each slice. `share` is the part
    of the target's units. `name` is the key inside the program and is never shown. `rows` are (index into
    Traffic.rows, units), heaviest first. `observed` is the number of records that it rests on.
    """

    direction: Direction
    name: KeyName
    key: KeyShown
    key_template: KeyShown
    units: Estimate
    admitted: Estimate
    heat: Estimate
    share: Estimate
    tries: int
    tries_share: float
    series: tuple[KeySlice, ...]
    rows: tuple[tuple[int, float], ...]
    peak_second: float | None = None
    seconds_over: int | None = None
    observed: int = 0
    distinct_sorts: int | None = None

    @property
    def level(self) -> KeyLevel:
        """How much of a key it is."""
        return self.name.level


class Hurt(Struct, frozen=True):
    """One caller and pattern whose calls a limit refused; `calls` are all its calls in that direction."""

    caller: str | None
    pattern: str | None
    operation: str
    tries: float
    failed: float
    calls: float


class Throttles(Struct, frozen=True, kw_only=True):
    """Throttled tries on one limit of this target; `reasons` are DynamoDB's own words, none where none was told.

    `cause` is the detectors' word (`key-range`, `provisioned`, `max-on-demand`, `account-limit`, `unknown`); `tries`,
    `throttled` calls, `failed` ones (that ended in it) and `calls` (all of that direction, refused or not) are
    estimates of all requests, kept or not.
    """

    direction: Direction
    reasons: tuple[str, ...]
    cause: str
    source: str
    tries: Estimate
    throttled: Estimate
    failed: Estimate
    calls: Estimate
    hurt: tuple[Hurt, ...] = ()


class Capacity(Struct, frozen=True):
    """What the target may serve: None is "not known"."""

    billing_mode: str | None = None
    read_units: float | None = None
    write_units: float | None = None
    table_class: str | None = None


class Declared(Struct, frozen=True, kw_only=True):
    """What a declared pattern promises, as far as detectors judge it; None is "not said"."""

    id: str
    operations: tuple[str, ...] = ()
    owner: str | None = None
    callers: tuple[str, ...] = ()
    discards_at_most: float | None = None
    peak_rate: float | None = None
    max_units_per_second: float | None = None


class Place(Struct, frozen=True, kw_only=True):
    """What is declared and known of the target itself; `table` is its table's newest description."""

    declared: bool = False
    owner: str | None = None
    partition_key: tuple[str, ...] = ()
    sort_key: tuple[str, ...] = ()
    index_keys: dict[str, tuple[str, ...]] = {}
    index_status: str | None = None
    has_lsi: bool | None = None
    capacity: Capacity = Capacity()
    staleness_tolerance_seconds: float | None = None
    ttl_attribute: str | None = None
    patterns: dict[str, Declared] = {}
    table: TableDescription | None = None
    time_to_live: TimeToLive | None = None


class Refused(Struct, frozen=True):
    """Calls of one row that ended in one error."""

    row: int
    code: str
    message: str
    calls: Estimate


class Traffic(Struct, frozen=True, kw_only=True):
    """Everything known of one target in one window; built once, used by every detector and exporter.

    `rows` of an index hold what read it; what its table's writes cost it are rows with `secondary` True. `hours`
    counts, for each fingerprint, the distinct clock hours in which it was seen since the process or file began.
    """

    target: Target
    window: Window
    sights: frozenset[Sight]
    place: Place
    rows: tuple[PatternTraffic, ...] = ()
    keys: tuple[KeyHeat, ...] = ()
    throttles: tuple[Throttles, ...] = ()
    refusals: tuple[Refused, ...] = ()
    changes: tuple[Change, ...] = ()
    sampled: bool = False
    hours: dict[str, int] = {}
