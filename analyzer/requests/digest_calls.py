"""The call book inside the digest: which calls are kept follows from their names' ranks, so parts merge in any order.

A name with a rank at or above the floor has a *claim* on each of its calls, if they are many on the newest. When there
are more claims than the bound, the floor rises by one and half of the names go; a call without any claim goes. Notable
calls are kept by ranks of their own, a floor for each kind.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from analyzer.model.calls import Call, CallBook, Notable
from analyzer.requests.digest_kept import NO_RANK, CallState, Floor, Kept, in_order, restored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.counts import Cell
    from analyzer.model.instant import Instant

__all__ = ["CallTable"]

_SPARE = 4
"""A quarter more claims than the bound may wait before room is made."""

_OF_A_NAME = 10
"""One name may take a tenth of the bound: beyond it the newest of its calls are kept."""

_OF_A_KIND = 40
"""Notable calls of one kind may take a fortieth of the bound."""

_OF_HEAVY = 10
"""Heavy calls may take a tenth of the bound more; what bounds them apart keeps the order of arrival from mattering."""

_ROOM = 4
"""Where less than a quarter of the room is taken, twice as many names will still fit."""


class CallTable:
    """The kept calls of a digest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[Kept] = []
        self._names = Floor()
        self._kinds = {kind: Floor() for kind in Notable}
        self._seen = 0
        self._gone = 0
        self._since: Instant | None = None
        self._waiting = 0
        self._book: CallBook | None = None

    @property
    def floor(self) -> int:
        """The rank from which on names are kept."""
        return self._names.rank

    def floor_of(self, kind: Notable) -> int:
        """Return the rank from which on notable calls of a kind are kept."""
        return self._kinds[kind].rank

    def note_seen(self, calls: int) -> None:
        """Count calls that were looked at, kept or not."""
        self._seen += calls
        self._book = None

    def add(self, kept: Kept) -> None:
        """Keep a call."""
        self._kept.append(kept)
        self._book = None
        self._waiting += 1
        if self._waiting > self._most // _SPARE:
            self._tidy()

    def _bound(self, *, is_heavy: bool) -> int:
        return max(1, self._most // _OF_HEAVY) if is_heavy else self._most

    def _most_of_kind(self) -> int:
        return max(1, self._most // _OF_A_KIND)

    def _claims(self, *, is_heavy: bool) -> Counter[int]:
        """Count the claims on light or heavy calls by rank."""
        kept = (kept for kept in self._kept if kept.is_heavy == is_heavy)
        return Counter(rank for one in kept for rank in one.ranks() if rank >= 0)

    def _of_kind(self, kind: Notable) -> Counter[int]:
        """Count the notable calls of a kind by rank."""
        return Counter(kept.by_kind for kept in self._kept if kept.by_kind >= 0 and kept.call.notable is kind)

    def _tidy(self) -> None:
        """Give up claims beyond the newest of a name, raise the floors until all fits, let go what nothing keeps."""
        if not self._waiting:
            return
        self._waiting = 0
        self._keep_newest()
        for is_heavy in (False, True):
            self._names.raise_to_fit(self._claims(is_heavy=is_heavy), self._bound(is_heavy=is_heavy))
        for kind, floor in self._kinds.items():
            floor.raise_to_fit(self._of_kind(kind), self._most_of_kind())
        self._kept = [kept for kept in self._kept if self._holds(kept)]

    def _keep_newest(self) -> None:
        """Take the claim of a name from all but its newest calls."""
        named: dict[tuple[str, object, bool], list[Kept]] = defaultdict(list)
        for kept in self._kept:
            is_heavy = kept.is_heavy
            for claim, name in kept.names():
                if getattr(kept, claim) >= self._names.rank:
                    named[claim, name, is_heavy].append(kept)
        for (claim, _, is_heavy), calls in named.items():
            most = max(1, self._bound(is_heavy=is_heavy) // _OF_A_NAME)
            if len(calls) > most:
                for kept in in_order(calls)[:-most]:
                    setattr(kept, claim, NO_RANK)

    def _holds(self, kept: Kept) -> bool:
        """Say whether anything keeps a call; claims below the floor are void from now on."""
        floor = self._names.rank
        kept.by_trace = kept.by_trace if kept.by_trace >= floor else NO_RANK
        kept.by_key = kept.by_key if kept.by_key >= floor else NO_RANK
        kept.by_shape = kept.by_shape if kept.by_shape >= floor else NO_RANK
        kind = kept.call.notable
        if kind is None or kept.by_kind < self._kinds[kind].rank:
            kept.by_kind = NO_RANK
        return max(*kept.ranks(), kept.by_kind) >= 0

    def forget_before(self, instant: Instant) -> None:
        """Forget the calls before an instant; where that makes much room, the floors sink by one."""
        self._tidy()
        before = len(self._kept)
        self._kept = [kept for kept in self._kept if kept.call.time >= instant]
        self._gone += before - len(self._kept)
        self._since = instant if self._since is None else max(self._since, instant)
        newest = max((kept.call.time for kept in self._kept), default=instant)
        has_room = all(
            self._claims(is_heavy=is_heavy).total() < self._bound(is_heavy=is_heavy) // _ROOM
            for is_heavy in (False, True)
        )
        self._names.sink(has_room=has_room, newest=newest, oldest=instant)
        for kind, floor in self._kinds.items():
            has_room = self._of_kind(kind).total() < self._most_of_kind() // _ROOM
            floor.sink(has_room=has_room, newest=newest, oldest=instant)
        self._book = None

    def book(self) -> CallBook:
        """Return the kept calls; the same book until something is added."""
        if self._book is None:
            self._tidy()
            floors = {kind: floor.highest() for kind, floor in self._kinds.items()}
            told = [self._told(kept, floors) for kept in in_order(self._kept)]
            calls = [call for call in told if call is not None]
            self._book = CallBook(
                calls,
                share=2.0 ** -self._names.highest(),
                notable={kind: 2.0**-floor for kind, floor in floors.items()},
                since=self._since,
                dropped=self._seen - self._gone - len(calls),
            )
        return self._book

    def _told(self, kept: Kept, floors: dict[Notable, int]) -> Call | None:
        """Return a call with what holds of it under the highest floors; None where it lies below all of them."""
        call, floor = kept.call, self._names.highest()
        by_trace, by_key, by_shape = kept.by_trace >= floor, kept.by_key >= floor, kept.by_shape >= floor
        kind = call.notable if call.notable is not None and kept.by_kind >= floors[call.notable] else None
        if not (by_trace or by_key or by_shape or kind is not None):
            return None
        whole = (call.trace_whole and by_trace, call.key_whole and by_key, call.shape_whole and by_shape, kind)
        if whole == (call.trace_whole, call.key_whole, call.shape_whole, call.notable):
            return call
        return msgspec.structs.replace(
            call, trace_whole=whole[0], key_whole=whole[1], shape_whole=whole[2], notable=whole[3]
        )

    def merge(self, other: CallTable, cells: Sequence[int]) -> None:
        """Take in another part, which stays as it is; `cells` maps its cell numbers to ours."""
        other._tidy()
        self._names.merge(other._names)
        for kind, floor in other._kinds.items():
            self._kinds[kind].merge(floor)
        self._kept += [msgspec.structs.replace(kept, cell=cells[kept.cell]) for kept in other._kept]
        self._seen += other._seen
        self._gone += other._gone
        if other._since is not None:
            self._since = other._since if self._since is None else max(self._since, other._since)
        self._waiting += 1
        self._book = None
        self._tidy()

    def plain(self) -> CallState:
        """Return the whole state."""
        self._tidy()
        calls = [(k.cell, k.by_trace, k.by_key, k.by_shape, k.by_kind, Raw(k.write())) for k in self._kept]
        kinds = {kind.value: floor for kind, floor in self._kinds.items()}
        return calls, self._names, kinds, self._seen, self._gone, self._since

    @classmethod
    def from_plain(cls, most: int, state: CallState, cells: Sequence[Cell]) -> CallTable:
        """Rebuild from the state."""
        table = cls(most)
        calls, names, kinds, table._seen, table._gone, table._since = state
        table._kept = [restored(cells, *kept) for kept in calls]
        table._names = names
        table._kinds |= {Notable(kind): floor for kind, floor in kinds.items()}
        table._waiting = 1
        return table
