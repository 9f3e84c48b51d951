"""A backfill, replay or import that writes faster than the table can take, or than it was declared to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, percent, who
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.traffic.bulk import busiest_writes, is_bulk, write_weight
from analyzer.traffic.limits_hit import limits_hit
from analyzer.traffic.measure import add
from analyzer.traffic.series import series_of, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.finding import Advice
    from analyzer.model.traffic import PatternTraffic, Throttles, Traffic

__all__ = ["UnpacedBulk"]

_MOST_NAMED = 3
"""Callers of one pattern that are named, so that the sentence stays one."""
_BULK = frozenset({"BatchWriteItem", "PutItem", "UpdateItem", "DeleteItem"})


class _Pace(NamedTuple):
    """A pattern that is over its pace: its rows of all callers, the units a second that they write, and its most.

    `parts` is how much each caller writes of it, as a share of its units, the most first.
    """

    pattern: str
    rows: tuple[PatternTraffic, ...]
    rate: float
    most: float
    parts: tuple[tuple[str | None, float], ...]


class _Bulk(NamedTuple):
    """The writes of one caller, or of a pattern that is over its pace.

    `share` is that of all that the caller writes, of several callers that of the pattern; `caller` writes most of it.
    """

    caller: str | None
    rows: tuple[PatternTraffic, ...]
    share: float
    over: _Pace | None
    refused: float


class UnpacedBulk(Struct, frozen=True):
    """Judges the caller that writes most while writes are refused, and patterns that must pace themselves."""

    caller_share: Share = 0.5
    least_tries: Whole = 10
    batch_share: Share = 0.5

    name: ClassVar[str] = "unpaced-bulk"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield the worst finding a shape, or one for the table where callers are not seen."""
        if traffic.target.index is not None:
            return
        if Sight.REQUESTS in traffic.sights:
            worst: dict[str, _Bulk] = {}
            for bulk in self._bulks(traffic):
                fingerprint = busiest_writes(bulk.rows).shape.fingerprint
                if fingerprint not in worst or bulk.share > worst[fingerprint].share:
                    worst[fingerprint] = bulk
            yield from (self._finding(bulk, traffic) for bulk in worst.values())
        elif (told := self._by_metrics(traffic)) is not None:
            yield told

    def _bulks(self, traffic: Traffic) -> Iterator[_Bulk]:
        """Yield patterns over their pace, whoever writes them, and callers that write most while writes are refused."""
        writes = [row for row in traffic.rows if row.shape.writes and not row.secondary]
        everything, refused = write_weight(writes), _refused(traffic)
        told: set[str | None] = set()
        writers: dict[str | None, list[PatternTraffic]] = {}
        for row in writes:
            writers.setdefault(row.caller, []).append(row)
        for over in _over_their_pace(writes, traffic):
            callers = [caller for caller, _ in over.parts]
            told.update(callers)
            of = writers[callers[0]] if len(callers) == 1 else over.rows
            yield _Bulk(callers[0], over.rows, write_weight(of) / everything, over, refused)
        for caller, rows in writers.items():
            weight = write_weight(rows)
            is_most = refused >= self.least_tries and 0 < self.caller_share * everything <= weight
            if is_most and caller is not None and caller not in told and is_bulk(rows, traffic, self.batch_share):
                yield _Bulk(caller, tuple(rows), weight / everything, None, refused)

    def _finding(self, bulk: _Bulk, traffic: Traffic) -> Finding:
        over = bulk.over
        own = {bulk.caller} if over is None else {caller for caller, _ in over.parts}
        are_many = len(own) > 1
        others = {
            Victim(one.caller, one.pattern)
            for throttles in _limits(traffic)
            for one in throttles.hurt
            if one.caller not in own
        }
        most = busiest_writes(bulk.rows)
        pace = "" if over is None else f", {number(over.rate)} units a second where it declared {number(over.most)}"
        hurt = f" while {counted(bulk.refused, 'write try is', 'write tries are')} refused" if bulk.refused else ""
        return finding(
            self.name,
            traffic,
            Severity.HIGH if others else Severity.MEDIUM,
            f"{_writes(bulk)} {percent(bulk.share)} of the write units of {traffic.target}{pace}{hurt}",
            confidence=Confidence.LIKELY if traffic.sampled else Confidence.CERTAIN,
            subject=most.shape.fingerprint,
            caller=bulk.caller,
            pattern=most.attribution.pattern,
            fingerprint=most.shape.fingerprint,
            victims=tuple(sorted(others, key=lambda victim: (victim.caller or "", victim.pattern or ""))),
            cause="over-its-pace" if over is not None else "unpaced",
            direction=Direction.WRITE,
            evidence={
                "share_of_write_units": round(bulk.share, 4),
                "units_a_second": None if over is None else round(over.rate, 2),
                "declared_units_a_second": None if over is None else over.most,
                "throttled_tries": round(bulk.refused, 1),
                **({"callers": _parts(over)} if over is not None and are_many else {}),
            },
            advice=_advice(f"the {len(own)} callers" if are_many else who(bulk.caller), are_many=are_many),
        )

    def _by_metrics(self, traffic: Traffic) -> Finding | None:
        """Judge by operations: most successful writes are batches while writes are refused."""
        hits = [hit for hit in limits_hit(traffic) if hit.direction is Direction.WRITE]
        events = sum(hit.events or 0.0 for hit in hits)
        served = {
            operation: total(
                series_of(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation),
                traffic.window,
            )
            or 0.0
            for operation in _BULK
        }
        of_all = sum(served.values())
        if events < self.least_tries or not of_all or served["BatchWriteItem"] < self.batch_share * of_all:
            return None
        share = served["BatchWriteItem"] / of_all
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{percent(share)} of the writes to {traffic.target} are batches, while {number(events)} write throttle"
            " events were counted: a bulk writer outruns the table",
            confidence=Confidence.LIKELY,
            because="metrics know operations, not callers",
            sources=(SourceName.CLOUDWATCH_METRICS.value,),
            subject="",
            cause="unpaced",
            direction=Direction.WRITE,
            evidence={"batch_share": round(share, 4), "throttle_events": events},
            advice=_advice("the bulk writer"),
        )


