"""The keys of some hundreds of lines at once: each one's form by its signature, and its values cut out of the JSON."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analyzer.requests.digest_keys import IRREGULAR, NO_KEY, canonical_all
from analyzer.requests.digest_told import SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw

    from analyzer.requests.digest_keys import FormTable, KeySpace

__all__ = ["Keys", "keys_of", "signatures_of"]

_SEEN = attrgetter("seen")
_QUOTE, _END = ord('"'), ord(SEPARATOR)


class Keys(NamedTuple):
    """The keys of lines: number of the form, partition and sort key, and whether there is a partition key."""

    forms: np.ndarray
    parts: list[bytes]
    sorts: list[bytes]
    is_known: np.ndarray

    def first(self, count: int) -> Keys:
        """Return the keys of the first so many lines."""
        if len(self.parts) == count:
            return self
        return Keys(self.forms[:count], self.parts[:count], self.sorts[:count], self.is_known[:count])


def keys_of(raws: Sequence[Raw], spaces: list[KeySpace], forms: FormTable) -> Keys:
    """Return keys by signature; only what has an unknown one is looked at alone."""
    joined = SEPARATOR.join(raws)
    if b"\\" in joined:
        joined = canonical_all(joined, SEPARATOR)
    signatures = signatures_of(joined, spaces)
    found = list(map(dict.get, map(_SEEN, spaces), signatures))
    lacking = [at for at, number in enumerate(found) if number is None]
    texts = joined.split(SEPARATOR) if lacking else []
    for at in lacking:
        found[at] = spaces[at].learn(signatures[at], texts[at])
    numbers = np.array(found, dtype=np.int64)
    irregular = np.flatnonzero(numbers == IRREGULAR).tolist()
    numbers[irregular] = NO_KEY
    texts = joined.split(SEPARATOR) if irregular else []
    part_at = np.frombuffer(forms.part_at, dtype=np.int64)[numbers]
    sort_at = np.frombuffer(forms.sort_at, dtype=np.int64)[numbers]
    parts, sorts = _between_quotes(joined, part_at, sort_at)
    is_known = part_at > 0
    for at in irregular:
        numbers[at], parts[at], sorts[at] = spaces[at].parse(texts[at])
        is_known[at] = bool(parts[at])
    return Keys(numbers, parts, sorts, is_known)


def signatures_of(joined: bytes, spaces: list[KeySpace]) -> list[bytes]:
    """Return the signature of each value of `joined`, which SEPARATOR parts: what its space leaves of it."""
    squashes = {space.squash for space in set(spaces)}
    if len(squashes) == 1:
        return next(iter(squashes))(joined).split(SEPARATOR)
    raws = joined.split(SEPARATOR)
    signatures = raws.copy()
    for squash in squashes:
        where = [at for at, space in enumerate(spaces) if space.squash is squash]
        left = squash(SEPARATOR.join([raws[at] for at in where])).split(SEPARATOR)
        for at, signature in zip(where, left, strict=True):
            signatures[at] = signature
    return signatures


def _between_quotes(joined: bytes, *places: np.ndarray) -> list[list[bytes]]:
    """Return, for each array of places, what stands there of each key: between so many quotes and the next; 0: nothing.

    The quotes of all keys are found at once, so that nothing but what is asked for becomes a value of its own.
    """
    text = np.frombuffer(joined, dtype=np.uint8)
    quotes = np.append(np.flatnonzero(text == _QUOTE), 0)
    before = np.zeros(len(places[0]), dtype=np.int64)
    before[1:] = np.searchsorted(quotes[:-1], np.flatnonzero(text == _END))
    found = []
    for place in places:
        closing = (before + place) * (place > 0)
        begins, ends = (quotes[closing - 1] + 1) * (place > 0), quotes[closing] * (place > 0)
        found.append([joined[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)])
    return found
