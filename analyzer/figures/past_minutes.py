"""What Contributor Insights told in the last hour: each poll brings some minutes alone, and a map shows them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.counts import KeyName
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target
    from analyzer.model.traffic import InsightKey, Traffic

__all__ = ["PastMinutes"]

_MOST_KEYS = 500
"""Keys and rules remembered of a target: a report lists a hundred at most, and they change."""
_MOST_TARGETS = 2000


class PastMinutes:
    """The minutes of keys by target; those before a time are let go."""

    def __init__(self) -> None:
        self._known: dict[Target, dict[tuple[str, KeyName], InsightKey]] = {}
        self._last: object = None

    def note(self, traffics: tuple[Traffic, ...], since: Instant) -> None:
        """Take in what was judged; the same judgement twice changes nothing."""
        if traffics is self._last:
            return
        self._last = traffics
        for traffic in traffics:
            if traffic.insights:
                known = self._known.pop(traffic.target, {})
                self._known[traffic.target] = _merged(known, traffic.insights)
        for target, keys in list(self._known.items()):
            kept = {name: late for name, key in keys.items() if (late := _since(key, since)).minutes}
            if kept:
                self._known[target] = kept
            else:
                del self._known[target]
        while len(self._known) > _MOST_TARGETS:
            del self._known[next(iter(self._known))]

    def recall(self, traffic: Traffic) -> Traffic:
        """Return a target's traffic with all minutes of its keys, and shares of all that was listed in them."""
        keys = self._known.get(traffic.target)
        if keys is None:
            return traffic
        totals: dict[str, float] = {}
        for key in keys.values():
            totals[key.rule] = totals.get(key.rule, 0.0) + _total(key)
        shared = (replace(key, share=_total(key) / (totals[key.rule] or 1.0)) for key in keys.values())
        return replace(traffic, insights=tuple(sorted(shared, key=lambda key: (key.rule, -key.share, key.name))))


def _merged(
    known: dict[tuple[str, KeyName], InsightKey], keys: Iterable[InsightKey]
) -> dict[tuple[str, KeyName], InsightKey]:
    """Return keys with older and newer minutes, of one minute what was told last; the longest unlisted make room."""
    for key in keys:
        name = key.rule, key.name
        before = known.pop(name, None)
        minutes = {minute.start: minute for minute in (*(() if before is None else before.minutes), *key.minutes)}
        known[name] = replace(key, minutes=tuple(minute for _, minute in sorted(minutes.items())))
    return dict(list(known.items())[-_MOST_KEYS:])


def _since(key: InsightKey, since: Instant) -> InsightKey:
    return replace(key, minutes=tuple(minute for minute in key.minutes if minute.start >= since))


def _total(key: InsightKey) -> float:
    return sum(minute.value for minute in key.minutes)
