"""What `doctor` is told of CloudWatch: permissions and delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.errors import CollectError
from analyzer.model.batch import Check
from analyzer.model.window import Window
from collectors.cloudwatch_metrics.series import Series
from collectors.cloudwatch_metrics.stretches import Stretch

if TYPE_CHECKING:
    from analyzer.model.instant import Instant
    from collectors.cloudwatch_metrics.reading import Reader

__all__ = ["check_access"]

_PROBE = Series("AccountMaxTableLevelReads", "Maximum", (), 300)
_PROBE_MS = 3_600_000


async def check_access(reader: Reader, now: Instant) -> tuple[Check, ...]:
    """Make one call of each kind."""
    return (await _read(reader, now), await _list(reader))


async def _read(reader: Reader, now: Instant) -> Check:
    end = now // 300_000 * 300_000
    (reading,) = await reader.read([_PROBE], Stretch(_PROBE.period_seconds, Window(end - _PROBE_MS, end)))
    name = "cloudwatch:GetMetricData"
    if reading.error is not None:
        return Check(name, "error", str(reading.error), reading.error.hint)
    points = reading.points.get(_PROBE)
    if points is None or not points.timestamps:
        return Check(name, "warning", "it may be called, and there is no metric of DynamoDB", "check the region")
    behind = (now - points.timestamps[-1]) // 1000 - _PROBE.period_seconds
    return Check(name, "ok", f"readable; points of five minutes are {max(behind, 0)} s behind")


async def _list(reader: Reader) -> Check:
    try:
        found = await reader.metrics()
    except CollectError as error:
        return Check("cloudwatch:ListMetrics", "warning", str(error), error.hint)
    return Check("cloudwatch:ListMetrics", "ok", f"{len(found):,} metrics of DynamoDB")
