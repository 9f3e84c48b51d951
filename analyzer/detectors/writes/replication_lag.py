"""A replica of a global table that is behind, or two regions that write the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec
from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner, aws, statistics
from analyzer.detectors.thresholds import Positive, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, who
from analyzer.detectors.writing import time_words
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, SelfHeals, Severity
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.traffic.measure import add, evidence_of
from analyzer.traffic.regions import TwoWriters, two_writers
from analyzer.traffic.runs import LEAST_POINTS, Risen, risen
from analyzer.traffic.series import points

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.batch import MetricSeries
    from analyzer.model.traffic import Refused, Traffic
    from analyzer.model.window import Window

__all__ = ["ReplicationLag"]

_LATENCY = "ReplicationLatency"
_CONFLICT = "ReplicatedWriteConflictException"


class ReplicationLag(Struct, frozen=True):
    """Judges each replica's latency against its own median, and writes of two regions that meet."""

    factor: Positive = 10.0
    for_seconds: Whole = 300
    least_ms: Whole = 1000
    many_conflicts: Whole = 10
    meet_seconds: Whole = 60

    name: ClassVar[str] = "replication-lag"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.METRICS}), frozenset({Sight.REQUESTS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.TABLE, Sight.CONTRACT, Sight.REQUEST_KEYS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a replica that is behind, one for refusals, one for items that two regions write."""
        if traffic.target.index is not None:
            return
        for series in traffic.metrics:
            region = series.dimensions.get("ReceivingRegion")
            if series.metric == _LATENCY and region is not None and series.stat == "Average":
                yield from self._judge(series, region, traffic)
        refused = [one for one in traffic.refusals if one.code == _CONFLICT]
        if refused:
            yield self._conflicts(refused, traffic)
        meeting = two_writers(traffic, self.meet_seconds * 1000)
        if meeting is not None:
            yield self._two_writers(meeting, traffic)

    def _judge(self, series: MetricSeries, region: str, traffic: Traffic) -> Iterator[Finding | Skipped]:
        behind = risen(series, traffic.window, self.factor)
        if behind is not None and behind.seconds >= self.for_seconds and behind.highest >= self.least_ms:
            yield self._lag(behind, region, traffic)
        elif points(series, traffic.window) and _is_short(series, traffic.window):
            needs = (f"a past of {_LATENCY} to {region}, for its own median",)
            yield Skipped(self.name, traffic.target.table, None, SkipReason.TOO_LITTLE, needs)

    def _lag(self, behind: Risen, region: str, traffic: Traffic) -> Finding:
        now = behind.run[-1].value
        strict = _tolerance_ms(traffic)
        is_over = strict is not None and now > strict
        return finding(
            self.name,
            traffic,
            Severity.HIGH if is_over else Severity.MEDIUM,
            f"writes to {traffic.target} reach {region} after {number(now)} ms, {number(now / behind.usual)} times the"
            f" usual {number(behind.usual)}, for {time_words(behind.seconds)}",
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            subject=f"lag\x1f{region}",
            cause="replica-behind",
            direction=Direction.WRITE,
            evidence={
                "receiving_region": region,
                "latency_ms": round(now, 1),
                "highest_ms": round(behind.highest, 1),
                "usual_ms": round(behind.usual, 1),
                "ratio": round(now / behind.usual, 2),
                "for_seconds": round(behind.seconds),
                "freshness_ms": strict,
            },
            self_heals=SelfHeals("unknown", "a replica catches up by itself once it can take the writes"),
            advice=(
                advise(
                    "check-service-health",
                    f"Look at the AWS Health Dashboard for DynamoDB here and in {region}, and at the replica's write"
                    " throttles: it needs the write capacity of this table",
                    effect="tells whether to wait",
                    command=_replica_throttles(region, traffic),
                ),
                advise(
                    "read-base-table",
                    f"Until it has caught up, send readers of {region} that need fresh items to this region",
                    effect="nobody reads what is old",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="minutes",
                ),
            ),
        )

    def _conflicts(self, refused: list[Refused], traffic: Traffic) -> Finding:
        calls = add(one.calls for one in refused)
        row = traffic.rows[max(refused, key=lambda one: one.calls.value).row]
        of = f"of {who(row.caller)} to {traffic.target}"
        return finding(
            self.name,
            traffic,
            Severity.HIGH if calls.value >= self.many_conflicts else Severity.MEDIUM,
            f"{counted(calls, f'write {of} was', f'writes {of} were')} refused: another region wrote the same item",
            subject="conflicts",
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            cause="write-conflict",
            direction=Direction.WRITE,
            evidence={**evidence_of(refused_calls=calls), "error": _CONFLICT},
            advice=(
                ask_owner(row.caller, "whether it sends again what was refused", "tells whether anything is missed"),
                advise(
                    "retry-with-jitter",
                    "Try again with a random pause: the other region's write is done in moments",
                    effect="most succeed at the second try",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                ),
                _one_region(),
            ),
        )

    def _two_writers(self, meeting: TwoWriters, traffic: Traffic) -> Finding:
        of, here, there = f"of {traffic.target}", meeting.here, meeting.there
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{counted(meeting.keys, f'item {of} was', f'items {of} were')} written from {here} and {there}"
            f" within {number(self.meet_seconds)} seconds: the last write wins, and the other one is gone",
            confidence=Confidence.LIKELY,
            because="what each region saw of the other's write is not visible",
            subject=f"writers\x1f{meeting.there}",
            caller=meeting.caller,
            cause="two-writers",
            direction=Direction.WRITE,
            evidence={
                "keys": meeting.keys,
                "meetings": meeting.meetings,
                "least_seconds_apart": round(meeting.least_ms / 1000, 3),
                "other_region": meeting.there,
                "declared_write_regions": ", ".join(traffic.place.write_regions) or None,
            },
            advice=(
                ask_owner(
                    meeting.caller,
                    "whether one item has to be written in several regions, and which write may be lost",
                    "tells whether anything is missed",
                ),
                _one_region(),
            ),
        )


def _is_short(series: MetricSeries, window: Window) -> bool:
    """Whether too few points came before the window to know what is usual."""
    return sum(start < window.start for start in series.timestamps) < LEAST_POINTS


def _tolerance_ms(traffic: Traffic) -> float | None:
    """Return how old the strictest declared read may be."""
    told = [one.freshness_seconds for one in traffic.place.patterns.values() if one.freshness_seconds is not None]
    return min(told) * 1000 if told else None


def _replica_throttles(region: str, traffic: Traffic) -> str:
    there = msgspec.structs.replace(traffic.target, region=region)
    return aws(there, statistics(there, "WriteThrottleEvents", traffic.window))


def _one_region() -> Advice:
    return advise(
        "fix-caller",
        "Let each item be written in one region alone, the home of its user for instance",
        effect="writes of one item no longer meet",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
    )
