"""Updates that add, and that were sent again after a try of which nobody knows whether it was done."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from analyzer.knowledge.unanswered import may_have_been_done
from analyzer.traffic.sequences import SETTLE_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.calls import Call, CallBook
    from analyzer.model.shape import Shape
    from analyzer.model.target import Target

__all__ = ["done_twice", "is_additive"]


def is_additive(shape: Shape) -> bool:
    """Whether an update changes the item anew each time that it is done, and nothing stops a second time."""
    update = shape.update
    if update is None or shape.condition is not None:
        return False
    return "ADD " in update or " + " in update or " - " in update or "list_append" in update


def done_twice(book: CallBook, target: Target) -> dict[tuple[str | None, str], list[Call]]:
    """Return the updates that may have been done twice, by caller and shape.

    The SDK sent them again itself, or their caller did, in the same trace; without one, only where it is the single
    call at that key within a minute: a busy counter is added to all the time.
    """
    found: dict[tuple[str | None, str], list[Call]] = defaultdict(list)
    same: dict[tuple[object, ...], list[Call]] = defaultdict(list)
    for call in book.of(target):
        if not is_additive(call.shape):
            continue
        same[call.caller, call.fingerprint, call.key, call.asked].append(call)
        if any(may_have_been_done(one.code) for one in call.tries) and not (call.failed and len(call.tries) <= 1):
            found[call.caller, call.fingerprint].append(call)
    for calls in same.values():
        for at, call in enumerate(calls):
            if may_have_been_done(call.error) and _is_repeated(call, calls[:at], calls[at + 1 :]):
                found[call.caller, call.fingerprint].append(call)
    return dict(found)


def _is_repeated(call: Call, before: Sequence[Call], after: Sequence[Call]) -> bool:
    if call.trace_whole:
        return any(one.trace == call.trace for one in after)
    if not call.key_whole:
        return False
    near = [one for one in (*before, *after) if abs(one.time - call.time) <= SETTLE_MS]
    return len(near) == 1 and near[0].time >= call.time
