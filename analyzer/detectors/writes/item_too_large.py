"""Writes refused because the item is over 400 KB, and items that are near it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.split_advice import split_item, store_in_s3
from analyzer.detectors.thresholds import Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, who
from analyzer.detectors.writing import key_named, look_at, row_of
from analyzer.knowledge.limits import ITEM_BYTES
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Advice, Confidence, Direction, Finding, SelfHeals, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import add, evidence_of
from analyzer.traffic.sequences import SeenSize, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.calls import Call, CallPart
    from analyzer.model.counts import KeyName
    from analyzer.model.finding import KeyShown
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import Refused, Traffic

__all__ = ["ItemTooLarge"]

_KILOBYTE = 1024
_SAYS_SO = re.compile(r"item size.*exceeded|maximum allowed item size|exceeded the maximum allowed size", re.IGNORECASE)
"""What DynamoDB says of an item that is too large, of a put and of an update."""
_REFUSALS = frozenset({"ValidationException", "ValidationError"})


class ItemTooLarge(Struct, frozen=True):
    """Judges refusals for size, else the largest items that were seen."""

    high_kilobytes: Whole = 350

    name: ClassVar[str] = "item-too-large"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.REQUEST_UNITS, Sight.REQUEST_SEQUENCES})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding a table: what is near the limit today is over it tomorrow, and the same fault."""
        if traffic.target.index is not None:
            return
        refused = [one for one in traffic.refusals if one.code in _REFUSALS and _SAYS_SO.search(one.message)]
        lost = _lost(traffic)
        near = self._near(traffic)
        if refused or lost:
            yield self._refused(refused, lost, len(near), traffic)
        elif near:
            yield self._large(near, traffic)

    def _near(self, traffic: Traffic) -> list[SeenSize]:
        """Return the items whose newest size is at or over the threshold, the largest first."""
        newest: dict[KeyName | None, SeenSize] = {}
        has_sort_key = bool(traffic.place.sort_key)
        for call in () if traffic.calls is None else traffic.calls.of(traffic.target):
            for seen in sizes([call], has_sort_key=has_sort_key) or _told(call):
                newest[seen.call.key] = seen
        large = [seen for seen in newest.values() if seen.low >= self.high_kilobytes * _KILOBYTE]
        return sorted(large, key=lambda seen: -seen.low)

    def _refused(self, refused: list[Refused], lost: list[Call], near: int, traffic: Traffic) -> Finding:
        calls = add(one.calls for one in refused)
        most = max(refused, key=lambda one: one.calls.value, default=None)
        keys = _keys(lost)
        row = row_of(lost[0].shape, lost[0].caller, traffic.rows) if most is None else traffic.rows[most.row]
        caller = lost[0].caller if row is None else row.caller
        shape = lost[0].shape if row is None else row.shape
        total = counted(calls if refused else Estimate.exact(len(lost)), "write")
        key = key_named(keys[0], shape, traffic) if keys else None
        place = f"{traffic.target}" if key is None else f"{{key}} in {traffic.target}"
        if key is not None and len(keys) > 1:
            place = f"{number(len(keys))} items of {traffic.target}, {{key}} first,"
        return finding(
            self.name,
            traffic,
            Severity.CRITICAL,
            f"{total} of {who(caller)} to {place} failed for good: the item is over the 400 KB that DynamoDB stores",
            key=key,
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=shape.fingerprint,
            caller=caller,
            direction=Direction.WRITE,
            evidence={
                **evidence_of(refused_calls=calls),
                "transactions": sum(bool(call.cancellation) for call in lost),
                "keys": len(keys) or None,
                "items_near_limit": near,
                "limit_kilobytes": ITEM_BYTES // _KILOBYTE,
            },
            advice=tuple(_advice(traffic, key, caller, shape, is_refused=True)),
            self_heals=SelfHeals("no", "an item over the limit can only be refused again"),
        )

    def _large(self, near: list[SeenSize], traffic: Traffic) -> Finding:
        largest = near[0]
        call, size = largest.call, largest.low // _KILOBYTE
        row = row_of(call.shape, call.caller, traffic.rows)
        key = None if call.key is None else key_named(call.key, call.shape, traffic)
        others = f", with {counted(len(near) - 1, 'other')} as near" if len(near) > 1 else ""
        least = "" if largest.is_exact else "at least "
        return finding(
            self.name,
            traffic,
            Severity.HIGH,
            f"{'an item' if key is None else '{key}'} of {traffic.target} has {least}{number(size)} KB of the 400 KB"
            f" that an item may have{others}",
            confidence=Confidence.CERTAIN,
            key=key,
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=call.fingerprint,
            caller=call.caller,
            direction=Direction.WRITE,
            evidence={
                "size_kilobytes": round(largest.low / _KILOBYTE, 1),
                "items_near_limit": len(near),
                "threshold_kilobytes": self.high_kilobytes,
                "limit_kilobytes": ITEM_BYTES // _KILOBYTE,
            },
            advice=tuple(_advice(traffic, key, call.caller, call.shape, is_refused=False)),
            self_heals=SelfHeals("no", "an item shrinks only by a write that makes it smaller"),
        )


def _lost(traffic: Traffic) -> list[Call]:
    """Return the calls in the book that the limit refused: told so, or of a part that is too large."""
    found = []
    for call in () if traffic.calls is None else traffic.calls.of(traffic.target):
        if call.error in _REFUSALS:
            if _SAYS_SO.search(call.message) or (not call.message and _is_over(call.item_bytes)):
                found.append(call)
        elif any(map(_is_refused, call.parts)):
            found.append(call)
    return found


def _is_over(item_bytes: int | None) -> bool:
    return item_bytes is not None and item_bytes > ITEM_BYTES


def _is_refused(part: CallPart) -> bool:
    """Whether a part of a transaction is to blame for its size: of a part no message is told."""
    return part.canceled in _REFUSALS and _is_over(part.item_bytes)


def _keys(lost: list[Call]) -> list[KeyName]:
    """Return the keys of refused items, those that were tried most first."""
    times: Counter[KeyName] = Counter()
    for call in lost:
        parts = [part.key for part in call.parts if _is_refused(part)]
        times.update(name for name in [call.key, *parts] if name is not None)
    return sorted(times, key=lambda name: (-times[name], name))


def _told(call: Call) -> list[SeenSize]:
    """Return the size that a call tells of an item whose own key is not known; what a query returned counts too."""
    if call.failed or call.item_bytes is None or call.operation == "DeleteItem":
        return []
    return [SeenSize(call.time, call.item_bytes, call.item_bytes, call)]


def _advice(
    traffic: Traffic, key: KeyShown | None, caller: str | None, shape: Shape, *, is_refused: bool
) -> Iterator[Advice]:
    yield advise(
        "fix-caller",
        f"Let {who(caller)} keep what was refused, in a dead-letter queue, and stop trying it again as it is; the"
        " command shows what the item holds"
        if is_refused
        else f"Ask the owner of {who(caller)} what makes the item so large, and whether it grows; the command shows it",
        effect="nothing more is lost while the item is split" if is_refused else "tells how soon it no longer fits",
        command=look_at(key, traffic),
        takes="minutes",
    )
    yield split_item(traffic, "what grows in it", None)
    if shape.operation in {"PutItem", "TransactWriteItems", "BatchWriteItem"}:
        yield store_in_s3()
