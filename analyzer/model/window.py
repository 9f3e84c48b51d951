"""A stretch of time, start included, end excluded."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.instant import SLICE_MS, Instant

__all__ = ["Window"]


class Window(Struct, frozen=True, order=True):
    """A half-open stretch [start, end) in milliseconds since the epoch."""

    start: Instant
    end: Instant

    def __post_init__(self) -> None:
        """Refuse a window that ends before it starts."""
        if self.end < self.start:
            raise ValueError(f"a window ends ({self.end}) before it starts ({self.start})")

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return (self.end - self.start) / 1000

    @property
    def rate_seconds(self) -> float:
        """Seconds to divide by for a rate: what came in less than a second is taken as a second's."""
        return max(self.seconds, 1.0)

    def holds(self, instant: Instant) -> bool:
        """Whether an instant lies in the window."""
        return self.start <= instant < self.end

    def slices(self) -> range:
        """Return the starts of the whole slices that the window touches."""
        return range(self.start - self.start % SLICE_MS, self.end, SLICE_MS)
