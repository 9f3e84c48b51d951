"""Writes to a table refused because one of its indexes cannot take them.

A write needs capacity of its table and of every index it touches: where one index has none, the table's write fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, days_before, statistics
from analyzer.detectors.capacity import raise_capacity, raise_maximum, raise_quota
from analyzer.detectors.thresholds import Share
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.knowledge.operations import WRITES
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.limits_hit import LimitHit, limits_hit
from analyzer.traffic.measure import evidence_of
from analyzer.traffic.series import series_of, total
from analyzer.traffic.use import WriteUse, write_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Traffic

__all__ = ["GsiBackPressure"]


class GsiBackPressure(Struct, frozen=True):
    """Judges the write limits of an index by what they do to its table's writers."""

    critical_caller_share: Share = 0.05
    full_share: Share = 0.9

    name: ClassVar[str] = "gsi-back-pressure"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS, Sight.REQUEST_KEYS, Sight.TABLE})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding an index, by the limit that refused most; the base table has none."""
        if traffic.target.index is None:
            return
        hits = [hit for hit in limits_hit(traffic) if hit.direction is Direction.WRITE]
        if hits:
            yield self._finding(max(hits, key=_weight), traffic)
            return
        use = write_use(traffic)
        if use is not None and use.share >= self.full_share:
            yield self._no_headroom(use, traffic)

    def _finding(self, hit: LimitHit, traffic: Traffic) -> Finding:
        fails = any(one.failed >= self.critical_caller_share * one.calls for one in hit.hurt if one.failed)
        most = hit.hurt[0] if hit.hurt else None
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL if fails else Severity.HIGH,
            _summary(hit, traffic),
            confidence=Confidence.CERTAIN if hit.is_sure else Confidence.LIKELY,
            **({"because": hit.because} if hit.because else {}),
            sources=hit.sources,
            pattern=most.pattern if most else None,
            caller=most.caller if most else None,
            victims=tuple(dict.fromkeys(Victim(one.caller, one.pattern) for one in hit.hurt)),
            cause=hit.cause,
            direction=Direction.WRITE,
            evidence=_evidence(hit, traffic),
            advice=tuple(_advice(hit, traffic)),
        )

    def _no_headroom(self, use: WriteUse, traffic: Traffic) -> Finding:
        limits = next((one for one in traffic.scaling if one.direction is Direction.WRITE), None)
        aims = None if limits is None else limits.target_share
        return finding(
            self.name,
            traffic,
            Severity.LOW,
            f"index {traffic.target.index} of {traffic.target.table} uses {percent(use.share)} of its"
            f" {number(use.provisioned)} write units, and nothing is refused yet: there is no headroom",
            because="autoscaling may aim there" if aims is None else f"autoscaling aims at {percent(aims)}",
            sources=(use.source.value, SourceName.TABLE_CATALOG.value),
            direction=Direction.WRITE,
            evidence={
                "used_share": round(use.share, 4),
                "write_units_a_second": round(use.units_a_second, 3),
                "provisioned_units": use.provisioned,
            },
            advice=(
                advise(
                    "collect-longer",
                    f"Look what fills {traffic.target.index}, and when: the command lists its writes of the last day",
                    effect="tells whether a job can be moved",
                    command=aws(
                        traffic.target,
                        statistics(traffic.target, "ConsumedWriteCapacityUnits", days_before(traffic.window, 1)),
                    ),
                    takes="minutes",
                ),
                advise(
                    "smooth-traffic",
                    f"Keep bulk writes that fill {traffic.target.index} apart from the daily peak",
                    effect="no write of the table is refused for its index",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                ),
                *raise_capacity(traffic, Direction.WRITE),
            ),
        )


def _weight(hit: LimitHit) -> tuple[bool, float]:
    """Order limits: one that has a name before one that has none, then by what it refused."""
    refused = hit.events if hit.tries is None else hit.tries.value
    return hit.cause != "unknown", refused or 0.0


def _summary(hit: LimitHit, traffic: Traffic) -> str:
    target = traffic.target
    share = "some" if hit.share is None else percent(hit.share.value)
    if hit.tries is None:
        operations = ", ".join(_hurt_operations(traffic)) or "which operations, metrics do not tell"
        return (
            f"writes to {target.table} are refused because of index {target.index}:"
            f" {counted(hit.events or 0, 'throttle event')} ({operations})"
        )
    callers = list(dict.fromkeys(who(one.caller) for one in hit.hurt))
    failed = "" if hit.failed is None else f", {counted(hit.failed, 'call')} failed"
    return (
        f"writes to {target.table} are refused because of index {target.index}: {share} of them"
        f" ({counted(hit.tries, 'try', 'tries')}{failed}) from {', '.join(callers[:3])}"
    )


def _hurt_operations(traffic: Traffic) -> list[str]:
    """Return the operations of the table that were throttled, from its own metrics, the most hurt first."""
    base = traffic.base
    if base is None:
        return []
    refused = {
        operation: total(series_of(base.metrics, "ThrottledRequests", Operation=operation), base.window) or 0.0
        for operation in WRITES
    }
    return sorted((operation for operation in refused if refused[operation]), key=lambda one: -refused[one])


def _evidence(hit: LimitHit, traffic: Traffic) -> dict[str, float | str | None]:
    counted = {
        "throttled_share": hit.share,
        "throttled_tries": hit.tries,
        "failed_calls": hit.failed,
        "table_writes": hit.calls,
    }
    return {
        **evidence_of(**{name: value for name, value in counted.items() if value is not None}),
        **{name: None for name, value in counted.items() if value is None},
        "throttle_events": hit.events,
        "hurt_operations": ", ".join(_hurt_operations(traffic)) or None,
        "reason": ", ".join(hit.reasons) or None,
    }


def _advice(hit: LimitHit, traffic: Traffic) -> Iterator[Advice]:
    target = traffic.target
    yield advise(
        "fix-caller",
        f"Slow the writers that fill {target.index}; the table itself has room",
        effect="the index catches up, and the table takes writes again",
        takes="minutes",
    )
    if hit.cause == "key-range":
        yield advise(
            "change-key",
            f"Give {target.index} a partition key with more values, or a suffix on the one it has",
            effect="its writes spread over partitions",
            risk=Risk.HIGH,
            reversible=True,
            takes="an index build",
        )
        yield advise(
            "narrow-projection",
            f"Project less into {target.index}: an entry costs one unit a kilobyte",
            effect="fewer units a write",
            risk=Risk.HIGH,
            reversible=True,
            takes="an index build",
        )
    elif hit.cause == "provisioned":
        yield from raise_capacity(traffic, Direction.WRITE)
    elif hit.cause == "max-on-demand":
        yield raise_maximum(traffic, Direction.WRITE)
    elif hit.cause == "account-limit":
        yield raise_quota(traffic)
