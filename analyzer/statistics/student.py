"""Student's t distribution without a library: few places need it, and the statistics of scipy cost a second to import.

The regularized incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8, evaluated by Lentz's
method), from which the tail of t follows (26.7.1).
"""

from __future__ import annotations

import math

__all__ = ["t_quantile", "t_tail"]

_TINY = 1e-300
_EXACT = 1e-12
_MOST_STEPS = 300
_HALVINGS = 60


def t_tail(t: float, freedom: float) -> float:
    """Return the probability that a t of so many degrees of freedom is greater."""
    tail = _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2
    return tail if t >= 0 else 1 - tail


def t_quantile(tail: float, freedom: float) -> float:
    """Return the value that t exceeds with this probability, 0 < tail < 0.5."""
    low, high = 0.0, 1.0
    while t_tail(high, freedom) > tail:
        low, high = high, high * 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if t_tail(middle, freedom) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    value, step, m = d, 0.0, 0
    while abs(step - 1) > _EXACT and m < _MOST_STEPS:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _apart(1 + term * d)
            c = _apart(1 + term / c)
            step = c * d
            value *= step
    return value


def _apart(value: float) -> float:
    """Keep a divisor away from zero."""
    return value if abs(value) > _TINY else _TINY
