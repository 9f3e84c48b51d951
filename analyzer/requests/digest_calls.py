"""The call book inside the digest: which calls are kept follows from their names' ranks, so parts merge in any order.

A name with a rank at or above the floor has a *claim* on each of its calls, if they are many on the newest. When there
are more claims than the bound, the floor rises by one and half of the names go; a call without any claim goes. Notable
calls are kept by ranks of their own, a floor for each kind.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from analyzer.model.calls import Call, CallBook, Notable
from analyzer.requests.digest_drafts import Draft
from analyzer.requests.digest_kept import NAMES, NO_RANK, Floor, Kept, in_order, restored, restored_draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.counts import Cell
    from analyzer.model.instant import Instant
    from analyzer.requests.digest_kept import CallState, DraftState, Read

__all__ = ["CallTable"]

_SPARE = 8
"""An eighth more calls than the bound may wait before room is made; a heavy one takes the room of ten."""

_OF_A_NAME = 10
"""One name may take a tenth of the bound: beyond it the newest of its calls are kept."""

_OF_A_KIND = 40
"""Notable calls of one kind may take a fortieth of the bound."""

_OF_HEAVY = 10
"""Heavy calls may take a tenth of the bound more; what bounds them apart keeps the order of arrival from mattering."""

_BY_TRACE, _BY_KEY, _BY_SHAPE = (attrgetter(claim) for claim, _, _ in NAMES)

_ROOM = 4
"""Where less than a quarter of the room is taken, twice as many names will still fit."""


class CallTable:
    """The kept calls of a digest; `read` reads those of which only a draft was kept."""

    def __init__(self, most: int, read: Read) -> None:
        self._most = most
        self._read = read
        self._kept: list[Kept] = []
        self._names = Floor()
        self._kinds = {kind: Floor() for kind in Notable}
        self._seen = 0
        self._gone = 0
        self._since: Instant | None = None
        self._is_tidy = True
        self._room = most + most // _SPARE
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
        self._is_tidy = False
        self._room -= _OF_HEAVY if kept.is_heavy else 1
        if self._room < 0:
            self._tidy()

    def _bound(self, *, is_heavy: bool) -> int:
        return max(1, self._most // _OF_HEAVY) if is_heavy else self._most

    def _most_of_kind(self) -> int:
        return max(1, self._most // _OF_A_KIND)

    def _tidy(self) -> None:
        """Give up claims beyond the newest of a name, raise the floors until all fits, let go what nothing keeps."""
        if self._is_tidy:
            return
        self._is_tidy = True
        self._keep_newest()
        claims, kinds = self._counted()
        for is_heavy, ranks in claims.items():
            self._names.raise_to_fit(ranks, self._bound(is_heavy=is_heavy))
        for kind, floor in self._kinds.items():
            floor.raise_to_fit(kinds[kind], self._most_of_kind())
        self._kept = [kept for kept in self._kept if self._holds(kept)]
        self._room = max(self._most // _SPARE, self._most + self._most // _SPARE - len(self._kept))

    def _counted(self) -> tuple[dict[bool, Counter[int]], dict[Notable, Counter[int]]]:
        """Count the claims on light and heavy calls, and the notable calls of each kind, by rank."""
        claims: dict[bool, Counter[int]] = {}
        for is_heavy, calls in self._by_weight().items():
            claims[is_heavy] = Counter(map(_BY_TRACE, calls)) + Counter(map(_BY_KEY, calls))
            claims[is_heavy] += Counter(map(_BY_SHAPE, calls))
            del claims[is_heavy][NO_RANK]
        kinds: dict[Notable, Counter[int]] = {kind: Counter() for kind in Notable}
        for kept in self._kept:
            if kept.kind is not None and kept.by_kind >= 0:
                kinds[kept.kind][kept.by_kind] += 1
        return claims, kinds

    def _by_weight(self) -> dict[bool, list[Kept]]:
        return {
            False: [kept for kept in self._kept if not kept.is_heavy],
            True: [kept for kept in self._kept if kept.is_heavy],
        }

    def _keep_newest(self) -> None:
        """Take the claim of a name from all but its newest calls; few names have so many."""
        floor = self._names.rank
        for is_heavy, all_held in self._by_weight().items():
            most = max(1, self._bound(is_heavy=is_heavy) // _OF_A_NAME)
            for claim, word, name in NAMES:
                rank_of = attrgetter(claim)
                held = [kept for kept, rank in zip(all_held, map(rank_of, all_held), strict=True) if rank >= floor]
                if len(held) <= most:
                    continue
                crowded = {text for text, calls in Counter(map(word, held)).items() if calls > most}
                named: dict[object, list[Kept]] = defaultdict(list)
                for kept in held if crowded else ():
                    if word(kept) in crowded:
                        named[name(kept)].append(kept)
                for calls in named.values():
                    for kept in in_order(calls, self._read)[:-most]:
                        setattr(kept, claim, NO_RANK)

    def _holds(self, kept: Kept) -> bool:
        """Say whether anything keeps a call; claims below the floor are void from now on."""
        floor = self._names.rank
        if kept.by_trace < floor:
            kept.by_trace = NO_RANK
        if kept.by_key < floor:
            kept.by_key = NO_RANK
        if kept.by_shape < floor:
            kept.by_shape = NO_RANK
        if kept.kind is None or kept.by_kind < self._kinds[kept.kind].rank:
            kept.by_kind = NO_RANK
        return kept.by_trace >= 0 or kept.by_key >= 0 or kept.by_shape >= 0 or kept.by_kind >= 0

    def forget_before(self, instant: Instant) -> None:
        """Forget the calls before an instant; where that makes much room, the floors sink by one."""
        self._tidy()
        before = len(self._kept)
        self._kept = [kept for kept in self._kept if kept.time >= instant]
        self._gone += before - len(self._kept)
        self._since = instant if self._since is None else max(self._since, instant)
        newest = max((kept.time for kept in self._kept), default=instant)
        claims, kinds = self._counted()
        has_room = all(ranks.total() < self._bound(is_heavy=heavy) // _ROOM for heavy, ranks in claims.items())
        self._names.sink(has_room=has_room, newest=newest, oldest=instant)
        for kind, floor in self._kinds.items():
            has_room = kinds[kind].total() < self._most_of_kind() // _ROOM
            floor.sink(has_room=has_room, newest=newest, oldest=instant)
        self._book = None

    def book(self) -> CallBook:
        """Return the kept calls; the same book until something is added."""
        if self._book is None:
            self._tidy()
            floors = {kind: floor.highest() for kind, floor in self._kinds.items()}
            told = [self._told(kept, floors) for kept in in_order(self._kept, self._read)]
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
        floor = self._names.highest()
        by_trace, by_key, by_shape = kept.by_trace >= floor, kept.by_key >= floor, kept.by_shape >= floor
        kind = kept.kind if kept.kind is not None and kept.by_kind >= floors[kept.kind] else None
        if not (by_trace or by_key or by_shape or kind is not None):
            return None
        call = kept.call(self._read)
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
        self._is_tidy = False
        self._book = None
        self._tidy()

    def plain(self) -> tuple[CallState, DraftState]:
        """Return the whole state."""
        self._tidy()
        calls, drafts = [], []
        for k in self._kept:
            ranks = (k.by_trace, k.by_key, k.by_shape, k.by_kind)
            if isinstance(k.told, Draft):
                drafts.append((k.cell, ranks, k.kind, k.time, k.told))
            else:
                calls.append((k.cell, *ranks, Raw(k.write(self._read))))
        kinds = {kind.value: floor for kind, floor in self._kinds.items()}
        return (calls, self._names, kinds, self._seen, self._gone, self._since), drafts

    def restore(self, state: CallState, drafts: DraftState, cells: Sequence[Cell]) -> None:
        """Take on a state."""
        calls, self._names, kinds, self._seen, self._gone, self._since = state
        self._kept = [restored(cells, *kept) for kept in calls]
        self._kept += [restored_draft(cells, *kept) for kept in drafts]
        self._kinds |= {Notable(kind): floor for kind, floor in kinds.items()}
        self._is_tidy = False
