"""The heaviest keys of a weighted stream in bounded memory, with bounds that hold for any split and order.

Batched Space-Saving (Metwally, Agrawal, El Abbadi 2005; merging after Agarwal et al. 2012, Cafaro et al. 2016): a key
that is tracked has its weight counted exactly from then on, and a slack, which bounds what it may have weighed before.
Invariant, by induction over every operation: the sum over tracked keys of (upper bound minus floor) is at most
total minus capacity × floor; hence floor ≤ total ÷ capacity.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["SpaceSaving"]

Key = TypeVar("Key")


class SpaceSaving(Generic[Key]):
    """Weights of keys: the truth of a tracked key lies in [low, low + slack], that of any other in [0, floor].

    Weights are whole numbers that are not negative, so that `total` is exact whatever the order. Up to twice `capacity`
    keys are held between prunings.
    """

    __slots__ = ("_lows", "_slacks", "capacity", "floor", "total")

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("a sketch holds at least one key")
        self.capacity = capacity
        self.floor = 0
        self.total = 0
        self._lows: dict[Key, int] = {}
        self._slacks: dict[Key, int] = {}

    @classmethod
    def of(cls, capacity: int, heaviest: dict[Key, int], floor: int, total: int) -> SpaceSaving[Key]:
        """Make a sketch of a stretch whose heaviest keys are known exactly; every other key weighs at most `floor`."""
        sketch: SpaceSaving[Key] = cls(capacity)
        sketch.floor = floor
        sketch.total = total
        sketch._lows = heaviest
        sketch.prune()
        return sketch

    def __len__(self) -> int:
        return len(self._lows)

    def __contains__(self, key: Key) -> bool:
        return key in self._lows

    def __iter__(self) -> Iterator[Key]:
        return iter(self._lows)

    def add(self, key: Key, weight: int) -> None:
        """Add weight to a key."""
        lows = self._lows
        self.total += weight
        known = lows.get(key)
        if known is not None:
            lows[key] = known + weight
            return
        lows[key] = weight
        if self.floor:
            self._slacks[key] = self.floor
        if len(lows) > 2 * self.capacity:
            self.prune()

    def update(self, weights: Iterable[tuple[Key, int]]) -> None:
        """Add weight to many keys."""
        for key, weight in weights:
            self.add(key, weight)

    def bounds(self, key: Key) -> tuple[int, int]:
        """Return the bounds of a key's true weight."""
        low = self._lows.get(key)
        return (0, self.floor) if low is None else (low, low + self._slacks.get(key, 0))

    def items(self) -> Iterator[tuple[Key, int, int]]:
        """Yield every tracked key with its bounds, in no order."""
        slacks = self._slacks
        for key, low in self._lows.items():
            yield key, low, low + slacks.get(key, 0)

    def add_to(self, highs: dict[Key, int]) -> int:
        """Add upper bounds less the floor to sums over several sketches; returns the floor.

        A key's sum and those of all floors are then together its upper bound over all of them.
        """
        floor, slacks = self.floor, self._slacks
        if slacks:
            for key, low in self._lows.items():
                highs[key] = highs.get(key, 0) + low + slacks.get(key, 0) - floor
        elif floor:
            for key, low in self._lows.items():
                highs[key] = highs.get(key, 0) + low - floor
        else:
            for key, low in self._lows.items():
                highs[key] = highs.get(key, 0) + low
        return floor

    def heaviest(self, count: int) -> list[tuple[Key, int, int]]:
        """Return the keys with the greatest upper bounds, greatest first."""
        return nlargest(count, self.items(), key=lambda item: (item[2], item[1]))

    def merge(self, other: SpaceSaving[Key]) -> None:
        """Take in another sketch, of any capacity; that one stays as it is."""
        lows, slacks = self._lows, self._slacks
        mine, theirs = self.floor, other.floor
        joined: dict[Key, int] = dict(lows)
        slack: dict[Key, int] = {}
        for key, low in other._lows.items():
            joined[key] = joined.get(key, 0) + low
        for key in joined:
            error = (slacks.get(key, 0) if key in lows else mine) + (
                other._slacks.get(key, 0) if key in other._lows else theirs
            )
            if error:
                slack[key] = error
        self._lows, self._slacks = joined, slack
        self.floor = mine + theirs
        self.total += other.total
        if len(joined) > 2 * self.capacity:
            self.prune()

    def prune(self) -> None:
        """Keep as many keys as `capacity` says; the heaviest of those let go becomes the floor."""
        excess = len(self._lows) - self.capacity
        if excess <= 0:
            return
        ranked = nlargest(self.capacity + 1, self.items(), key=lambda item: item[2])
        self.floor = max(self.floor, ranked[-1][2])
        kept = ranked[:-1]
        self._lows = {key: low for key, low, _ in kept}
        self._slacks = {key: high - low for key, low, high in kept if high > low}

    def share(self, numbers: dict[int, int]) -> None:
        """Let equal weights be one object, that of `numbers`; new ones are added there."""
        self._lows = {key: numbers.setdefault(low, low) for key, low in self._lows.items()}
        self._slacks = {key: numbers.setdefault(slack, slack) for key, slack in self._slacks.items()}

    def plain(self) -> tuple[int, int, int, list[tuple[Key, int, int]]]:
        """Return the whole state: capacity, floor, total, and (key, low, slack) of each key."""
        return (
            self.capacity,
            self.floor,
            self.total,
            [(key, low, self._slacks.get(key, 0)) for key, low in self._lows.items()],
        )

    @classmethod
    def from_plain(
        cls, capacity: int, floor: int, total: int, keys: Iterable[tuple[Key, int, int]]
    ) -> SpaceSaving[Key]:
        """Rebuild a sketch from its state."""
        sketch: SpaceSaving[Key] = cls(capacity)
        sketch.floor = floor
        sketch.total = total
        for key, low, slack in keys:
            sketch._lows[key] = low
            if slack:
                sketch._slacks[key] = slack
        return sketch
