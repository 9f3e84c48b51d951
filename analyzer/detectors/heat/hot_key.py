"""One key, prefix or index key takes more than its partition can serve.

A partition serves 3,000 read and 1,000 write units a second whatever its table has, so that capacity does not help.
A key's admitted units stand just under that ceiling while the rest is refused: demand counts the refused tries too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.insight_finding import insight_finding
from analyzer.detectors.insight_verdict import InsightVerdicts
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import between, number, percent, who
from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, SelfHeals, Severity
from analyzer.model.instant import SLICE_MS
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason
from analyzer.traffic.heat import ceiling_of
from analyzer.traffic.measure import direction_units, evidence_of, victims_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from analyzer.model.counts import KeyName
    from analyzer.model.traffic import KeyHeat, PatternTraffic, Traffic

__all__ = ["HotKey"]

_SLICE_SECONDS = SLICE_MS // 1000
_FEW_ITEMS = 4
"""So few items under a partition key leave nothing to spread heat over."""
_CONCENTRATED = "refused requests concentrate on it"


class _Judged(NamedTuple):
    """A key with how bad it is, and why."""

    key: KeyHeat
    severity: Severity
    why: str


class HotKey(Struct, frozen=True):
    """Judges the heaviest keys of a target, reads and writes apart, and convicts the most specific one."""

    at_ceiling: Share = 0.9
    sustained_seconds: Whole = 60
    warm: Share = 0.7
    warm_seconds: Whole = 300
    bursty: Share = 0.5
    burst_factor: Positive = 2.0
    seconds_over: Whole = 3
    tries_share: Share = 0.25
    concentration: Positive = 3.0
    least_tries: Whole = 10
    dominant_share: Share = 0.5
    skew_share: Share = 0.25
    skew_heat: Share = 0.1
    least_observed: Whole = 10
    carries_share: Share = 0.8

    name: ClassVar[str] = "hot-key"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.REQUEST_KEYS, Sight.REQUEST_UNITS}),
        frozenset({Sight.INSIGHTS_ACCESSED}),
        frozenset({Sight.INSIGHTS_THROTTLED}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CONTRACT, Sight.TABLE, Sight.METRICS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding a key; a key that holds all of another's heat stands for both."""
        told: set[KeyName] = set()
        if self.needs[0] <= traffic.sights:
            yield from self._by_requests(traffic, told)
        verdicts = InsightVerdicts(self.at_ceiling, self.warm, self.warm_seconds, self.tries_share, self.least_tries)
        for verdict in verdicts.judge(traffic):
            if verdict.key.name not in told:
                told.add(verdict.key.name)
                yield insight_finding(self.name, verdict, traffic)

    def _by_requests(self, traffic: Traffic, told: set[KeyName]) -> Iterator[Finding | Skipped]:
        for direction in Direction:
            keys = [key for key in traffic.keys if key.direction is direction]
            judged = [one for key in keys if (one := self._judge(key, traffic)) is not None]
            for one in judged:
                if not any(self._carries(finer, one.key) for finer in keys) and not self._is_told(one, judged):
                    if one.severity is not Severity.LOW:
                        told.add(one.key.name)
                    yield self._finding(one, traffic)
        if not self._is_enough(traffic):
            target = traffic.target
            needs = (f"{self.least_observed} records in the window, to tell skew from chance",)
            yield Skipped(self.name, target.table, target.index, SkipReason.TOO_LITTLE, needs)

    def _carries(self, finer: KeyHeat, key: KeyHeat) -> bool:
        """Whether a finer key is part of another and takes most of its units, or of its refused tries."""
        if finer.level <= key.level or not _is_part_of(finer.name, key.name):
            return False
        is_refused = 0 < self.carries_share * key.tries <= finer.tries
        return is_refused or finer.units.value >= self.carries_share * key.units.value

    def _is_told(self, one: _Judged, judged: list[_Judged]) -> bool:
        """Whether a key is a lesser part of one that is judged no better: its collection's heat is not its own."""
        return any(
            one.severity.rank <= other.severity.rank
            and other.key.level < one.key.level
            and _is_part_of(one.key.name, other.key.name)
            and not self._carries(one.key, other.key)
            for other in judged
        )

    def _is_enough(self, traffic: Traffic) -> bool:
        return sum(row.observed for row in traffic.rows) >= self.least_observed

    def _judge(self, key: KeyHeat, traffic: Traffic) -> _Judged | None:
        harmed = self._throttled(key, traffic)
        if harmed is not None:
            failed = any(t.failed.value > 0 for t in traffic.throttles if t.direction is key.direction)
            return _Judged(key, Severity.CRITICAL if failed else Severity.HIGH, harmed)
        if key.level is not KeyLevel.PREFIX and (key.admitted.low >= self.bursty or key.seconds_over):
            warm = self._warm(key, ceiling_of(key.direction))
            if warm is not None:
                return warm
        if self._skewed(key):
            return _Judged(key, Severity.LOW, "far from any limit today")
        return None

    def _warm(self, key: KeyHeat, ceiling: int) -> _Judged | None:
        """Judge a key by its own units, whether or not any try was refused."""
        if _longest(key, lambda low: low >= self.at_ceiling * ceiling) >= self.sustained_seconds:
            return _Judged(key, Severity.HIGH, f"at its ceiling for {self.sustained_seconds} s or more")
        demand = key.heat.value / key.admitted.value if key.admitted.value else 1.0
        if demand > 1 and _longest(key, lambda low: low * demand >= ceiling) >= self.sustained_seconds:
            return _Judged(key, Severity.HIGH, f"asked for its ceiling for {self.sustained_seconds} s or more")
        if _longest(key, lambda low: low >= self.warm * ceiling) >= self.warm_seconds:
            return _Judged(key, Severity.MEDIUM, f"over {percent(self.warm)} of its ceiling for minutes")
        if self._bursts(key, ceiling):
            return _Judged(key, Severity.MEDIUM, "single seconds reach its ceiling")
        return None

    def _throttled(self, key: KeyHeat, traffic: Traffic) -> str | None:
        """Say why refused tries convict this key; None where they do not."""
        if key.tries < self.least_tries:
            return self._dominant(key, traffic)
        causes = {t.cause for t in traffic.throttles if t.direction is key.direction}
        if not causes & {"key-range", "unknown"} and key.heat.low < self.warm:
            return None
        if key.tries_share >= self.tries_share:
            return "DynamoDB refused its requests for the key range" if "key-range" in causes else _CONCENTRATED
        if key.heat.low >= self.warm and key.tries_share >= self.concentration * key.share.value:
            return "it is refused more often than it is served"
        return None

    def _dominant(self, key: KeyHeat, traffic: Traffic) -> str | None:
        """Say why a key of whose refusals the log knows nothing is the one that metrics tell of."""
        ranged = [one for one in traffic.metric_throttles if one.direction is key.direction]
        is_ranged = any(one.cause == "key-range" and one.events >= self.least_tries for one in ranged)
        if not is_ranged or key.level is KeyLevel.PREFIX or key.share.low < self.dominant_share:
            return None
        return "the target is refused for a key range, and this key takes most of it"

    def _bursts(self, key: KeyHeat, ceiling: int) -> bool:
        if key.seconds_over is not None and key.seconds_over >= self.seconds_over and not key.tries:
            return True
        if key.peak_second is None or key.admitted.low < self.bursty:
            return False
        return key.peak_second >= self.burst_factor * key.admitted.value * ceiling

    def _skewed(self, key: KeyHeat) -> bool:
        if key.level is KeyLevel.PREFIX or key.observed < self.least_observed:
            return False
        return key.share.low >= self.skew_share and key.heat.high < self.skew_heat

    def _finding(self, one: _Judged, traffic: Traffic) -> Finding:
        key = one.key
        rows = [traffic.rows[number] for number, _ in key.rows]
        first = rows[0] if rows else None
        shape = _shape(key, rows)
        served = Severity.LOW is not one.severity
        return finding(
            self.name,
            traffic,
            one.severity,
            _summary(one, traffic, first),
            confidence=Confidence.CERTAIN if not traffic.sampled else Confidence.LIKELY,
            subject=_subject(key),
            key=key.key,
            key_template=key.key_template,
            pattern=first.attribution.pattern if first else None,
            fingerprint=first.shape.fingerprint if first else None,
            caller=first.caller if first else None,
            victims=victims_of(traffic, key.direction) if key.tries else (),
            cause=shape,
            direction=key.direction,
            evidence=_evidence(key, traffic, shape),
            self_heals=_self_heals(key, traffic) if served else None,
            advice=_advice(key, rows, traffic) if served else (),
        )


