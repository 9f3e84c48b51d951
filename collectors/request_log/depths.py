"""How far back a look at a log reads: a little every time, further the more seldom, all of the overlap now and then.

What is read again costs calls, and what comes late is rare: most is seconds late, some minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.model.instant import Instant

__all__ = ["Depths"]


class Depths:
    """Stretches that are read again, each once half of it has passed; the shortest with every look.

    `steps_ms` that are longer than the whole are left out.
    """

    def __init__(self, whole_ms: int, *steps_ms: int) -> None:
        self.whole_ms = whole_ms
        self._read: dict[int, Instant | None] = dict.fromkeys(
            sorted([*(step for step in steps_ms if step < whole_ms), whole_ms])
        )

    def next_ms(self, now: Instant) -> int:
        """Return how far back to read now; the whole where it was never read, or the clock was set back."""
        due = [ms for ms, at in self._read.items() if at is None or not 0 <= now - at < ms // 2]
        return max(due, default=min(self._read))

    def note(self, depth_ms: int, now: Instant) -> None:
        """Note that so much was read to its end."""
        self._read.update(dict.fromkeys((ms for ms in self._read if ms <= depth_ms), now))
