"""What sources hand over: blocks of a request log, and batches of observations."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.finding import Change
from analyzer.model.instant import Instant
from analyzer.model.sight import Covers, Gap
from analyzer.model.table import ScalingLimits, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window

__all__ = [
    "Batch",
    "Block",
    "Check",
    "InsightSeries",
    "MetricSeries",
    "Position",
    "StreamStatus",
]


class Position(Struct, frozen=True):
    """How far a file was read: `inode` tells a rotated file from a grown one, `offset` is in bytes, unpacked.

    `path` is the name that is tailed, even while a rotated file behind it is read. `head` is a fingerprint of the
    file's first bytes, which finds it again when it was compressed, and tells a new file that got an old inode.
    `modified` is when the file was last written to.
    """

    path: str
    inode: int
    offset: int
    head: str = ""
    modified: Instant = 0


class Block(Struct):
    """Whole lines of a request log, and the position after the last of them; `overlong` lines were cut out of it."""

    lines: bytes
    position: Position | None = None
    overlong: int = 0


class StreamStatus(Struct, frozen=True):
    """How a stream stands: what it tails, what is not there, how many bytes it knows to be unread.

    `truncated`, `lost` and `damaged` count since the process began: files cut short, files gone before they were read
    to their end, compressed files that could not be unpacked whole. `skipped` names did not fit the bound.
    """

    files: int
    missing: tuple[str, ...]
    pending_bytes: int
    truncated: int = 0
    lost: int = 0
    damaged: int = 0
    skipped: int = 0


class Check(Struct, frozen=True):
    """One thing that `doctor` looked at: `state` is ok, warning, error or unchecked."""

    name: str
    state: str
    message: str
    hint: str | None = None


class MetricSeries(Struct, frozen=True):
    """One series of GetMetricData; `values` are per period, as CloudWatch gave them."""

    metric: str
    dimensions: dict[str, str]
    stat: str
    period_seconds: int
    timestamps: tuple[Instant, ...]
    values: tuple[float, ...]
    is_complete: bool


class InsightSeries(Struct, frozen=True):
    """One key of a Contributor Insights report; `values` are ConsumedThroughputUnits or throttles a period."""

    target: Target
    rule: str
    mode: str
    period_seconds: int
    keys: tuple[str, ...]
    timestamps: tuple[Instant, ...]
    values: tuple[float, ...]


class Batch(Struct, frozen=True, kw_only=True):
    """One poll of one source: what it saw, which stretch that covers, and what it could not see.

    `quotas` are the account's, in units a second, as DescribeLimits names them.
    """

    window: Window
    covers: tuple[Covers, ...] = ()
    metrics: tuple[MetricSeries, ...] = ()
    insights: tuple[InsightSeries, ...] = ()
    tables: tuple[TableSnapshot, ...] = ()
    scaling: tuple[ScalingLimits, ...] = ()
    changes: tuple[Change, ...] = ()
    quotas: dict[str, float] = {}
    gaps: tuple[Gap, ...] = ()
