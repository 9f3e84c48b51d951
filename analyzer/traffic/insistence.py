"""Who asks again what has just failed: a loop of the application, which no SDK's count of tries shows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from analyzer.traffic.sequences import repeats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic

__all__ = ["asked_again"]

_SOONER = 0.5
"""A loop comes again in less than half the time that passes after a success; who keeps a clock does not."""

_KEYLESS = frozenset({"Scan", "Query", "ExecuteStatement"})
"""Operations whose question is told by their shape and values, whatever is known of keys."""

_ANSWERS = ("ConditionalCheckFailed", "Validation", "ResourceNotFound", "AccessDenied")
"""Errors that no other try can mend: asking again after them is no retry."""


def asked_again(traffic: Traffic, at_least: int) -> Counter[tuple[str | None, str]]:
    """Count, by caller and shape, the calls of the window that came again because the call before had failed.

    A run of the same question counts from so many calls on. A poller asks again whatever the answer was: its calls
    count only where they come much sooner after a failure than after a success.
    """
    counted: Counter[tuple[str | None, str]] = Counter()
    if traffic.calls is None:
        return counted
    until = [call for call in traffic.calls.of(traffic.target) if call.time < traffic.window.end]
    for same in repeats(until, has_all=traffic.calls.share >= 1):
        if not _is_told(same.calls[0]):
            continue
        again = _after_failure(same.calls, traffic)
        if again >= at_least - 1:
            counted[same.caller, same.fingerprint] += again
    return counted


def _is_told(call: Call) -> bool:
    """Whether it is known what a call asked: of a batch or a write whose keys were not seen nobody knows."""
    return call.key is not None or bool(call.parts) or call.operation in _KEYLESS


def _after_failure(calls: Sequence[Call], traffic: Traffic) -> int:
    """Return how many calls of the window insist."""
    pairs = [(before, call) for before, call in pairwise(calls)]
    failed = [(before, call) for before, call in pairs if _may_mend(before) and traffic.window.holds(call.time)]
    served = [call.time - before.time for before, call in pairs if not before.failed]
    waits = [call.time - before.time for before, call in failed]
    if served and waits and median(waits) > _SOONER * median(served):
        return 0
    return len(failed)


def _may_mend(call: Call) -> bool:
    return call.error is not None and not call.error.startswith(_ANSWERS)
