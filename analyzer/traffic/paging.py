"""Which callers read on where an answer had more, and which take the first page for all."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.model.calls import Call, Calls
from analyzer.model.shape import Shape
from analyzer.traffic.sequences import pages

if TYPE_CHECKING:
    from analyzer.model.calls import CallBook
    from analyzer.model.instant import Instant
    from analyzer.model.target import Target

__all__ = ["Paging", "pagings"]


class Paging(Struct, frozen=True, kw_only=True):
    """How one caller reads one shape, whatever its limit: of its whole sequences alone.

    `begun` are the calls that began to read and were answered, `left` those answers with more that nobody took up, and
    nobody will; `followed` counts those that were, be it in another trace: a page that a person asks for comes later.
    """

    caller: str | None
    shape: Shape
    begun: Calls
    left: Calls
    followed: int

    @property
    def left_share(self) -> float:
        """The part of the answers with more that were left."""
        return len(self.left) / max(len(self.left) + self.followed, 1)


def pagings(book: CallBook, target: Target, until: Instant) -> list[Paging]:
    """Return how each caller and shape at a target goes on after a page that had more."""
    begun: dict[tuple[str | None, Shape], list[Call]] = defaultdict(list)
    left: dict[tuple[str | None, Shape], list[Call]] = defaultdict(list)
    followed: dict[tuple[str | None, Shape], int] = defaultdict(int)
    names: dict[str, Shape] = {}
    followers = set()
    for page in pages(book, target, until):
        name = page.call.caller, _shape(page.call, names)
        if page.follower is not None:
            followers.add(id(page.follower))
            followed[name] += 1
        elif page.is_left:
            left[name].append(page.call)
    for call in book.of(target):
        if not call.is_whole or call.failed:
            continue
        name = call.caller, _shape(call, names)
        if not call.resumed:
            begun[name].append(call)
        elif id(call) not in followers and left[name]:
            left[name].pop()
            followed[name] += 1
    return [
        Paging(
            caller=name[0],
            shape=calls[0].shape,
            begun=tuple(calls),
            left=tuple(left[name]),
            followed=followed[name],
        )
        for name, calls in begun.items()
    ]


def _shape(call: Call, names: dict[str, Shape]) -> Shape:
    """Return a call's shape without its limit: who reads on may ask for another number of items."""
    if call.fingerprint not in names:
        names[call.fingerprint] = msgspec.structs.replace(call.shape, fingerprint="", limit_bucket=None)
    return names[call.fingerprint]
