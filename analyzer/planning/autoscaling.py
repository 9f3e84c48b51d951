"""Target-tracking autoscaling replayed on observed minutes: what capacity would have stood, and what was refused.

The rules are AWS's own (analyzer/knowledge/scaling.py). Within a minute demand is taken to be even; what is refused is
not asked again; of a scale-in the fullest of the fifteen minutes sets the new capacity. A table's reads and writes
share its decreases of the day, as UpdateTable counts them.
"""

from __future__ import annotations

from collections import deque
from math import ceil
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.knowledge.scaling import (
    APPLY_MINUTES,
    BURST_SECONDS,
    FREE_DECREASES,
    IN_BELOW,
    IN_MINUTES,
    MOST_DECREASES,
    OUT_MINUTES,
    REUSE_MINUTES,
    TARGET_SHARE,
)
from analyzer.model.instant import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.model.finding import Direction
    from analyzer.model.instant import Instant
    from analyzer.planning.load import Load

__all__ = ["Rules", "Scaled", "replay"]

_DAY_MS = 86_400_000
_SECONDS = 60


class Rules(Struct, frozen=True, kw_only=True):
    """Bounds of capacity in units a second, the target utilization, and the capacity to begin with.

    Without `first` capacity begins where the first minute meets the target.
    """

    minimum: float
    maximum: float
    target_share: float = TARGET_SHARE
    first: float | None = None

    def meeting(self, units: float) -> float:
        """Return the capacity of which so many units a second are the target's share, within the bounds."""
        return min(max(ceil(round(units / self.target_share, 6)), self.minimum), self.maximum)


class Scaled(Struct, frozen=True, kw_only=True):
    """What became of it: capacity by minute, units and minutes that were refused, and how often capacity changed.

    `held_minutes` are those in which capacity was due to be lowered and the day's decreases were used up.
    """

    capacity: tuple[float, ...]
    served_units: float
    throttled_units: float
    throttled_minutes: int
    raised: int
    lowered: int
    held_minutes: int
    minutes_at_maximum: int

    @property
    def mean_capacity(self) -> float:
        """Capacity over all minutes: what is paid."""
        return sum(self.capacity) / len(self.capacity)

    @property
    def used_share(self) -> float:
        """The part of the capacity that was used."""
        return self.served_units / (sum(self.capacity) * _SECONDS)

    @property
    def throttled_share(self) -> float:
        """The part of the units asked for that was refused."""
        asked = self.served_units + self.throttled_units
        return self.throttled_units / asked if asked else 0.0


def replay(loads: Mapping[Direction, Load], rules: Mapping[Direction, Rules]) -> dict[Direction, Scaled]:
    """Replay the directions of one table or index side by side; their loads cover the same minutes."""
    tracks = {direction: _Track(load, rules[direction]) for direction, load in loads.items()}
    decreases = _Decreases()
    for minute in range(max((len(load.units) for load in loads.values()), default=0)):
        for track in tracks.values():
            track.step(minute, decreases)
    return {direction: track.scaled() for direction, track in tracks.items()}


class _Decreases:
    """How often a table or index may still be lowered today."""

    def __init__(self) -> None:
        self._day = -1
        self._used = 0
        self._last = -_DAY_MS

    def take(self, at: Instant) -> bool:
        """Use one, where there is one."""
        if at // _DAY_MS != self._day:
            self._day, self._used = at // _DAY_MS, 0
        is_allowed = self._used < FREE_DECREASES or at - self._last >= REUSE_MINUTES * MINUTE_MS
        if not is_allowed or self._used >= MOST_DECREASES:
            return False
        self._used += 1
        self._last = at
        return True


class _Track:
    """One direction as it goes."""

    def __init__(self, load: Load, rules: Rules) -> None:
        self._load = load
        self._rules = rules
        self._now = rules.meeting(load.units[0]) if rules.first is None else rules.first
        self._credit = 0.0  # nobody knows what was left unused before
        self._due: tuple[int, float] | None = None
        self._recent: deque[float] = deque(maxlen=IN_MINUTES)
        self._over = 0
        self._below = 0
        self._capacity: list[float] = []
        self._served = self._throttled = 0.0
        self._throttled_minutes = self._raised = self._lowered = self._held = self._full = 0

    def step(self, minute: int, decreases: _Decreases) -> None:
        """Serve a minute, then look at it as the alarms do."""
        if self._due is not None and self._due[0] <= minute:
            self._now, self._due = self._due[1], None
            self._over = self._below = 0
        served = self._serve(self._load.units[minute])
        self._recent.append(served)
        self._over = self._over + 1 if served > self._rules.target_share * self._now else 0
        self._below = self._below + 1 if served < (self._rules.target_share - IN_BELOW) * self._now else 0
        if self._due is None:
            self._scale(minute, decreases)

    def _serve(self, demand: float) -> float:
        """Return what was served, in units a second; burst credit is used before anything is refused."""
        asked, stands = demand * _SECONDS, self._now * _SECONDS
        refused = max(0.0, asked - stands - self._credit)
        self._credit = min(max(self._credit + stands - asked, 0.0), self._now * BURST_SECONDS)
        self._served += asked - refused
        self._throttled += refused
        self._throttled_minutes += refused > 0
        self._full += self._now >= self._rules.maximum
        self._capacity.append(self._now)
        return (asked - refused) / _SECONDS

    def _scale(self, minute: int, decreases: _Decreases) -> None:
        if self._over >= OUT_MINUTES:
            wanted = self._rules.meeting(self._recent[-1])
            if wanted > self._now:
                self._due = (minute + 1 + APPLY_MINUTES, wanted)
                self._raised += 1
        elif self._below >= IN_MINUTES:
            wanted = self._rules.meeting(max(self._recent))
            if wanted >= self._now:
                return
            if decreases.take(self._load.start + minute * MINUTE_MS):
                self._due = (minute + 1 + APPLY_MINUTES, wanted)
                self._lowered += 1
            else:
                self._held += 1

    def scaled(self) -> Scaled:
        return Scaled(
            capacity=tuple(self._capacity),
            served_units=self._served,
            throttled_units=self._throttled,
            throttled_minutes=self._throttled_minutes,
            raised=self._raised,
            lowered=self._lowered,
            held_minutes=self._held,
            minutes_at_maximum=self._full,
        )
