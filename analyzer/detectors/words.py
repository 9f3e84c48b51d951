"""How findings and reports say numbers."""

from __future__ import annotations

from analyzer.model.estimate import Estimate

__all__ = ["UNITS_UNKNOWN", "between", "counted", "number", "percent", "who"]

UNITS_UNKNOWN = "units unknown (calls tell them that ask for ReturnConsumedCapacity)"
"""What to say where no call tells its units, with the mend."""

_HUNDRED = 100
_TENTH = 0.1
_LEAST = 0.001
_NEARLY_ALL = 99


def number(value: float) -> str:
    """Write a number for eyes: thousands apart, no digits that say nothing."""
    if abs(value) >= _HUNDRED or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= _TENTH else f"{value:.2g}"


def percent(share: float) -> str:
    """Write a share of 0 to 1 as a percentage."""
    if 0 < share < _LEAST:
        return "<0.1%"
    value = share * _HUNDRED
    return f"{value:.0f}%" if 1 <= value <= _NEARLY_ALL else f"{value:.3g}%"


def between(estimate: Estimate) -> str:
    """Write an estimate with its bounds, or the bare number where it was counted."""
    value, low, high = (number(part) for part in estimate)
    return value if value == low == high else f"{value} [{low}–{high}]"


def who(caller: str | None) -> str:
    """Name a caller in a sentence."""
    return "a caller not recorded" if caller is None else caller


def counted(amount: Estimate | float, one: str, many: str | None = None) -> str:
    """Write how many of a thing there are, and what follows it: `many` unless it is just 1, `one` with an s without it.

    Where a verb follows, both hold it: `counted(2, "call was", "calls were")`. Bounds make it many.
    """
    told = between(amount) if isinstance(amount, Estimate) else number(amount)
    return f"{told} {one if told == '1' else many or one + 's'}"
