"""An item that only grows: every write pays for all that came before, until the item no longer fits."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.split_advice import split_item, store_in_s3
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, who
from analyzer.detectors.writing import key_named, look_at, row_of, time_words
from analyzer.model.finding import Advice, Confidence, Direction, Finding, SelfHeals, Severity
from analyzer.model.instant import DAY_SECONDS
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.growth import Grown, SizeRun, appended_to, growth_of, middle, size_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.finding import KeyShown
    from analyzer.model.traffic import Traffic

__all__ = ["ItemGrowth"]

_KILOBYTE = 1024


class ItemGrowth(Struct, frozen=True):
    """Judges items of which many sizes were seen, the writers of one shape together."""

    least_observations: Whole = 5
    least_growth_kilobytes: Whole = 4
    still_growing_share: Share = 0.2
    medium_kilobytes: Whole = 16
    large_kilobytes: Whole = 100
    high_days: Whole = 7
    growing_share: Share = 0.5
    certain_seconds: Whole = 3600

    name: ClassVar[str] = "item-growth"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_SEQUENCES}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.REQUEST_UNITS, Sight.TABLE})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a shape of write, of the item that is the first to be full."""
        if traffic.calls is None or traffic.target.index is not None:
            return
        runs = size_runs(
            traffic.calls,
            traffic.target,
            has_sort_key=bool(traffic.place.sort_key),
            at_least=self.least_observations,
        )
        by_shape: dict[str, list[Grown]] = defaultdict(list)
        watched: dict[str, int] = defaultdict(int)
        for run in runs:
            watched[_writer(run)] += 1
            grown = growth_of(run, least_bytes=self.least_growth_kilobytes * _KILOBYTE, still=self.still_growing_share)
            if grown is not None:
                by_shape[_writer(run)].append(grown)
        for fingerprint, items in by_shape.items():
            first = min(items, key=lambda grown: grown.seconds_left.value)
            severity = self._severity(first, len(items) / watched[fingerprint])
            if severity is not None:
                yield self._finding(first, severity, len(items), watched[fingerprint], traffic)

    def _severity(self, grown: Grown, share: float) -> Severity | None:
        """Judge by how near the limit is; None where a small item merely fills up."""
        kilobytes = middle(grown.last) / _KILOBYTE
        if kilobytes >= self.large_kilobytes and grown.seconds_left.value <= self.high_days * DAY_SECONDS:
            return Severity.HIGH
        is_appended = appended_to(grown.writer.shape) is not None
        if kilobytes >= self.large_kilobytes:
            return Severity.MEDIUM
        if kilobytes >= self.medium_kilobytes:
            return Severity.MEDIUM if is_appended or share >= self.growing_share else Severity.LOW
        return Severity.LOW if is_appended else None

    def _finding(self, grown: Grown, severity: Severity, items: int, watched: int, traffic: Traffic) -> Finding:
        writer = grown.writer
        key = key_named(grown.run.name, writer.shape, traffic)
        row = row_of(writer.shape, writer.caller, traffic.rows)
        first, last = round(middle(grown.first) / _KILOBYTE, 1), round(middle(grown.last) / _KILOBYTE, 1)
        is_long = grown.seconds >= self.certain_seconds
        return finding(
            self.name,
            traffic,
            severity,
            f"{{key}} in {traffic.target} grew from {number(first)} to {number(last)} KB in {time_words(grown.seconds)}"
            f" ({number(len(grown.run.seen))} sizes seen, none smaller): a write of it costs"
            f" {number(grown.units(grown.last))} units instead of {number(grown.units(grown.first))}, and at that pace"
            f" it reaches 400 KB in {time_words(grown.seconds_left.value)}",
            confidence=Confidence.CERTAIN if is_long else Confidence.LIKELY,
            because=None
            if is_long
            else f"it was seen for {time_words(grown.seconds)}; whether the pace goes on is not known",
            subject=writer.fingerprint,
            key=key,
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=writer.fingerprint,
            caller=writer.caller,
            direction=Direction.WRITE,
            evidence=_evidence(grown, items, watched),
            advice=tuple(_advice(grown, key, traffic)),
            self_heals=SelfHeals("no", "an item shrinks only by a write that makes it smaller"),
        )


def _writer(run: SizeRun) -> str:
    """Return the shape that writes an item, else that which reads it."""
    writes = [seen.call.fingerprint for seen in run.seen if seen.call.shape.writes]
    return writes[-1] if writes else run.seen[-1].call.fingerprint


def _evidence(grown: Grown, items: int, watched: int) -> dict[str, float | str | None]:
    left, pace = grown.seconds_left, grown.bytes_a_second
    a_day = DAY_SECONDS / _KILOBYTE
    return {
        "observations": len(grown.run.seen),
        "first_kilobytes": round(middle(grown.first) / _KILOBYTE, 1),
        "last_kilobytes": round(middle(grown.last) / _KILOBYTE, 1),
        "kilobytes_a_day": round(pace.value * a_day, 2),
        "kilobytes_a_day_low": round(pace.low * a_day, 2),
        "kilobytes_a_day_high": round(pace.high * a_day, 2),
        "days_to_limit": round(left.value / DAY_SECONDS, 2),
        "days_to_limit_low": round(left.low / DAY_SECONDS, 2),
        "days_to_limit_high": round(left.high / DAY_SECONDS, 2) if left.high < math.inf else None,
        "units_a_write_first": grown.units(grown.first),
        "units_a_write_last": grown.units(grown.last),
        "attribute": appended_to(grown.writer.shape),
        "growing_items": items,
        "items_watched": watched,
    }


def _advice(grown: Grown, key: KeyShown | None, traffic: Traffic) -> Iterator[Advice]:
    caller = grown.writer.caller
    attribute = appended_to(grown.writer.shape)
    what = f"{attribute} of the item" if attribute else "the item"
    yield advise(
        "fix-caller",
        f"Ask the owner of {who(caller)} whether {what} must hold its whole past: a bound on it ends the growth",
        effect="a write costs no more than it did",
        command=look_at(key, traffic),
        takes="minutes",
    )
    yield split_item(traffic, what, attribute)
    if grown.writer.operation == "PutItem":
        yield store_in_s3()
