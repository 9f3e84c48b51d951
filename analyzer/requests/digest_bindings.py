"""A route with a class of keys: the parsed skeleton, and where the values stand that decide the cell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.model.request import RequestRecord
    from analyzer.requests.digest_keys import KeyClass, Squash
    from analyzer.requests.digest_routes import Route
    from analyzer.requests.shapes import Skeleton

__all__ = ["Binding"]

_PLACEHOLDER = re.compile(r":\w+")


class Binding:
    """A route with a class of keys: `others` are the slots whose values do not stand in the key.

    Where those have one placeholder, `marker` is it, quoted: what follows it in the raw values fixes the cell. `seen`
    remembers cells by that text, or by its signature. `fixed` stands for it where no value matters.
    """

    __slots__ = ("fixed", "key_class", "marker", "others", "raw_key", "record", "route", "seen", "skeleton", "squash")

    def __init__(self, route: Route, skeleton: Skeleton, record: RequestRecord, key_class: KeyClass) -> None:
        self.route = route
        self.squash: Squash | None = None
        self.raw_key: tuple[object, ...] = ()
        known = {predicate.attribute for predicate in key_class}
        self.skeleton = skeleton
        self.record = record
        self.key_class = key_class
        self.others = tuple(
            number for number, slot in enumerate(skeleton.slots) if slot.operator != "=" or slot.attribute not in known
        )
        self.marker = _marker(
            record.key_condition, {place for at in self.others for place in skeleton.slots[at].places}
        )
        self.fixed = b"" if self.others else b"-"
        self.seen: dict[bytes, int] = {}


def _marker(condition: str | None, places: set[int]) -> bytes | None:
    """Return the one placeholder of a key condition that stands at these places of it, quoted."""
    if condition is None or len(places) != 1:
        return None
    names = list(dict.fromkeys(_PLACEHOLDER.findall(condition)))
    place = places.pop()
    return f'"{names[place]}"'.encode() if place < len(names) else None
