"""One key, prefix or index key takes more than its partition can serve.

A partition serves 3,000 read and 1,000 write units a second whatever its table has, so that capacity does not help.
A key's admitted units stand just under that ceiling while the rest is refused: demand counts the refused tries too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import msgspec
from msgspec import Struct

from analyzer.detectors.insight_finding import insight_finding
from analyzer.detectors.insight_verdict import InsightVerdicts
from analyzer.detectors.key_advice import advice_for
from analyzer.detectors.key_facts import facts_of, subject_of
from analyzer.detectors.key_words import evidence_for, self_heals, summary_of
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import percent
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.instant import SLICE_MS
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason
from analyzer.traffic.heat import ceiling_of, is_coarse, least_rate
from analyzer.traffic.limits_hit import limits_hit
from analyzer.traffic.measure import tells_units, victims_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.counts import KeyName
    from analyzer.model.traffic import KeyHeat, Traffic

__all__ = ["HotKey"]

_SLICE_SECONDS = SLICE_MS // 1000
_OF_A_KEY = frozenset({"key-range", "unknown"})
"""Causes that a hot key may have; the others are limits of a table or an account."""
_CONCENTRATED = "refused requests concentrate on it"


_INSIGHTS = frozenset({Sight.INSIGHTS_ACCESSED, Sight.INSIGHTS_THROTTLED})
_NO_UNITS = "no request tells its units: that refusals for a key range concentrate on it is all that convicts it"


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
        frozenset({Sight.REQUEST_KEYS}),
        frozenset({Sight.INSIGHTS_ACCESSED}),
        frozenset({Sight.INSIGHTS_THROTTLED}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CONTRACT, Sight.TABLE, Sight.METRICS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding a key; a key that holds all of another's heat stands for both.

        Keys that rotate with the clock are one: of those that one window holds the worst speaks. Where requests tell no
        units, refusals for a key range alone convict.
        """
        told: set[KeyName] = set()
        found: dict[str, Finding] = {}
        if Sight.REQUEST_KEYS in traffic.sights:
            for one in self._by_requests(traffic):
                if one.severity is not Severity.LOW:
                    told.add(one.key.name)
                _keep_worse(found, self._finding(one, traffic))
            if (lacking := self._lacks(traffic, is_found=bool(found))) is not None:
                yield Skipped(self.name, traffic.target.table, traffic.target.index, *lacking)
        verdicts = InsightVerdicts(self.at_ceiling, self.warm, self.warm_seconds, self.tries_share, self.least_tries)
        for verdict in verdicts.judge(traffic):
            if verdict.key.name not in told:
                told.add(verdict.key.name)
                _keep_worse(found, insight_finding(self.name, verdict, traffic))
        yield from found.values()

    def _by_requests(self, traffic: Traffic) -> Iterator[_Judged]:
        for direction in Direction:
            keys = [key for key in traffic.keys if key.direction is direction]
            judged = [one for key in keys if (one := self._judge(key, traffic)) is not None]
            standing = [one for one in judged if not self._is_carried(one, judged)]
            yield from (one for one in standing if not _is_told(one, standing))

    def _is_carried(self, one: _Judged, judged: list[_Judged]) -> bool:
        """Whether a finer key that is judged no better carries a key's heat.

        One that is convicted of less, or of nothing, would leave the heat of the whole untold.
        """
        return any(one.severity.rank <= finer.severity.rank and self._carries(finer.key, one.key) for finer in judged)

    def _carries(self, finer: KeyHeat, key: KeyHeat) -> bool:
        """Whether a finer key is part of another and takes most of its units, or of its refused tries."""
        if finer.level <= key.level or not _is_part_of(finer.name, key.name):
            return False
        is_refused = 0 < self.carries_share * key.tries <= finer.tries
        return is_refused or 0 < self.carries_share * key.units.value <= finer.units.value

    def _lacks(self, traffic: Traffic, *, is_found: bool) -> tuple[SkipReason, tuple[str, ...]] | None:
        """Say what there is too little of to judge by requests; None where there is enough."""
        if Sight.REQUEST_UNITS not in traffic.sights:
            is_told = is_found or bool(_INSIGHTS & traffic.sights)
            return None if is_told else (SkipReason.MISSING_SIGHT, (Sight.REQUEST_UNITS,))
        if sum(row.observed for row in traffic.rows) < self.least_observed:
            return SkipReason.TOO_LITTLE, (f"{self.least_observed} records in the window, to tell skew from chance",)
        if any(is_coarse(key) and key.heat.value >= self.bursty for key in traffic.keys):
            needs = "a higher sample rate: one kept record stands for a tenth or more of what a partition serves"
            return SkipReason.TOO_LITTLE, (needs,)
        return None

    def _judge(self, key: KeyHeat, traffic: Traffic) -> _Judged | None:
        harmed = self._throttled(key, traffic)
        if harmed is not None:
            failed = any(
                hit.failed is not None and hit.failed.value > 0
                for hit in limits_hit(traffic)
                if hit.direction is key.direction and hit.cause in _OF_A_KEY
            )
            return _Judged(key, Severity.CRITICAL if failed else Severity.HIGH, harmed)
        if not tells_units(traffic):
            return None
        is_likely = key.admitted.low >= self.bursty and not is_coarse(key)
        if key.level is not KeyLevel.PREFIX and (is_likely or key.seconds_over):
            warm = self._warm(key, ceiling_of(key.direction))
            if warm is not None:
                return warm
        if self._skewed(key):
            return _Judged(key, Severity.LOW, "far from any limit today")
        return None

    def _warm(self, key: KeyHeat, ceiling: int) -> _Judged | None:
        """Judge a key by its own units, whether or not any try was refused."""
        if _lasts(key, self.at_ceiling * ceiling, self.sustained_seconds):
            return _Judged(key, Severity.HIGH, f"at its ceiling for {self.sustained_seconds} s or more")
        demand = key.heat.value / key.admitted.value if key.admitted.value else 1.0
        if demand > 1 and _lasts(key, ceiling / demand, self.sustained_seconds):
            return _Judged(key, Severity.HIGH, f"asked for its ceiling for {self.sustained_seconds} s or more")
        if _lasts(key, self.warm * ceiling, self.warm_seconds):
            return _Judged(key, Severity.MEDIUM, f"over {percent(self.warm)} of its ceiling for minutes")
        if self._bursts(key, ceiling):
            return _Judged(key, Severity.MEDIUM, "single seconds reach its ceiling")
        return None

    def _throttled(self, key: KeyHeat, traffic: Traffic) -> str | None:
        """Say why refused tries convict this key; None where they do not.

        A limit of the whole table refuses every key by its share: it convicts a warm key alone. Where nothing names the
        limit, a cool key is convicted that is refused more often than it is served.
        """
        if (key.tries if key.tries_seen is None else key.tries_seen) < self.least_tries:
            return self._dominant(key, traffic)
        causes = {hit.cause for hit in limits_hit(traffic) if hit.direction is key.direction}
        is_warm = key.heat.low >= self.warm and not is_coarse(key)
        is_concentrated = key.tries_share >= self.concentration * key.share.value
        if "key-range" not in causes and not tells_units(traffic):
            return None
        if "key-range" not in causes and not is_warm and ("unknown" not in causes or not self._is_odd(key)):
            return None
        if key.tries_share >= self.tries_share:
            return "DynamoDB refused its requests for the key range" if "key-range" in causes else _CONCENTRATED
        if is_warm and is_concentrated:
            return "it is refused more often than it is served"
        return None

    def _is_odd(self, key: KeyHeat) -> bool:
        """Whether a key's refusals are more than its share of a table that is refused evenly."""
        return key.heat.low >= self.skew_heat or key.tries_share >= self.concentration * key.share.value

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
        served = one.severity is not Severity.LOW
        facts = facts_of(key, traffic if served else msgspec.structs.replace(traffic, calls=None))
        if facts.caller is None:
            facts = msgspec.structs.replace(facts, caller=_most_refused(key, traffic))
        is_blind = not tells_units(traffic)
        heals = self_heals(facts, key.level, has_lsi=traffic.place.has_lsi) if served else None
        may_split = heals is not None and heals.answer == "unknown" and key.tries > 0
        return finding(
            self.name,
            traffic,
            one.severity,
            summary_of(key, one.severity, one.why, facts.caller, traffic),
            confidence=Confidence.LIKELY if traffic.sampled or is_blind else Confidence.CERTAIN,
            because=_NO_UNITS if is_blind else one.why if served else None,
            subject=subject_of(key.name, key.direction, traffic),
            key=key.key,
            key_template=key.key_template,
            pattern=first.attribution.pattern if first else None,
            fingerprint=first.shape.fingerprint if first else None,
            caller=facts.caller,
            victims=victims_of(traffic, key.direction) if key.tries else (),
            cause=facts.shape,
            direction=key.direction,
            evidence=evidence_for(key, facts, traffic),
            self_heals=heals,
            advice=advice_for(facts, may_split=may_split) if served else (),
        )


