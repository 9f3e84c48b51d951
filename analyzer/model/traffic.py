"""The joined evidence for one target: what was asked of it, by whom, as which declared pattern, at what cost."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.batch import LagProbe, MetricSeries
from analyzer.model.calls import CallBook
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.finding import Change, Direction, KeyShown
from analyzer.model.history import EMPTY, History
from analyzer.model.instant import Instant
from analyzer.model.prices import Prices
from analyzer.model.shape import Attribution, Shape
from analyzer.model.sight import Sight
from analyzer.model.table import ScalingLimits, TableDescription, TimeToLive
from analyzer.model.target import Target
from analyzer.model.window import Window

__all__ = [
    "Around",
    "Capacity",
    "Consumer",
    "Declared",
    "Hurt",
    "InsightKey",
    "InsightMinute",
    "KeyHeat",
    "KeySide",
    "KeySlice",
    "Latency",
    "MetricThrottles",
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
    base table's; what its indexes cost stands in the traffic of those indexes. `condition_failed`, `server_errors`
    (5xx) and `transport_failures` (no answer) are calls that ended so. `more` are calls whose answer had more,
    `resumed` those that went on where another one had stopped.
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
    condition_failed: Estimate = ZERO
    server_errors: Estimate = ZERO
    transport_failures: Estimate = ZERO
    returned_bytes: Estimate = ZERO
    more: Estimate = ZERO
    resumed: Estimate = ZERO


class KeySlice(Struct, frozen=True):
    """The units a second that a key took in one slice; the bounds are those of the sketch, not of a sample."""

    start: Instant
    low: float
    high: float


class KeyHeat(Struct, frozen=True, kw_only=True):
    """A key, prefix or index key that takes much of its target in one direction.

    `heat` = demand ÷ ceiling in the hottest slice, demand being admitted units and throttled tries × units a request;
    `admitted` the same without the tries. `series` holds the admitted units a second of each slice. `share` is the part
    of the target's units. `name` is the key inside the program and is never shown. `rows` are (index into
    Traffic.rows, units), heaviest first. `observed` is the number of records that it rests on, `kept` the probability
    with which they were kept, `tries_seen` of `tries` those that were kept in a sample (None: all). Of seconds nothing
    is told where a sample is too thin for them.
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
    tries_seen: int | None = None
    distinct_sorts: int | None = None
    kept: float = 1.0

    @property
    def record_units(self) -> float:
        """Units that one kept record stands for."""
        return self.units.value / max(self.observed, 1)

    @property
    def level(self) -> KeyLevel:
        """How much of a key it is."""
        return self.name.level


class KeySide(Struct, frozen=True):
    """All partition keys of a target in one direction: about how many there were, and their units.

    A key that is not listed has `floor` units at most.
    """

    direction: Direction
    distinct: int
    units: float
    floor: float = 0.0


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
    """What a declared pattern promises, as far as detectors judge it; None is "not said".

    Rates are requests a second, sizes bytes, shares 0 to 1. `is_filtered` says whether a filter belongs to it;
    `transaction_items` how many items one of its transactions has.
    """

    id: str
    operations: tuple[str, ...] = ()
    index: str | None = None
    owner: str | None = None
    callers: tuple[str, ...] = ()
    order: str | None = None
    consistency: str | None = None
    freshness_seconds: float | None = None
    is_filtered: bool | None = None
    discards_at_most: float | None = None
    page_size: int | None = None
    returns_all: bool | None = None
    items_per_key: float | None = None
    item_bytes: int | None = None
    p95_rate: float | None = None
    peak_rate: float | None = None
    frequency: str | None = None
    surge: dict[str, float] = {}
    read_rate_a_key: float | None = None
    write_rate_a_key: float | None = None
    growth_per_day: float | None = None
    top_share: float | None = None
    condition: str | None = None
    idempotency: str | None = None
    transaction_items: int | None = None
    transaction_because: str | None = None
    slo_p99_seconds: float | None = None
    slo_errors: float | None = None
    purpose: str | None = None
    schedule: str | None = None
    ends: str | None = None
    max_units_per_second: float | None = None

    @property
    def scans(self) -> bool:
        """Whether it is served by a Scan."""
        return "Scan" in self.operations


class Consumer(Struct, frozen=True):
    """A declared consumer of a table's stream."""

    name: str
    max_age_seconds: float | None = None


