"""Where tables live, as anybody ever told: a log that does not say it must not give a table a second place.

What is polled may not come for a while, or holds no time of now; a finding keeps its name all the same.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from analyzer.model.observations import Observations
from analyzer.model.window import Window
from analyzer.traffic.told import Told, told_of

if TYPE_CHECKING:
    from analyzer.model.batch import Batch
    from analyzer.model.target import Target

__all__ = ["Homes"]

_MOST = 10_000
"""Tables whose place is remembered: four times as many as AWS lets be in a region."""


class Homes:
    """Remembers the place of every table that was polled, whatever polls bring later."""

    def __init__(self) -> None:
        self._places: dict[Target, None] = {}
        self._generation: int | None = None
        self._home = cache(Told().home_of)

    def learn(self, batches: tuple[Batch, ...], generation: int) -> None:
        """Take in what polls brought, once a generation."""
        if generation == self._generation:
            return
        self._generation = generation
        told = told_of(Observations(window=Window(0, 0), batches=batches))
        found = {target.base for target in told.targets()} - self._places.keys()
        if not found:
            return
        self._places |= dict.fromkeys(sorted(found, key=lambda target: target.order())[: _MOST - len(self._places)])
        self._home = cache(Told(metrics={target: [] for target in self._places}).home_of)

    def of(self, observations: Observations) -> Observations:
        """Return observations in which what a log does not say of a table's place is what it must be."""
        counts, calls = observations.counts, observations.calls
        if not self._places or counts is None:
            return observations
        replace = msgspec.structs.replace
        if all(self._home(cell.target) == cell.target for cell in counts.cells):
            return observations
        calls = None if calls is None else calls.at_home(self._home, lambda name: name)
        counts = replace(
            counts,
            cells=tuple(replace(cell, target=self._home(cell.target)) for cell in counts.cells),
            keys=tuple(replace(keys, target=self._home(keys.target)) for keys in counts.keys),
        )
        return replace(observations, counts=counts, calls=calls)
