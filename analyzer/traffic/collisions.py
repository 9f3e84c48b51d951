"""Transactions that collide: how many calls they fail, at which items, and whether they become more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.instant import Instant
from analyzer.model.sight import SourceName
from analyzer.model.window import Window
from analyzer.traffic.endings import CONFLICTS, Blamed, Ended, blamed, ended_by
from analyzer.traffic.measure import add
from analyzer.traffic.series import points, series_in, series_of, total
from analyzer.traffic.transactions import TRANSACTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic

__all__ = ["Collisions", "collisions"]

Weighed = tuple[Instant, float]
"""A moment, and how many happened in it."""

_THIRDS = 3


class Collisions(NamedTuple):
    """Conflicts in a window, told by `source`.

    `failed` calls ended in one; CloudWatch counts items instead. `share` is the part of the calls that may meet one
    (transactions, and plain calls that met one); None where the log holds nothing but failures, or nobody counted.
    `growth` is the part of the attempts that conflicts fail in the last third of the window ÷ in the first: more load
    is no backlog. None where there were none in the first, or nobody counted attempts by time.
    """

    source: SourceName
    failed: Estimate
    calls: Estimate
    share: float | None
    growth: float | None
    ended: tuple[Ended, ...] = ()
    keys: tuple[Blamed, ...] = ()
    one_item_share: float | None = None


def collisions(traffic: Traffic) -> Collisions | None:
    """Return the conflicts of a table's window: told by requests, else by metrics; None where there were none."""
    ended = ended_by(traffic, CONFLICTS)
    return _by_requests(ended, traffic) if ended else _by_metrics(traffic)


def _by_requests(ended: list[Ended], traffic: Traffic) -> Collisions:
    hit = [one.row for one in ended]
    rows = [*hit, *(row for row in traffic.rows if row.shape.operation in TRANSACTIONS and row not in hit)]
    calls = add(row.requests for row in rows)
    failed = add(one.calls for one in ended)
    served = calls.value - sum(row.failed.value for row in rows)
    seen = [call for one in ended for call in one.seen]
    known = [call for call in seen if call.members]
    return Collisions(
        source=SourceName.REQUEST_LOG,
        failed=failed,
        calls=calls,
        share=failed.value / calls.value if served > 0 else None,
        growth=_growth_of_calls(seen, frozenset(row.shape.fingerprint for row in rows), traffic),
        ended=tuple(ended),
        keys=tuple(blamed(seen, CONFLICTS)),
        one_item_share=sum(call.members == 1 for call in known) / len(known) if known else None,
    )


def _by_metrics(traffic: Traffic) -> Collisions | None:
    """Return what CloudWatch tells: its Sum counts items, of calls served it counts transactions alone."""
    series = series_of(traffic.metrics, "TransactionConflict")
    items = total(series, traffic.window)
    if not items:
        return None
    served = [
        total(one, traffic.window)
        for operation in sorted(TRANSACTIONS)
        for one in series_in(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation)
    ]
    known = sum(one for one in served if one is not None)
    attempts = [
        (point.start, point.value)
        for operation in sorted(TRANSACTIONS)
        for one in series_in(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=operation)
        for point in points(one, traffic.window)
    ]
    conflicts = [(point.start, point.value) for point in points(series, traffic.window)]
    return Collisions(
        source=SourceName.CLOUDWATCH_METRICS,
        failed=Estimate.exact(items),
        calls=Estimate.exact(items + known) if known else ZERO,
        share=items / (items + known) if known else None,
        growth=_growth(conflicts, [*attempts, *conflicts], traffic) if attempts else None,
    )


def _growth_of_calls(seen: Sequence[Call], fingerprints: frozenset[str], traffic: Traffic) -> float | None:
    """Return the growth by the call book, where it holds the calls that were served beside those that were not."""
    of_target = () if traffic.calls is None else traffic.calls.of(traffic.target)
    tried = [one for one in of_target if one.fingerprint in fingerprints and one.is_whole]
    if all(call.failed for call in tried):
        return None
    lost = [(call.time, 1.0) for call in seen if call.is_whole]
    return _growth(lost, [(call.time, 1.0) for call in tried], traffic)


def _growth(conflicts: Sequence[Weighed], attempts: Sequence[Weighed], traffic: Traffic) -> float | None:
    window = traffic.window
    third = (window.end - window.start) / _THIRDS
    first, last = Window(window.start, round(window.start + third)), Window(round(window.end - third), window.end)
    shares = []
    for part in (first, last):
        lost, tried = (sum(weight for at, weight in some if part.holds(at)) for some in (conflicts, attempts))
        shares.append(lost / tried if tried else 0.0)
    return shares[1] / shares[0] if shares[0] else None
