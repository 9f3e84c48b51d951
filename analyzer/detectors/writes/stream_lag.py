"""Consumers of a table's changes that are behind, held up, or have lost some."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, quoted
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent
from analyzer.detectors.writing import time_words
from analyzer.model.finding import Advice, Confidence, Finding, Risk, SelfHeals, Severity
from analyzer.model.instant import DAY_SECONDS
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.series import points, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.batch import MetricSeries
    from analyzer.model.traffic import Traffic

__all__ = ["StreamLag"]

_RETENTION_SECONDS = DAY_SECONDS
"""DynamoDB Streams and, by default, Kinesis keep a record for a day (Developer Guide, "Change data capture")."""
_READ = "GetRecords"


class StreamLag(Struct, frozen=True):
    """Judges the age of the oldest record against the consumers' `max_age`, and refused or failed records."""

    undeclared_max_seconds: Whole = 300
    lost_soon_share: Share = 0.5
    throttled_share: Share = 0.01
    least_throttled: Whole = 10

    name: ClassVar[str] = "stream-lag"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.METRICS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CONTRACT, Sight.TABLE})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a kind of trouble."""
        if traffic.target.index is not None:
            return
        for series in traffic.metrics:
            if series.metric == "AgeOfOldestUnreplicatedRecord" and series.stat == "Maximum":
                yield from self._aged(series, traffic)
        lost = _sum(traffic, "FailedToReplicateRecordCount", "Sum")
        if lost:
            yield self._lost(lost, traffic)
        yield from self._throttled(traffic)

    def _aged(self, series: MetricSeries, traffic: Traffic) -> Iterator[Finding]:
        ages = [point.value for point in points(series, traffic.window)]
        if not ages:
            return
        consumers = traffic.place.consumers
        declared = [(one.max_age_seconds, one.name) for one in consumers if one.max_age_seconds is not None]
        limit, consumer = min(declared, default=(self.undeclared_max_seconds, None))
        age = median(ages)
        if age <= limit * 1000:
            return
        is_soon_lost = max(ages) >= self.lost_soon_share * _RETENTION_SECONDS * 1000
        who = consumer or "its consumer"
        yield finding(
            self.name,
            traffic,
            Severity.HIGH if is_soon_lost else Severity.MEDIUM,
            f"changes of {traffic.target} wait {time_words(age / 1000)} for {who}, which may be {time_words(limit)}"
            " behind",
            confidence=Confidence.LIKELY if consumer is None else Confidence.CERTAIN,
            because="no consumer declares a max_age" if consumer is None else None,
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            subject="age",
            cause="behind",
            evidence={
                "age_ms": round(age),
                "highest_age_ms": round(max(ages)),
                "max_age_seconds": limit,
                "consumer": consumer,
                "retention_seconds": _RETENTION_SECONDS,
            },
            self_heals=SelfHeals("unknown", "it catches up if the consumer is faster than the writers"),
            advice=tuple(_advice_behind(consumer, who, traffic)),
        )

    def _lost(self, lost: float, traffic: Traffic) -> Finding:
        return finding(
            self.name,
            traffic,
            Severity.HIGH,
            f"{number(lost)} changes of {traffic.target} never reached its Kinesis stream: consumers do not know them",
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            subject="lost",
            cause="failed-replication",
            evidence={"failed_records": lost},
            self_heals=SelfHeals("no", "DynamoDB does not send these records again"),
            advice=(
                advise(
                    "check-client",
                    "Look at the stream: deleted, its key disabled, or a record of over 1 MB",
                    effect="further changes arrive",
                    command=aws(
                        traffic.target,
                        f"dynamodb describe-kinesis-streaming-destination --table-name {quoted(traffic.target.table)}",
                    ),
                ),
                advise(
                    "use-export",
                    "Bring the consumers up to date from an export of the table, incremental where it has backups",
                    effect="they hold what the table holds",
                    risk=Risk.LOW,
                    takes="hours",
                ),
            ),
        )

    def _throttled(self, traffic: Traffic) -> Iterator[Finding]:
        """Judge refused reads of the stream, and refused puts into Kinesis."""
        refused = _sum(traffic, "ThrottledRequests", "Sum", Operation=_READ)
        served = _sum(traffic, "SuccessfulRequestLatency", "SampleCount", Operation=_READ)
        puts = _sum(traffic, "ThrottledPutRecordCount", "Maximum")
        share = refused / (refused + served) if refused else 0.0
        many_reads = refused >= self.least_throttled and share >= self.throttled_share
        if not many_reads and puts < self.least_throttled:
            return
        what = f"{counted(refused, 'read')} of its stream ({percent(share)})" if many_reads else counted(puts, "record")
        where = "more than two readers a shard are too many" if many_reads else "its Kinesis stream has too few shards"
        yield finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{what} of {traffic.target} were throttled: {where}",
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            subject="throttled",
            cause="readers-throttled" if many_reads else "puts-throttled",
            evidence={
                "throttled_reads": refused,
                "served_reads": served,
                "throttled_share": round(share, 4),
                "throttled_puts": puts,
                "declared_consumers": len(traffic.place.consumers) or None,
            },
            advice=tuple(_advice_readers(traffic) if many_reads else _advice_shards(traffic)),
        )


def _sum(traffic: Traffic, metric: str, stat: str, **dimensions: str) -> float:
    """Add all series of a metric over the window, whatever stream they are of."""
    found = (
        series
        for series in traffic.metrics
        if series.metric == metric
        and series.stat == stat
        and all(series.dimensions.get(name) == value for name, value in dimensions.items())
    )
    return sum(total(series, traffic.window) or 0.0 for series in found)


def _advice_behind(consumer: str | None, who: str, traffic: Traffic) -> Iterator[Advice]:
    yield advise(
        "check-client",
        f"Look at the errors and the concurrency of {who}: one record that fails again and again holds its shard up",
        effect="tells whether it is stuck or slow",
        command=None
        if consumer is None
        else aws(traffic.target, f"lambda list-event-source-mappings --function-name {quoted(consumer)}"),
    )
    yield advise(
        "use-stream",
        "Let it take larger batches, several a shard at once, and set aside what fails",
        effect="it catches up",
        risk=Risk.LOW,
        reversible=True,
        takes="minutes",
        snippet="ParallelizationFactor: 4\nBisectBatchOnFunctionError: true\nMaximumRetryAttempts: 3\n"
        "DestinationConfig: {OnFailure: {Destination: !GetAtt Failed.Arn}}",
    )


def _advice_readers(traffic: Traffic) -> Iterator[Advice]:
    table = quoted(traffic.target.table)
    yield advise(
        "check-client",
        "List who reads the stream: functions by their event source mappings, and applications of the Kinesis client",
        effect="tells which reader may go",
        command=aws(traffic.target, f"dynamodbstreams list-streams --table-name {table}"),
        takes="minutes",
    )
    yield advise(
        "use-stream",
        "Let one reader take the stream and hand on what the others need (a topic, a bus), or use Kinesis with fan-out",
        effect="two readers a shard at most",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet='sns.publish(TopicArn=topic, Message=json.dumps(record["dynamodb"], default=str))',
    )


def _advice_shards(traffic: Traffic) -> Iterator[Advice]:
    yield advise(
        "check-client",
        "Look which Kinesis stream the table writes into, and how many shards it has",
        effect="tells the stream that is too small",
        command=aws(
            traffic.target,
            f"dynamodb describe-kinesis-streaming-destination --table-name {quoted(traffic.target.table)}",
        ),
        takes="minutes",
    )
    yield advise(
        "use-stream",
        "Give the Kinesis stream more shards, or make it on demand",
        effect="it takes what the table writes",
        risk=Risk.LOW,
        reversible=True,
        takes="minutes",
        snippet="Type: AWS::Kinesis::Stream\nProperties:\n  StreamModeDetails: {StreamMode: ON_DEMAND}",
    )
