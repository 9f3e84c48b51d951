"""Calls that ended because of what others wrote: conflicts of transactions, and conditions that did not hold.

A canceled transaction says why by the position of its parts; each reason is taken for itself, at the table of the part
that bears it (API Reference, TransactWriteItems, CancellationReasons, read 2026-11-30).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from analyzer.model.estimate import ZERO, Estimate
from analyzer.traffic.measure import add

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call, Calls
    from analyzer.model.counts import KeyName
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import PatternTraffic, Refused, Traffic

__all__ = ["CONDITIONS", "CONFLICTS", "Blamed", "Ended", "blamed", "cancel_reasons", "ended_by"]

CONFLICTS = frozenset({"TransactionConflictException", "TransactionConflict"})
"""Of a single call, and of a part of a transaction."""
CONDITIONS = frozenset({"ConditionalCheckFailedException", "ConditionalCheckFailed", "DuplicateItemException"})
"""Of a single call, of a part of a transaction, and of a PartiQL INSERT of an item that is there."""

_CANCELED = "TransactionCanceledException"


class Ended(NamedTuple):
    """Calls of one row that ended for one kind of reason; `seen` are those of them that the call book holds."""

    row: PatternTraffic
    calls: Estimate
    seen: Calls


class Blamed(NamedTuple):
    """A key with the calls that ended at it, and the shape of one of them."""

    name: KeyName
    calls: int
    shape: Shape


def ended_by(traffic: Traffic, codes: frozenset[str]) -> list[Ended]:
    """Return the rows of which calls ended for one of these reasons in the window, the most first.

    The counts of a log do not tell why a transaction was canceled: the part of the row's canceled calls that the book
    holds says it, else the message.
    """
    refused: dict[int, list[Refused]] = defaultdict(list)
    for one in traffic.refusals:
        if one.code in codes or one.code == _CANCELED:
            refused[one.row].append(one)
    found = []
    for number, ones in refused.items():
        row = traffic.rows[number]
        failed = _failed_of(row, traffic)
        canceled = [call for call in failed if call.error == _CANCELED]
        seen = tuple(
            call for call in failed if call.error in codes or (call.error == _CANCELED and _is_by(call, codes))
        )
        share = sum(_is_by(call, codes) for call in canceled) / len(canceled) if canceled else None
        calls = add(_part(one, codes, share) for one in ones)
        if calls.value:
            found.append(Ended(row, calls, seen))
    return sorted(found, key=lambda ended: -ended.calls.value)


def _failed_of(row: PatternTraffic, traffic: Traffic) -> list[Call]:
    """Return the failed calls of a row in the window, as far as the book holds them."""
    calls = () if traffic.calls is None else traffic.calls.of(traffic.target)
    window = traffic.window
    return [
        call
        for call in calls
        if call.failed
        and call.fingerprint == row.shape.fingerprint
        and call.caller == row.caller
        and window.start <= call.time < window.end
    ]


def _part(refused: Refused, codes: frozenset[str], share: float | None) -> Estimate:
    """Return how many of some refused calls ended for these reasons."""
    if refused.code in codes:
        return refused.calls
    if share is None:
        return refused.calls if any(code in refused.message for code in codes) else ZERO
    return Estimate(*(bound * share for bound in refused.calls))


def _is_by(call: Call, codes: frozenset[str]) -> bool:
    """Whether one of the parts of a canceled call at this table bears such a reason.

    Of the whole call, where its parts are not known; where its reasons are not told by position, the message has them.
    """
    if not call.cancellation:
        return any(code in call.message for code in codes)
    if call.parts:
        return any(part.canceled in codes for part in call.parts)
    return not codes.isdisjoint(call.cancellation)


def blamed(calls: Iterable[Call], codes: frozenset[str]) -> list[Blamed]:
    """Return the keys at which calls ended, the most first; a transaction blames the keys of the parts that say so."""
    times: Counter[KeyName] = Counter()
    shapes: dict[KeyName, Shape] = {}
    for call in calls:
        names = {part.key for part in call.parts if part.canceled in codes}
        if call.error in codes:
            names.add(call.key)
        for name in names:
            if name is not None:
                times[name] += 1
                shapes.setdefault(name, call.shape)
    ranked = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    return [Blamed(name, number, shapes[name]) for name, number in ranked]


def cancel_reasons(traffic: Traffic) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Return the reasons of the canceled transactions in the window, from the book: calls, and positions from 1."""
    window = traffic.window
    calls: Counter[str] = Counter()
    places: dict[str, set[int]] = defaultdict(set)
    for call in () if traffic.calls is None else traffic.calls.of(traffic.target):
        if call.error != _CANCELED or not window.start <= call.time < window.end:
            continue
        told = {(code, at) for at, code in enumerate(call.cancellation, start=1) if code is not None and code != "None"}
        calls.update({code for code, _ in told})
        for code, at in told:
            places[code].add(at)
    return {code: (number, tuple(sorted(places[code]))) for code, number in calls.most_common()}
