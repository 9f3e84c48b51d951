"""What requests show of time to live: which values were written, and which expired items came back.

DynamoDB deletes an item some days after the time that its attribute names: a Number, seconds since 1970. It leaves an
item alone whose attribute is of another type, or lies more than five years back (Developer Guide, "Using time to live
(TTL) in DynamoDB", read 2026-11-30). Thousandths of a second name a time tens of thousands of years away.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.calls import Call, TtlValue
    from analyzer.model.instant import Instant

__all__ = ["Expiring", "ExpiringWrites", "expiring_writes", "fault_of", "returned_expired"]

_YEAR_SECONDS = 365.25 * 86_400
_FARTHEST_YEARS = 1000
"""No table keeps items for a thousand years; milliseconds of today read as seconds are 55,000 years away."""
_LONGEST_DURATION_SECONDS = 20 * _YEAR_SECONDS
"""A number below is a duration, not a time: as one it would lie before 1990, when there was no DynamoDB."""
_TOO_OLD_YEARS = 5


def fault_of(value: TtlValue, at: Instant) -> str | None:
    """Say why DynamoDB will never act on a value written then: None where it will, or that cannot be told.

    `not-a-number`, `milliseconds` (or finer), `duration` (seconds from now, not a time), `too-old`. A 0 means "never"
    to many an application, and is none.
    """
    if value.type is None or value.type == "NULL":
        return None
    if value.type != "N":
        return "not-a-number"
    if value.number is None or value.number == 0:
        return None
    now = at / 1000
    if value.number > now + _FARTHEST_YEARS * _YEAR_SECONDS:
        return "milliseconds"
    if value.number >= now - _TOO_OLD_YEARS * _YEAR_SECONDS:
        return None
    return "duration" if 0 < value.number < _LONGEST_DURATION_SECONDS else "too-old"


class ExpiringWrites(NamedTuple):
    """Writes of items with a time to live in one attribute: all, and by fault those that will never expire."""

    attribute: str | None
    written: int
    wrong: dict[str, list[Call]]

    @property
    def wrong_count(self) -> int:
        """How many will never expire."""
        return sum(map(len, self.wrong.values()))

    @property
    def main_fault(self) -> str:
        """The commonest fault."""
        return max(self.wrong, key=lambda fault: len(self.wrong[fault]))


def expiring_writes(calls: Iterable[Call]) -> list[ExpiringWrites]:
    """Return the writes that tell a time to live, by its attribute; those that failed wrote nothing."""
    found: dict[str | None, ExpiringWrites] = {}
    for call in calls:
        ttl = call.ttl
        if ttl is None or ttl.type is None or call.failed:
            continue
        group = found.setdefault(ttl.attribute, ExpiringWrites(ttl.attribute, 0, {}))
        fault = fault_of(ttl, call.time)
        if fault is not None:
            group.wrong.setdefault(fault, []).append(call)
        found[ttl.attribute] = group._replace(written=group.written + 1)
    return list(found.values())


class Expiring(NamedTuple):
    """Reads that returned expired items and whose filter did not look at their time to live; `items` of all."""

    attribute: str | None
    reads: tuple[Call, ...]
    items: int

    def busiest(self) -> Call:
        """Return a read of the caller and shape with most of them."""
        most = Counter((call.caller, call.fingerprint) for call in self.reads).most_common(1)[0][0]
        return next(call for call in self.reads if (call.caller, call.fingerprint) == most)


def returned_expired(calls: Iterable[Call], attributes: Sequence[str | None]) -> list[Expiring]:
    """Return such reads by attribute; `attributes` are further names that the time to live may have."""
    found: dict[str | None, list[Call]] = {}
    for call in calls:
        if call.ttl is None or not call.ttl.expired_returned:
            continue
        names = {call.ttl.attribute, *attributes} - {None}
        if not names & set(call.shape.filter_attributes):
            found.setdefault(call.ttl.attribute, []).append(call)
    return [
        Expiring(attribute, tuple(reads), sum((call.ttl.expired_returned or 0) for call in reads if call.ttl))
        for attribute, reads in found.items()
    ]
