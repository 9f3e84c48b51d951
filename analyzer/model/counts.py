"""What the digest knows of a stretch of time: integers by cell, heavy keys with bounds, throttles by reason."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from msgspec import Struct

from analyzer.model.finding import Direction
from analyzer.model.instant import Instant
from analyzer.model.shape import Shape
from analyzer.model.target import Target
from analyzer.model.window import Window

__all__ = [
    "LATENCY_BOUNDS_MS",
    "N_COUNTS",
    "Cell",
    "Count",
    "Counts",
    "HeavyKey",
    "HeavyKeys",
    "KeyLevel",
    "KeyName",
    "Refusal",
    "ThrottleCount",
]


class Count(IntEnum):
    """Columns of the counts: whole numbers, units in halves so that they stay whole."""

    REQUESTS = 0
    FAILED = 1  # calls that ended in an error
    THROTTLED = 2  # calls with at least one throttled try
    THROTTLED_TRIES = 3
    THROTTLED_FAILED = 4  # calls that ended in a throttle
    ATTEMPTS = 5  # of the calls in ATTEMPTS_KNOWN
    ATTEMPTS_KNOWN = 6
    READ_HALF_UNITS = 7
    WRITE_HALF_UNITS = 8
    UNITS_KNOWN = 9  # calls that told their units
    SCANNED = 10  # of the calls in COUNTS_KNOWN
    RETURNED = 11
    COUNTS_KNOWN = 12  # calls that told both scanned and returned
    WASTED_HALF_UNITS = 13  # read units × share discarded by a filter, rounded down to halves
    RETURNED_BYTES = 14
    LATENCY_US = 15  # sum, of the calls in LATENCY_KNOWN
    LATENCY_KNOWN = 16
    MORE = 17
    RESUMED = 18
    UNPROCESSED = 19
    CONDITION_FAILED = 20
    SERVER_ERRORS = 21  # 5xx
    TRANSPORT_FAILURES = 22
    UNITS_SQUARED = 23  # sum of squared half-units (read + write), for the variance of an estimate


N_COUNTS = len(Count)

LATENCY_BOUNDS_MS: tuple[float, ...] = tuple(round(2 ** (i / 2), 3) for i in range(-2, 38))
"""Upper bounds of the log buckets of latency in milliseconds; one more bucket takes what lies above."""


class Cell(Struct, frozen=True):
    """What counts are kept for: shape × caller × sample rate at a target.

    `target` is the table or index that the units were consumed on. A write's units on a GSI form a cell of that index
    with `secondary` True: it holds units and throttles, and never requests, so that a request is counted once.
    """

    target: Target
    shape: Shape
    caller: str | None
    sample_rate: float
    secondary: bool = False


class KeyLevel(IntEnum):
    """How much of a key a heavy key is."""

    PREFIX = 0  # the leading segments of a partition key, ending in a delimiter
    PARTITION = 1  # the whole partition key
    ITEM = 2  # partition key and sort key


class KeyName(Struct, frozen=True, order=True):
    """A key or a prefix of one; values are as recorded (clear or token), numbers in their decimal text."""

    level: KeyLevel
    partition: str
    sort: str | None = None


class HeavyKey(Struct, frozen=True):
    """A key that takes much of a target; all numbers are weighted by 1 ÷ sample rate.

    The true weight lies in [low, high] (half-units). `series` holds (slice start, low, high) of each slice with weight.
    `tries` are throttled tries. `by_cell` says which cells of `Counts.cells` the weight came from, a lower bound each.
    `peak_second` is the most half-units in one second and `seconds_over` how many seconds stood at or over the ceiling
    since `tracked_since`; None where no per-second ring was kept. `sampled` is the number of records that it rests on,
    `requests` how many requests they stand for.
    `templates` is the shown shape of each value of the key (`CASE#<id>`), partition first.
    """

    name: KeyName
    low: int
    high: int
    series: tuple[tuple[Instant, int, int], ...] = ()
    tries: int = 0
    by_cell: tuple[tuple[int, int], ...] = ()
    peak_second: int | None = None
    seconds_over: int | None = None
    tracked_since: Instant | None = None
    sampled: int = 0
    distinct_sorts: int | None = None
    templates: tuple[str, ...] = ()
    requests: int = 0


class HeavyKeys(Struct, frozen=True):
    """The heaviest keys of one target and direction, heaviest first, and the bound on every key not listed.

    `total` is exact: the weight of all keys, listed or not. `attributes` names partition and sort key where known.
    `real` is False where records carried templates only, so that no key can be told from another.
    """

    target: Target
    direction: Direction
    total: int
    floor: int
    keys: tuple[HeavyKey, ...]
    distinct: int
    attributes: tuple[str, ...] = ()
    real: bool = True


class ThrottleCount(Struct, frozen=True):
    """Throttled tries of one cell for one reason; `resource` is the target whose limit it was (None: not told)."""

    cell: int
    reason: str
    resource: Target | None
    direction: Direction
    tries: int
    failed: int


class Refusal(Struct, frozen=True):
    """Calls of one cell that ended in one error; `message` is a normalised sample without values."""

    cell: int
    code: str
    message: str
    calls: int


class Counts(Struct, frozen=True):
    """One digest's answer for a window; `values` is int64 of shape (cells, N_COUNTS), unweighted.

    `series` is int64 (slices, cells, 3): requests, read and write half-units of each slice of the window, unweighted.
    `latency` is int64 (cells, len(LATENCY_BOUNDS_MS) + 1).
    """

    window: Window
    cells: tuple[Cell, ...]
    values: np.ndarray
    series: np.ndarray
    latency: np.ndarray
    keys: tuple[HeavyKeys, ...] = ()
    throttles: tuple[ThrottleCount, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    unparsed: int = 0
