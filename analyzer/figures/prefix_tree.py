"""The order of rows: keys as a tree of their segments, so that what is alike lies side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.requests.tokens import is_digits, is_token, split_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["LAST", "buckets_of", "home_of", "is_concealed", "parent_of", "prefixes_of", "tree_place"]

LAST = "\U0010ffff"
"""A segment after all others: the row of what is left under a prefix comes after its keys."""

_LEAST_SHARE = 0.02
"""A prefix whose other keys take less is no row of its own: at most fifty can take as much."""

_DEEPEST = 3

Place = tuple[tuple[int, int, str], ...]


def tree_place(name: str, first_seen: Mapping[str, int]) -> Place:
    """Return what a key is sorted by: its segments, numbers by value.

    Tokens have no order of their own. Siblings that are tokens stand in the order in which they were first seen.
    """
    places = [_segment(segment) for segment in split_key(name)[::2]]
    if is_concealed(name):
        places[-1] = (2, first_seen.get(name, 0), places[-1][2])
    return tuple(places)


def _segment(segment: str) -> tuple[int, int, str]:
    if segment == LAST:
        return 3, 0, segment
    if is_digits(segment):
        return 0, int(segment), segment
    return 1, 0, segment


def is_concealed(name: str) -> bool:
    """Whether the last segment of a key is a token, so that nobody can tell its order."""
    return is_token(split_key(name)[-1])


def parent_of(name: str) -> str:
    """Return all but the last segment of a key, with the delimiter after it; empty where it has one segment alone."""
    return "".join(split_key(name)[:-1])


def prefixes_of(name: str) -> list[str]:
    """Return the first segments of a key with the delimiter after them: one, two, and so on, three at most."""
    parts = split_key(name)
    return ["".join(parts[: 2 * depth]) for depth in range(1, min(len(parts) // 2, _DEEPEST) + 1)]


def home_of(name: str, prefixes: Iterable[str]) -> str:
    """Return the longest of some prefixes that a key has; empty where it has none of them."""
    return max((prefix for prefix in prefixes if name.startswith(prefix)), key=len, default="")


def buckets_of(weights: Mapping[str, float], own: Mapping[str, float], total: float) -> tuple[str, ...]:
    """Return the prefixes that get a row for their other keys: those with enough beside what is shown below them.

    `weights` are those of prefixes, `own` of the keys that have rows of their own (hierarchical heavy hitters:
    Mitzenmacher, Steinke and Thaler 2012).
    """
    least = _LEAST_SHARE * total
    heavy = [prefix for prefix, weight in weights.items() if weight >= least > 0]
    chosen: list[str] = []
    for prefix in sorted(heavy, key=lambda one: (-len(split_key(one)), one)):
        below = [one for one in chosen if one.startswith(prefix)]
        outer = [one for one in below if home_of(one, [other for other in below if other != one]) == ""]
        shown = sum(weight for name, weight in own.items() if name.startswith(prefix) and not home_of(name, below))
        if weights[prefix] - shown - sum(weights[one] for one in outer) >= least:
            chosen.append(prefix)
    return tuple(sorted(chosen))