def _over_their_pace(writes: list[PatternTraffic], traffic: Traffic) -> Iterator[_Pace]:
    """Yield the patterns that are written faster than they declared, over all of their shapes and callers."""
    patterns: dict[str, list[PatternTraffic]] = {}
    for row in writes:
        if row.attribution.pattern is not None and row.units_known:
            patterns.setdefault(row.attribution.pattern, []).append(row)
    for pattern, rows in patterns.items():
        declared = traffic.place.patterns.get(pattern)
        most = declared.max_units_per_second if declared is not None else None
        rate = add(row.write_units for row in rows).low / traffic.window.rate_seconds
        if most is not None and rate > most:
            yield _Pace(pattern, tuple(rows), rate, most, _shares(rows))


def _shares(rows: list[PatternTraffic]) -> tuple[tuple[str | None, float], ...]:
    """Return which caller writes which share of rows, the most first."""
    callers: dict[str | None, list[PatternTraffic]] = {}
    for row in rows:
        callers.setdefault(row.caller, []).append(row)
    weights = {caller: write_weight(of) for caller, of in callers.items()}
    everything = sum(weights.values())
    return tuple(sorted(((one, part / everything) for one, part in weights.items()), key=lambda part: -part[1]))


def _writes(bulk: _Bulk) -> str:
    """Say who writes: one caller all that it does, or several of them one pattern."""
    over = bulk.over
    if over is None or len(over.parts) == 1:
        return f"{who(bulk.caller)} writes"
    return f"{over.pattern}, written by {len(over.parts)} callers ({_parts(over)}), takes"


def _parts(over: _Pace) -> str:
    """Say which caller writes which share of a pattern: the greatest by name, the rest as one."""
    told = [f"{who(caller)} {percent(part)}" for caller, part in over.parts[:_MOST_NAMED]]
    rest = over.parts[_MOST_NAMED:]
    if rest:
        told.append(f"{counted(len(rest), 'other')} {percent(sum(part for _, part in rest))}")
    return ", ".join(told)


def _limits(traffic: Traffic) -> Iterator[Throttles]:
    """Yield what refused writes, at the table or at its indexes."""
    for one in (traffic, *traffic.indexes):
        yield from (throttles for throttles in one.throttles if throttles.direction is Direction.WRITE)


def _refused(traffic: Traffic) -> float:
    """Return the write tries that the table or its indexes refused."""
    return sum(
        hit.tries.value if hit.tries is not None else hit.events or 0.0
        for one in (traffic, *traffic.indexes)
        for hit in limits_hit(one)
        if hit.direction is Direction.WRITE
    )


def _advice(writer: str, *, are_many: bool = False) -> tuple[Advice, ...]:
    owner, it, shared = ("owners", "they", ", shared by them,") if are_many else ("owner", "it", "")
    return (
        advise(
            "fix-caller",
            f"Ask the {owner} of {writer} whether {it} may stop until the refusals end, and go on from where {it}"
            " stopped",
            effect="the rest of the traffic is served at once",
            takes="minutes",
        ),
        advise(
            "pace-writes",
            f"Give {writer} a rate limit{shared} in write units a second, below what the table has left",
            effect="the rest of the traffic is served; the bulk ends a little later",
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
            snippet='limiter.acquire(response["ConsumedCapacity"][0]["CapacityUnits"])',
        ),
        advise(
            "use-queue",
            f"Put a queue before {writer}, with a consumer of bounded concurrency",
            effect="bursts become a steady stream that can be stopped and resumed",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        ),
    )
