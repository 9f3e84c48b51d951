"""How long a write takes to appear in an index, where that is longer than its readers can bear."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, statistics
from analyzer.detectors.capacity import raise_capacity
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.traffic.gsi_lag import Lag, estimate_lag
from analyzer.traffic.lag_pairs import lag_pairs, probe_pairs
from analyzer.traffic.lag_proxies import FallenBehind, fallen_behind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.estimate import Estimate
    from analyzer.model.traffic import Traffic

__all__ = ["GsiLag"]

_WAYS = (Sight.RETURNED_KEYS.value, Sight.CANARY.value)


class GsiLag(Struct, frozen=True):
    """Judges the least that the slowest writes took; metrics alone give a sign of a lag at most."""

    tolerance_seconds: Positive = 5.0
    behind_share: Share = 0.8
    skew_ms: Whole = 10
    gone_share: Share = 0.1

    name: ClassVar[str] = "gsi-lag"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.RETURNED_KEYS, Sight.REQUEST_SEQUENCES}),
        frozenset({Sight.CANARY}),
        frozenset({Sight.METRICS}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.METRICS, Sight.CONTRACT, Sight.CANARY})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one outcome an index: what was measured, else a sign of it, else why it could not be measured."""
        if traffic.target.index is None:
            return
        lag = estimate_lag((*lag_pairs(traffic, self.skew_ms), *probe_pairs(traffic.probes)))
        behind = fallen_behind(traffic)
        if lag is not None and lag.regressions > self.gone_share * (lag.writes + lag.regressions):
            yield self._skip(traffic, SkipReason.NOT_COVERED, "writes that are not in the log")
        elif lag is not None and lag.p50 is not None:
            worst = max(one.low for one in (lag.p50, lag.p95, lag.p99) if one is not None)
            tolerance = self._tolerance(traffic)
            if worst > tolerance:
                yield self._measured(lag, lag.p50, worst, tolerance, traffic)
        elif behind is not None and behind.share <= self.behind_share:
            yield self._sign(behind, traffic)
        else:
            reason = SkipReason.MISSING_SIGHT if lag is None else SkipReason.TOO_LITTLE
            yield self._skip(traffic, reason, *(_WAYS if lag is None else ()))

    def _skip(self, traffic: Traffic, reason: SkipReason, *needs: str) -> Skipped:
        return Skipped(self.name, traffic.target.table, traffic.target.index, reason, needs)

    def _tolerance(self, traffic: Traffic) -> float:
        said = traffic.place.staleness_tolerance_seconds
        return self.tolerance_seconds if said is None else said

    def _measured(self, lag: Lag, median: Estimate, worst: float, tolerance: float, traffic: Traffic) -> Finding:
        stale = "" if lag.stale_after_second is None else f"; {percent(lag.stale_after_second)} of reads a second after"
        stale += " a write missed it" if stale else ""
        sources = [SourceName.REQUEST_LOG.value] if lag.pairs > sum(len(one.polls) for one in traffic.probes) else []
        return finding(
            self.name,
            traffic,
            Severity.HIGH if median.low > tolerance else Severity.MEDIUM,
            f"one write in {_one_in(lag, worst)} takes {number(round(worst, 2))} seconds or more to appear in"
            f" {traffic.target}, where {number(tolerance)} are borne{stale}",
            confidence=Confidence.CERTAIN if lag.p99 is not None else Confidence.LIKELY,
            because=f"estimated from {number(lag.pairs)} reads after {number(lag.writes)} writes, with bounds of 95 %",
            sources=(*sources, *([SourceName.CANARY.value] if traffic.probes else [])),
            direction=Direction.READ,
            evidence={
                **_quantiles(lag),
                "tolerance_seconds": tolerance,
                "stale_share_after_a_second": lag.stale_after_second,
                "writes": lag.writes,
                "reads": lag.pairs,
                "stale_reads": lag.stale,
                "regressions": lag.regressions,
            },
            advice=tuple(_advice(traffic)),
        )

    def _sign(self, behind: FallenBehind, traffic: Traffic) -> Finding:
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{traffic.target} may be behind its table: it takes {percent(behind.share)} of the writes that it used to"
            f" take beside it, with {counted(behind.events, 'throttle event')}",
            confidence=Confidence.POSSIBLE,
            because="metrics tell no lag: index writes fell behind table writes against their ratio of the last week",
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            direction=Direction.WRITE,
            evidence={
                "write_ratio": round(behind.ratio, 4),
                "write_ratio_of_the_week": round(behind.past_ratio, 4),
                "periods_compared": behind.past_points,
                "throttle_events": behind.events,
            },
            advice=tuple(_advice(traffic)),
        )


def _one_in(lag: Lag, worst: float) -> int:
    """Return what the quantile that convicts is of, the lowest that takes so long: one in two, in 20, or in 100."""
    told = ((lag.p50, 2), (lag.p95, 20), (lag.p99, 100))
    return min(rarity for one, rarity in told if one is not None and one.low >= worst)


def _quantiles(lag: Lag) -> dict[str, float | str | None]:
    found: dict[str, float | str | None] = {}
    for name, one in (("p50", lag.p50), ("p95", lag.p95), ("p99", lag.p99)):
        if one is not None:
            label = f"lag_{name}_seconds"
            found |= {label: _finite(one.value), f"{label}_low": _finite(one.low), f"{label}_high": _finite(one.high)}
    return found


def _finite(seconds: float) -> float | None:
    """Return what was seen; as far as nobody looked, nothing is known."""
    return None if math.isinf(seconds) else round(seconds, 3)


def _advice(traffic: Traffic) -> Iterator[Advice]:
    target = traffic.target
    yield advise(
        "check-service-health",
        f"Look whether {target.index} refuses writes, and at AWS's health page: an index that is full, or hot on one"
        " key, falls behind",
        effect="tells a full index from a fault of the service",
        command=aws(target, statistics(target, "WriteThrottleEvents", traffic.window)),
        takes="minutes",
    )
    if any(one.direction is Direction.WRITE and one.cause == "provisioned" for one in traffic.metric_throttles):
        yield from raise_capacity(traffic, Direction.WRITE)
    yield advise(
        "read-base-table",
        f"Let readers that need the last write read {target.table} by key and strongly",
        effect="they see every write before them",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet="table.get_item(Key=key, ConsistentRead=True)",
    )