def _most_refused(key: KeyHeat, traffic: Traffic) -> str | None:
    """Return whose calls in a key's direction were refused most; None where the key had no refusal."""
    victims = victims_of(traffic, key.direction) if key.tries else ()
    return victims[0].caller if victims else None


def _lasts(key: KeyHeat, rate: float, seconds: int) -> bool:
    """Whether a key certainly had so many units a second in each slice of a run that is so long.

    Of a sample the slices of a run are judged together: one alone has too few records to stand for itself.
    """
    many = -(-seconds // _SLICE_SECONDS)
    runs = (key.series[first : first + many] for first in range(len(key.series) - many + 1))
    for run in runs:
        if run[-1].start - run[0].start != (many - 1) * SLICE_MS:
            continue
        if (least_rate(key, run) if key.kept < 1 else min(part.low for part in run)) >= rate:
            return True
    return False


def _is_told(one: _Judged, standing: list[_Judged]) -> bool:
    """Whether a key is part of one that stands and is judged no better: its collection's heat is not its own."""
    return any(
        one.severity.rank <= other.severity.rank
        and other.key.level < one.key.level
        and _is_part_of(one.key.name, other.key.name)
        for other in standing
    )


def _is_part_of(finer: KeyName, name: KeyName) -> bool:
    """Whether a finer key lies under another."""
    if name.level is KeyLevel.PREFIX:
        return finer.partition.startswith(name.partition)
    return finer.partition == name.partition


def _keep_worse(found: dict[str, Finding], one: Finding) -> None:
    """Keep one finding a subject: the worse one, of equals the hotter."""
    known = found.get(one.subject)
    if known is None or _weight(one) > _weight(known):
        found[one.subject] = one


def _weight(one: Finding) -> tuple[int, float]:
    heat = one.evidence.get("heat")
    return one.severity.rank, float(heat) if isinstance(heat, (int, float)) else 0.0
