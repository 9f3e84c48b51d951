"""A map of heat: keys of one target and direction by time, each cell a share of what one partition serves."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from msgspec import Struct

from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.finding import Direction, KeyShown
from analyzer.model.instant import Instant
from analyzer.model.target import Target

__all__ = ["HeatLabel", "HeatLimit", "HeatMap", "HeatMark", "HeatRow", "KeysFrom", "LabelKind", "MarkKind", "RowKind"]


class KeysFrom(StrEnum):
    """Who tells the keys of a map; nobody does where only metrics are read."""

    REQUEST_LOG = "request-log"
    CONTRIBUTOR_INSIGHTS = "contributor-insights"
    NOT_VISIBLE = "not-visible"


class RowKind(StrEnum):
    """A key of its own, the other keys of a prefix, or all that is left."""

    KEY = "key"
    PREFIX = "prefix"
    REST = "rest"


class LabelKind(StrEnum):
    """Shapes on a map, computed and not drawn by eye."""

    HOT_BAND = "hot-band"
    ROLLING_DIAGONAL = "rolling-diagonal"
    PERIODIC_BURST = "periodic-burst"
    ALL_ROWS_JUMP = "all-rows-jump"


class MarkKind(StrEnum):
    """A change, or a finding that began."""

    CHANGE = "change"
    FINDING = "finding"


class HeatRow(Struct, frozen=True, kw_only=True):
    """One row; `share` is its part of the target's units in the map's time, `units` those units.

    Of Contributor Insights `share` is of what it lists, reads and writes together: of all it is that at most.
    `rank` counts keys by units from 1, None of a bucket. `members` are the keys of a bucket that were told apart at any
    time. `key` is never printed but through the show policy.
    """

    kind: RowKind
    key: KeyShown
    key_template: KeyShown
    units: Estimate = ZERO
    share: Estimate = ZERO
    rank: int | None = None
    members: int = 0
    pattern: str | None = None
    caller: str | None = None


class HeatLabel(Struct, frozen=True, kw_only=True):
    """A shape found on a map; `row` is its row, None where it is one of many rows, `end` is excluded."""

    kind: LabelKind
    start: Instant
    end: Instant
    text: str
    row: int | None = None


class HeatMark(Struct, frozen=True):
    """Something that happened: a change, or a finding that began, with how much of it there is."""

    at: Instant
    what: str
    kind: MarkKind = MarkKind.CHANGE


class HeatLimit(Struct, frozen=True):
    """What a target was provisioned for from a time on, in units a second; None: on demand, or not known."""

    at: Instant
    units: float | None


class HeatMap(Struct, frozen=True, kw_only=True):
    """Matrices of (rows, columns): NaN is "not known".

    `heat` is demand ÷ ceiling, of a bucket that of the hottest key in it: keys of a prefix do not share a partition.
    `low` and `high` bound it. `units` are capacity units a second of all that a row stands for, `throttled` tries.
    `top` are the target's units a second by column, `limit` what it is provisioned for now (None: on demand, or not
    known), `limits` what it was provisioned for from which time on, beginning with the map; empty: `limit` throughout.
    `hint` says how keys would become visible.
    """

    target: Target
    direction: Direction
    start: Instant
    step_ms: int
    columns: int
    keys: KeysFrom
    rows: tuple[HeatRow, ...]
    heat: np.ndarray
    low: np.ndarray
    high: np.ndarray
    units: np.ndarray
    throttled: np.ndarray
    top: np.ndarray
    ceiling: float
    limit: float | None = None
    limits: tuple[HeatLimit, ...] = ()
    labels: tuple[HeatLabel, ...] = ()
    marks: tuple[HeatMark, ...] = ()
    hint: str | None = None

    @property
    def end(self) -> Instant:
        """The end of the last column."""
        return self.start + self.columns * self.step_ms
