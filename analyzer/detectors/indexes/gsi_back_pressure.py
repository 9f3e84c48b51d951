"""Writes to a table refused because one of its indexes cannot take them.

A write needs capacity of its table and of every index it touches: where one index has none, the table's write fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Share
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import between, percent, who
from analyzer.model.finding import Advice, Direction, Finding, Risk, Severity, Victim
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Throttles, Traffic

__all__ = ["GsiBackPressure"]


class GsiBackPressure(Struct, frozen=True):
    """Judges the write limits of an index by what they do to its table's writers."""

    critical_caller_share: Share = 0.05

    name: ClassVar[str] = "gsi-back-pressure"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a limit of the index; the base table has none."""
        if traffic.target.index is None:
            return
        for throttles in traffic.throttles:
            if throttles.direction is Direction.WRITE:
                yield self._finding(throttles, traffic)

    def _finding(self, throttles: Throttles, traffic: Traffic) -> Finding:
        target = traffic.target
        fails = any(one.failed >= self.critical_caller_share * one.calls for one in throttles.hurt if one.failed)
        share = throttles.throttled.value / max(throttles.calls.value, 1.0)
        callers = list(dict.fromkeys(who(one.caller) for one in throttles.hurt))
        words = (
            f"writes to {target.table} are refused because of index {target.index}: {percent(share)} of them"
            f" ({between(throttles.tries)} tries, {between(throttles.failed)} calls failed)"
            f" from {', '.join(callers[:3])}"
        )
        most = throttles.hurt[0] if throttles.hurt else None
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL if fails else Severity.HIGH,
            words,
            subject=throttles.cause,
            pattern=most.pattern if most else None,
            caller=most.caller if most else None,
            victims=tuple(dict.fromkeys(Victim(one.caller, one.pattern) for one in throttles.hurt)),
            cause=throttles.cause,
            direction=Direction.WRITE,
            evidence={
                "throttled_share": round(share, 5),
                **evidence_of(throttled_tries=throttles.tries, failed_calls=throttles.failed),
                **evidence_of(table_writes=throttles.calls),
                "reason": ", ".join(throttles.reasons) or None,
            },
            advice=tuple(_advice(throttles, traffic)),
        )


def _advice(throttles: Throttles, traffic: Traffic) -> Iterator[Advice]:
    target = traffic.target
    yield advise(
        "fix-caller",
        f"Slow the writers that fill {target.index}; the table itself has room",
        effect="the index catches up, and the table takes writes again",
        takes="minutes",
    )
    if throttles.cause == "key-range":
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
    elif throttles.cause == "provisioned":
        yield advise(
            "raise-index-capacity",
            f"Raise the write capacity of {target.index} to that of its table or above",
            effect="the index takes what the table takes",
            risk=Risk.LOW,
            reversible=True,
            takes="minutes",
        )