class Place(Struct, frozen=True, kw_only=True):
    """What is declared and known of the target itself; `table` is its table's newest description.

    `known_callers` are names that the contract uses; of `mapped_callers` it tells how sources see them.

    `library` names the known library whose table this is (analyzer/contract/known.py); where nobody declared the table,
    `patterns` are that library's, and `declared` stays False. `prices` are None where the list prices hold.
    """

    declared: bool = False
    library: str | None = None
    owner: str | None = None
    partition_key: tuple[str, ...] = ()
    sort_key: tuple[str, ...] = ()
    index_keys: dict[str, tuple[str, ...]] = {}
    index_status: str | None = None
    has_lsi: bool | None = None
    capacity: Capacity = Capacity()
    staleness_tolerance_seconds: float | None = None
    expected_write_amplification: float | None = None
    ttl_attribute: str | None = None
    ttl_purpose: str | None = None
    source_of_truth: bool | None = None
    write_regions: tuple[str, ...] = ()
    consumers: tuple[Consumer, ...] = ()
    patterns: dict[str, Declared] = {}
    known_callers: frozenset[str] = frozenset()
    mapped_callers: frozenset[str] = frozenset()
    table: TableDescription | None = None
    time_to_live: TimeToLive | None = None
    prices: Prices | None = None


class Refused(Struct, frozen=True):
    """Calls of one row that ended in one error."""

    row: int
    code: str
    message: str
    calls: Estimate


class InsightMinute(Struct, frozen=True):
    """One datapoint of a key: units (3 × write + read units) or throttles of the period that begins here.

    `low` and `high` bound the key's heat, the share of a partition's ceiling; both None for throttles.
    `is_mixed_known`: something bounds how reads and writes mix in this period, so that `low` convicts; without it u
    itself does, as `likely`.
    """

    start: Instant
    value: float
    low: float | None = None
    high: float | None = None
    is_mixed_known: bool = False

    @property
    def heat(self) -> float | None:
        """The heat that convicts: the lower bound, or u where nothing speaks for a mixture; None for throttles."""
        return self.low if self.is_mixed_known else self.high


class InsightKey(Struct, frozen=True, kw_only=True):
    """One contributor of one Contributor Insights rule: PKC and SKC rank use, PKT and SKT throttles.

    `share` is the key's part of what the rule's listed keys took.
    """

    rule: str
    name: KeyName
    key: KeyShown
    key_template: KeyShown
    period_seconds: int
    minutes: tuple[InsightMinute, ...]
    share: float

    @property
    def is_throttles(self) -> bool:
        """Whether its values are throttles rather than units."""
        return self.rule.endswith("T")


class MetricThrottles(Struct, frozen=True, kw_only=True):
    """Throttle events of one direction and cause, as the target's metrics tell them.

    `events` count more than requests do; `minutes` are (start, events) of the periods that had any. `is_reason_told`:
    the cause comes from a metric of that reason, not from use beside capacity. Requests stand by operation, of the
    whole table: empty where nobody asked for those series.
    """

    direction: Direction
    cause: str
    events: float
    minutes: tuple[tuple[Instant, float], ...]
    period_seconds: int
    is_reason_told: bool
    throttled_requests: dict[str, float] = {}
    served_requests: dict[str, float] = {}


class Around(Struct, frozen=True, kw_only=True):
    """What held in the whole account and region in the same window: a fault of many tables is nobody's key.

    Counts are of tables (indexes with them). `with_server_errors` saw 5xx, `with_transport_failures` no answer at all;
    of `asked` tables anything was seen.
    """

    asked: int = 0
    with_server_errors: int = 0
    with_transport_failures: int = 0


class Traffic(Struct, frozen=True, kw_only=True):
    """Everything known of one target in one window; built once, used by every detector and exporter.

    `rows` of an index hold what read it; what its table's writes cost it are rows with `secondary` True. `hours`
    counts, for each fingerprint, the distinct clock hours in which it was seen since the process or file began.
    `metrics` are the target's own series, a table's also by operation, and may begin long before the window;
    `account_metrics` bear no table. `insights`, `scaling` and `quotas` are what those sources told. `indexes` are the
    traffics of a table's indexes, without indexes of their own; of an index, `base` is the traffic of its table.
    `calls` is one book for all targets; it may begin long before the window. `history` is one for all targets, too.
    `probes` are those of the canary on an index.
    """

    target: Target
    window: Window
    sights: frozenset[Sight]
    place: Place
    rows: tuple[PatternTraffic, ...] = ()
    keys: tuple[KeyHeat, ...] = ()
    key_sides: tuple[KeySide, ...] = ()
    throttles: tuple[Throttles, ...] = ()
    refusals: tuple[Refused, ...] = ()
    changes: tuple[Change, ...] = ()
    sampled: bool = False
    hours: dict[str, int] = {}
    metrics: tuple[MetricSeries, ...] = ()
    metric_throttles: tuple[MetricThrottles, ...] = ()
    account_metrics: tuple[MetricSeries, ...] = ()
    insights: tuple[InsightKey, ...] = ()
    scaling: tuple[ScalingLimits, ...] = ()
    quotas: dict[str, float] = {}
    around: Around = Around()
    calls: CallBook | None = None
    probes: tuple[LagProbe, ...] = ()
    history: History = EMPTY
    indexes: tuple[Traffic, ...] = ()
    base: Traffic | None = None
