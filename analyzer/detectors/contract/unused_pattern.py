"""A declaration with no traffic: code that is gone or never came, and whose index and capacity are still there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec
from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.instant import DATE_LENGTH, DAY_SECONDS, date_of
from analyzer.model.sight import Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.traffic.absence import Absence, absence_of, covered_of, is_seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import Declared, Traffic

__all__ = ["UnusedPattern"]


class UnusedPattern(Struct, frozen=True):
    """Judges the absence of each declared pattern of a table by how improbable it is at the declared rate."""

    covered_days: Whole = 14
    chance: Share = 0.001

    name: ClassVar[str] = "unused-pattern"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.CONTRACT, Sight.SPAN_14D}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS, Sight.METRICS, Sight.REQUEST_KEYS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a pattern, at the place that serves it; told with the table, wherever that is."""
        if traffic.target.index is not None and traffic.base is not None:
            return
        too_short: list[float] = []
        family = (traffic, *traffic.indexes)
        for pattern in traffic.place.patterns.values():
            is_elsewhere = traffic.target.index not in {None, pattern.index}
            if is_elsewhere or is_seen(pattern, family) or _has_ended(pattern, traffic):
                continue
            covered = covered_of(pattern, traffic, self.covered_days)
            if covered is None:
                continue
            if covered.seconds < self.covered_days * DAY_SECONDS:
                too_short.append(covered.seconds)
                continue
            absence = absence_of(pattern, covered, traffic.window)
            if absence is not None and absence.chance < self.chance:
                yield self._finding(pattern, absence, traffic)
        if too_short:
            yield self._skip(max(too_short), traffic)

    def _skip(self, longest_seconds: float, traffic: Traffic) -> Skipped:
        target = traffic.target
        days = number(round(longest_seconds / DAY_SECONDS, 1))
        needs = (f"{self.covered_days} days of requests: {days} days are covered",)
        return Skipped(self.name, target.table, target.index, SkipReason.NOT_COVERED, needs)

    def _finding(self, pattern: Declared, absence: Absence, traffic: Traffic) -> Finding:
        there = msgspec.structs.replace(traffic, target=traffic.target.at(pattern.index))
        days = absence.covered.seconds / DAY_SECONDS
        by_metrics = absence.covered.source is SourceName.CLOUDWATCH_METRICS
        return finding(
            self.name,
            there,
            Severity.LOW,
            f"pattern {pattern.id} of {there.target} is declared, and nothing came in {number(round(days, 1))} days:"
            f" {number(round(absence.expected))} requests were to be expected at least",
            confidence=Confidence.CERTAIN if by_metrics else Confidence.LIKELY,
            because=None if by_metrics else "the request log alone says so: a caller that does not log is not seen",
            sources=(absence.covered.source.value, SourceName.CONTRACT.value),
            subject=pattern.id,
            pattern=pattern.id,
            evidence={
                "covered_days": round(days, 1),
                "expected_requests": round(absence.expected, 1),
                "chance": float(f"{absence.chance:.2g}"),
                "kept_share": round(absence.covered.kept, 4),
                **_declared_of(pattern),
            },
            advice=(
                advise(
                    "check-client",
                    f"Ask {', '.join(pattern.callers) or pattern.owner or 'its owner'} whether the code still runs:"
                    " a job that stopped is a fault of its own",
                    effect="tells a dead pattern from a dead job",
                    takes="a talk",
                ),
                advise(
                    "remove-declaration",
                    f"If it is gone, remove {pattern.id} from the contract, and ask what it alone needed: an index,"
                    " capacity, a schedule",
                    effect="the contract says what is",
                    takes="minutes",
                ),
            ),
        )


def _declared_of(pattern: Declared) -> dict[str, float | str | None]:
    """Return what it declares of how often it comes, and from whom."""
    told = {
        "declared_p95": pattern.p95_rate,
        "declared_frequency": pattern.frequency,
        "declared_schedule": pattern.schedule,
        "declared_callers": ", ".join(pattern.callers),
    }
    return {name: value for name, value in told.items() if value}


def _has_ended(pattern: Declared, traffic: Traffic) -> bool:
    """Whether it was declared for a time that is over."""
    return pattern.ends is not None and pattern.ends[:DATE_LENGTH] < date_of(traffic.window.end)
