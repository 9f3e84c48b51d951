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
    from analyzer.model.counts import Counts
    from analyzer.model.target import Target

__all__ = ["Homes"]

_MOST = 10_000
"""Tables whose place is remembered: four times as many as AWS lets be in a region."""


class Homes:
    """Remembers the place of every table that was polled, whatever polls bring later.

    Where nobody told whose the credentials are, `account` is the one that the request log names for the same tables.
    `dropped` counts tables for which there was no room, each time that they came.
    """

    def __init__(self) -> None:
        self._places: dict[Target, None] = {}
        self._generation: int | None = None
        self._home = cache(Told().home_of)
        self.account: str | None = None
        self.dropped = 0

    def learn(self, batches: tuple[Batch, ...], generation: int) -> None:
        """Take in what polls brought, once a generation."""
        if generation == self._generation:
            return
        self._generation = generation
        told = told_of(Observations(window=Window(0, 0), batches=batches))
        found = {self._named(target.base) for target in told.targets()} - self._places.keys()
        if not found:
            return
        room = _MOST - len(self._places)
        self.dropped += max(0, len(found) - room)
        self._places |= dict.fromkeys(sorted(found, key=lambda target: target.order())[:room])
        self._forget_homes()

    def learn_account(self, counts: Counts) -> None:
        """Take from the log in which account the tables are that were polled without one; the first that it names.

        One table name in two accounts tells nothing: there it takes `account:` in the configuration.
        """
        nameless = {(place.table, place.region) for place in self._places if place.account is None}
        if self.account is not None or not nameless:
            return
        tables = {table for table, _ in nameless}
        accounts = {
            target.account
            for target in (cell.target for cell in counts.cells)
            if target.account is not None
            and ((target.table, target.region) in nameless or (target.region is None and target.table in tables))
        }
        if len(accounts) == 1:
            self.account = accounts.pop()
            self._places = {self._named(place): None for place in self._places}
            self._forget_homes()

    def _named(self, place: Target) -> Target:
        return msgspec.structs.replace(place, account=place.account or self.account)

    def _forget_homes(self) -> None:
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
