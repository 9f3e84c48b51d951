"""How often a pattern comes: against its declared rate, and against its own past."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.instant import MINUTE_MS
from analyzer.statistics.false_discovery import discoveries
from analyzer.statistics.rates import Ratio, Standing, count_bounds, rate_ratio, share_bounds, shared_growth, standing
from analyzer.traffic.drift import Facet, Tolerance
from analyzer.traffic.measure import add, row_units

if TYPE_CHECKING:
    from analyzer.model.history import History
    from analyzer.model.target import Target
    from analyzer.model.traffic import Declared, KeyHeat, PatternTraffic, Traffic

__all__ = ["key_rate_facet", "past_facet", "rate_facet"]

_OVER_SHARE = 0.05
"""A p95 is passed in a twentieth of the time."""
_LEAST_MINUTES = 5
_LEAST_SECONDS = 600
_CROWDED = 5.0
"""Variance of the counts of a stretch over their mean, where it cannot be measured."""


def rate_facet(declared: Declared, rows: list[PatternTraffic], traffic: Traffic, tolerance: Tolerance) -> Facet | None:
    """Judge requests a second against `p95` and `peak`; a declared surge widens what they allow.

    The mean of a long stretch cannot pass 0.95 × p95 + 0.05 × peak. Where every call is in the book, its minutes tell
    more: more than a twentieth of them over p95 breaks it.
    """
    if declared.p95_rate is None and declared.peak_rate is None:
        return None
    seconds = traffic.window.seconds
    requests = add(row.requests for row in rows if not row.secondary)
    if seconds <= 0:
        return None
    crowd = count_bounds(requests.value, _CROWDED)
    mean = Estimate(
        requests.value / seconds, min(crowd.low, requests.low) / seconds, max(crowd.high, requests.high) / seconds
    )
    factor = max([tolerance.margin, *declared.surge.values()])
    most = _most_mean(declared) * factor
    where = standing(mean, most=most) if seconds >= _LEAST_SECONDS else Standing.UNKNOWN
    facet = Facet("rate", where, mean, most, "requests a second on average", _declared_text(declared))
    if declared.p95_rate is None or where is Standing.OUT:
        return facet
    return _by_minute(facet, declared.p95_rate * factor, rows, traffic)


def key_rate_facet(
    declared: Declared, rows: list[PatternTraffic], traffic: Traffic, tolerance: Tolerance
) -> Facet | None:
    """Judge the requests a second of the pattern's hottest key against `per_key`; a declared surge widens it.

    A key's requests are its units ÷ the pattern's units a request: at least so many, by what the sketch is sure of.
    """
    direction = Direction.WRITE if any(row.shape.writes for row in rows) else Direction.READ
    most = declared.write_rate_a_key if direction is Direction.WRITE else declared.read_rate_a_key
    seconds = traffic.window.seconds
    keys = [key for key in traffic.keys if key.level is KeyLevel.PARTITION and key.direction is direction]
    if most is None or seconds <= 0 or not keys:
        return None
    asked, share = max((_requests_at(key, rows, traffic), key.kept) for key in keys)
    if not asked:
        return None
    kept = asked * share
    crowd = count_bounds(kept, _CROWDED)
    seen = Estimate(asked, crowd.low / share, crowd.high / share) / seconds
    allowed = most * max([tolerance.margin, *declared.surge.values()])
    is_enough = seconds >= _LEAST_SECONDS and kept >= tolerance.least
    where = standing(seen, most=allowed) if is_enough else Standing.UNKNOWN
    return Facet("key_rate", where, seen, allowed, "requests a second of one key", f"{most:g}")


def _requests_at(key: KeyHeat, rows: list[PatternTraffic], traffic: Traffic) -> float:
    own = {at: row for at, row in enumerate(traffic.rows) if any(row is one for one in rows)}
    asked = 0.0
    for number, units in key.rows:
        whole = row_units(own[number], key.direction).value if number in own else 0.0
        asked += own[number].requests.value * min(1.0, units / whole) if whole else 0.0
    return asked


def _most_mean(declared: Declared) -> float:
    p95, peak = declared.p95_rate, declared.peak_rate
    if p95 is None or peak is None:
        return p95 or peak or 0.0
    return (1 - _OVER_SHARE) * p95 + _OVER_SHARE * max(p95, peak)


def _declared_text(declared: Declared) -> str:
    told = (("p95", declared.p95_rate), ("peak", declared.peak_rate))
    return ", ".join(f"{name} {rate:g}" for name, rate in told if rate is not None)


def _by_minute(facet: Facet, most: float, rows: list[PatternTraffic], traffic: Traffic) -> Facet:
    """Judge the minutes one by one, where all calls are there; a minute counts where its lower bound is over."""
    minutes = _minutes(rows, traffic)
    if minutes is None:
        return facet
    over = [count for count in minutes if count_bounds(count).low / 60 > most]
    share = share_bounds(len(over), len(minutes))
    if len(over) < _LEAST_MINUTES or share.low <= _OVER_SHARE:
        return facet if not over else facet._replace(standing=Standing.UNKNOWN)
    crowd, length = count_bounds(sum(over)), len(over) * 60
    seen = Estimate(crowd.value / length, crowd.low / length, crowd.high / length)
    text = f"requests a second in {len(over)} of {len(minutes)} minutes"
    return facet._replace(standing=Standing.OUT, seen=seen, most=most, text=text)


def _minutes(rows: list[PatternTraffic], traffic: Traffic) -> list[int] | None:
    """Return the requests of each whole minute of the window; None where the book does not hold all of them."""
    book, window = traffic.calls, traffic.window
    if book is None or book.share < 1 or book.dropped:
        return None
    asked = {(row.shape.fingerprint, row.caller) for row in rows if not row.secondary}
    times = [
        call.time
        for call in book.of(traffic.target)
        if (call.fingerprint, call.caller) in asked and window.start <= call.time < window.end
    ]
    counts = [0] * int(window.seconds // 60)
    if not counts or len(times) < sum(row.requests.value for row in rows if not row.secondary):
        return None
    for time in times:
        number = (time - window.start) // MINUTE_MS
        if number < len(counts):
            counts[number] += 1
    return counts


def past_facet(pattern: str, target: Target, history: History, tolerance: Tolerance, rate: float) -> Facet | None:
    """Judge a pattern against its own past: growth that all share is divided out, and false discoveries are held down.

    `rate` is the share of findings that may be chance. None where history knows nothing of it.
    """
    if pattern not in history.patterns.get(target, {}):
        return None
    growth = shared_growth((one.before, one.now) for known in history.patterns.values() for one in known.values())
    ratios: dict[tuple[Target, str], Ratio] = {}
    for place, known in history.patterns.items():
        for name, one in known.items():
            ratio = rate_ratio(one.before, one.now, growth=growth, margin=tolerance.margin, wobble=one.wobble)
            if ratio is not None:
                ratios[place, name] = ratio
    own = ratios.get((target, pattern))
    if own is None:
        return None
    found = dict(zip(ratios, discoveries([ratio.p for ratio in ratios.values()], rate), strict=True))
    least, most = 1 / tolerance.margin, tolerance.margin
    where = standing(own.estimate, least, most)
    if found[target, pattern]:
        where = Standing.OUT
    elif where is Standing.OUT:
        where = Standing.UNKNOWN
    return Facet("past", where, own.estimate, most, "times its own past", f"{least:.2g} to {most:g} times")