def _subject(key: KeyHeat) -> str:
    return "\x1f".join((key.direction, key.level.name, key.name.partition, key.name.sort or ""))


def _longest(key: KeyHeat, holds: Callable[[float], bool]) -> int:
    """Return the length in seconds of the longest run of slices whose certain units a second satisfy a condition."""
    longest = run = 0
    before: int | None = None
    for part in key.series:
        follows = before is not None and part.start - before == SLICE_MS
        run = (run + 1 if follows else 1) if holds(part.low) else 0
        longest = max(longest, run)
        before = part.start
    return longest * _SLICE_SECONDS


def _is_part_of(finer: KeyName, name: KeyName) -> bool:
    """Whether a finer key lies under another."""
    if name.level is KeyLevel.PREFIX:
        return finer.partition.startswith(name.partition)
    return finer.partition == name.partition


def _shape(key: KeyHeat, rows: list[PatternTraffic]) -> str:
    """Name what kind of heat it is; advice follows from it."""
    if key.level is KeyLevel.PREFIX:
        return "tenant"
    adds = [row for row in rows if row.shape.update and ("ADD " in row.shape.update or " + " in row.shape.update)]
    is_added = bool(adds) and adds[0] is rows[0]
    if key.level is KeyLevel.ITEM or (key.distinct_sorts is not None and key.distinct_sorts <= 1):
        return "counter" if is_added else "single-item"
    if is_added and key.distinct_sorts is not None and key.distinct_sorts <= _FEW_ITEMS:
        return "counter"
    if all("<" not in str(template) for template in key.key_template.values()):
        return "constant"
    return "collection"


