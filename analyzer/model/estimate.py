"""A number that was estimated, with the bounds of its 95 % interval."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ZERO", "Estimate"]


class Estimate(NamedTuple):
    """A value within [low, high]; all three equal when it was counted rather than estimated."""

    value: float
    low: float
    high: float

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """Return a counted number."""
        return cls(value, value, value)

    @property
    def is_exact(self) -> bool:
        """Whether the number was counted."""
        return self.low == self.high

    def __truediv__(self, divisor: float) -> Estimate:
        """Divide value and bounds by a positive number."""
        return Estimate(self.value / divisor, self.low / divisor, self.high / divisor)


ZERO = Estimate(0.0, 0.0, 0.0)
