"""What sources hand over: blocks of a request log, and batches of observations."""

from __future__ import annotations

import msgspec
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
    "LagProbe",
    "MetricSeries",
    "Position",
    "StreamStatus",
]


class Position(Struct, frozen=True):
    """How far a log was read.

    Of a file: `inode` tells a rotated file from a grown one, `offset` is in bytes, unpacked. `path` is the name that
    is tailed, even while a rotated file behind it is read. `head` is a fingerprint of the file's first bytes, which
    finds it again when it was compressed, and tells a new file that got an old inode. `modified` is when the file was
    last written to.

    Of a log that is listed by time: `path` names it (`s3://bucket/prefix`, `logs://region/group`). All that is older
    than `modified` was read, and of what is newer what `seen` names: short fingerprints of object keys, event or trace
    ids. `head` is the key of the object that is half read, `offset` the bytes taken of it, unpacked.
    """

    path: str
    inode: int
    offset: int
    head: str = ""
    modified: Instant = 0
    seen: tuple[str, ...] = ()


class Block(Struct):
    """Whole lines of a request log, and the position after the last of them.

    `overlong` lines were cut out of it; `bad` counts by reason what looked like requests and could not be read.
    """

    lines: bytes
    position: Position | None = None
    overlong: int = 0
    bad: dict[str, int] = {}


class StreamStatus(Struct, frozen=True):
    """How a stream stands: what it tails, what is not there, how many bytes it knows to be unread.

    `truncated`, `lost` and `damaged` count since the process began: files cut short, files gone before they were read
    to their end, compressed files that could not be unpacked whole. `skipped` names did not fit the bound. `gaps` are
    what cannot be looked at: those with an end for the windows that they touch, the others as long as they stand.
    `joined` records were one with another log's record of the same request, `set_aside` belong to a table and minute
    that another log is counted for.
    """

    files: int
    missing: tuple[str, ...]
    pending_bytes: int
    truncated: int = 0
    lost: int = 0
    damaged: int = 0
    skipped: int = 0
    gaps: tuple[Gap, ...] = ()
    joined: int = 0
    set_aside: int = 0


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
    """One key of a Contributor Insights report; `values` are ConsumedThroughputUnits or throttles a period.

    `keys` may be concealed. `labels` are the report's KeyLabels, in the order of `keys`; none where it had none.
    """

    target: Target
    rule: str
    mode: str
    period_seconds: int
    keys: tuple[str, ...]
    timestamps: tuple[Instant, ...]
    values: tuple[float, ...]
    labels: tuple[str, ...] = ()


class LagProbe(Struct, frozen=True):
    """One write of the canary to an index, and the reads after it; `key` names the reserved index key.

    `polls` hold bounds of the write's age in milliseconds and whether the read showed it. Once it was confirmed, every
    later age of the canary's schedule counts as shown.
    """

    target: Target
    key: str
    time: Instant
    polls: tuple[tuple[float, float, bool], ...]


class Batch(Struct, frozen=True, kw_only=True):
    """One poll of one source: what it saw, which stretch that covers, and what it could not see.

    `account` and `region` are those that were asked; metric series name neither. `quotas` are the account's, in units a
    second, as DescribeLimits names them.
    """

    window: Window
    covers: tuple[Covers, ...] = ()
    metrics: tuple[MetricSeries, ...] = ()
    insights: tuple[InsightSeries, ...] = ()
    tables: tuple[TableSnapshot, ...] = ()
    scaling: tuple[ScalingLimits, ...] = ()
    changes: tuple[Change, ...] = ()
    quotas: dict[str, float] = {}
    probes: tuple[LagProbe, ...] = ()
    account: str | None = None
    region: str | None = None
    gaps: tuple[Gap, ...] = ()

    def placed_changes(self) -> tuple[Change, ...]:
        """Return the changes with the account and region that were asked; one table name may be changed elsewhere."""
        if self.account is self.region is None:
            return self.changes
        return tuple(
            msgspec.structs.replace(one, account=one.account or self.account, region=one.region or self.region)
            for one in self.changes
        )