def _summary(one: _Judged, traffic: Traffic, first: PatternTraffic | None) -> str:
    key = one.key
    units = "read" if key.direction is Direction.READ else "write"
    caller = who(first.caller if first else None)
    if one.severity is Severity.LOW:
        multiple = 1 / key.heat.high if key.heat.high else 0.0
        return (
            f"{{key}} takes {percent(key.share.value)} of the {units} units of {traffic.target} at"
            f" {percent(key.heat.value)} of its ceiling: it breaks at {number(multiple)} times today's traffic"
        )
    refused = f", {number(key.tries)} tries refused" if key.tries else ""
    peak = key.peak_second
    most = f" (up to {number(peak)} in one)" if peak is not None and peak > _a_second(key).high else ""
    return (
        f"{{key}} on {traffic.target} takes {between(_a_second(key))} of {ceiling_of(key.direction):,} {units} units"
        f" a second{most}{refused}, mostly from {caller}: {one.why}"
    )


def _a_second(key: KeyHeat) -> Estimate:
    ceiling = ceiling_of(key.direction)
    return Estimate(key.admitted.value * ceiling, key.admitted.low * ceiling, key.admitted.high * ceiling)


def _evidence(key: KeyHeat, traffic: Traffic, shape: str) -> dict[str, float | str | None]:
    return {
        **evidence_of(heat=key.heat, admitted=key.admitted, share=key.share, units_a_second=_a_second(key)),
        "ceiling_units_a_second": ceiling_of(key.direction),
        "table_units_a_second": round(direction_units(traffic, key.direction) / max(traffic.window.seconds, 1), 3),
        "throttled_tries": key.tries,
        "throttled_share": round(key.tries_share, 3),
        "peak_second_units": key.peak_second,
        "shape": shape,
    }


def _self_heals(key: KeyHeat, traffic: Traffic) -> SelfHeals:
    if key.level is KeyLevel.ITEM or (key.distinct_sorts is not None and key.distinct_sorts <= 1):
        return SelfHeals("no", "it is a single item: DynamoDB cannot split it")
    if traffic.place.has_lsi:
        return SelfHeals("no", "the table has a local secondary index: an item collection stays on one partition")
    return SelfHeals("unknown", "its heat spreads over several items: DynamoDB may split the partition within minutes")


def _advice(key: KeyHeat, rows: list[PatternTraffic], traffic: Traffic) -> tuple[Advice, ...]:
    caller = who(rows[0].caller if rows else None)
    fix = advise(
        "fix-caller",
        f"Ask the owner of {caller} why it concentrates on {{key}}; stop or slow it there",
        effect="the heat ends with the traffic",
        takes="minutes",
    )
    if key.direction is Direction.READ:
        return (fix, *_read_advice(key, rows))
    return (fix, *_write_advice(key, traffic))


def _read_advice(key: KeyHeat, rows: list[PatternTraffic]) -> Iterator[Advice]:
    if any(row.shape.consistent for row in rows):
        yield advise(
            "read-eventually",
            "Read it eventually consistent where a second of staleness is allowed",
            effect="halves the units of each read, and lets all replicas serve it",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet="table.get_item(Key=key, ConsistentRead=False)",
        )
    if key.level is KeyLevel.PREFIX:
        yield advise(
            "spread-tenant",
            "Spread the prefix's keys over more partition keys",
            effect="no partition holds all of one tenant",
            risk=Risk.HIGH,
            reversible=False,
            takes="a migration",
        )
        return
    yield advise(
        "cache-item",
        "Cache the item in the caller or in DAX for a second or more",
        effect="one read a second and process instead of each request",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
    )


def _write_advice(key: KeyHeat, traffic: Traffic) -> Iterator[Advice]:
    attribute = next(iter(key.key), "the partition key")
    yield advise(
        "shard-key",
        f"Add a suffix to {attribute} and write to one of N; read all N and merge",
        effect="each suffix is a partition key of its own, with 1,000 write units a second",
        risk=Risk.HIGH,
        reversible=False,
        takes="a migration",
        snippet=f'{attribute} = f"{{value}}#{{random.randrange(N)}}"',
    )
    if traffic.target.index is None:
        yield advise(
            "aggregate-writes",
            "Collect updates in the caller and write their sum",
            effect="one write instead of many",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )
