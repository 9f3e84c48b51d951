"""How many of many tests may speak up: control of the false discovery rate.

Benjamini and Hochberg, 1995: of the findings that are told, at most the share `rate` is chance, on average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["discoveries", "q_values"]


def q_values(p_values: Sequence[float]) -> list[float]:
    """Return for each p-value the least rate at which it is a discovery."""
    many = len(p_values)
    order = sorted(range(many), key=p_values.__getitem__, reverse=True)
    adjusted = [1.0] * many
    least = 1.0
    for at, number in enumerate(order):
        least = min(least, p_values[number] * (many / (many - at)))
        adjusted[number] = least
    return adjusted


def discoveries(p_values: Sequence[float], rate: float) -> list[bool]:
    """Say of each p-value whether it is a discovery at a false discovery rate."""
    return [q <= rate for q in q_values(p_values)]
