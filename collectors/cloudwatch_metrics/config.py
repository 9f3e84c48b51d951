"""What the collector of CloudWatch's metrics needs to be told."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["CloudWatchMetricsConfig", "MetricTarget"]


class MetricTarget(Struct, frozen=True):
    """A table to look at, as far as its catalog entry says which series it can have; None is "not known".

    `indexes` are its GSIs: an LSI has no metrics of its own. `replicas` are the regions that it replicates to.
    """

    table: str
    indexes: tuple[str, ...] = ()
    building: frozenset[str] = frozenset()
    is_provisioned: bool | None = None
    replicas: tuple[str, ...] | None = None


class CloudWatchMetricsConfig(Struct, frozen=True):
    """How often, how late and how far back CloudWatch is read.

    `every_ms` is what it costs: a metric is billed each time it is asked for, however many of its points come back.
    A minute has settled `delay_ms` after its end, one of five minutes `slow_delay_ms`; the last `overlap_ms` are read
    again, since points come late and change. `keep_ms` is how long a point is kept here; a failure that lasts longer
    leaves a hole. `include` and `exclude` are globs of table names, used where no catalog says what to look at.
    """

    every_ms: int = 300_000
    delay_ms: int = 180_000
    slow_delay_ms: int = 360_000
    overlap_ms: int = 900_000
    keep_ms: int = 3_600_000
    discover_every_ms: int = 3_600_000
    baselines: bool = True
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    most_series: int = 50_000
