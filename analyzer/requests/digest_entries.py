"""How the index keys of an item are written in a log: learnt from one item, and then cut out of others unparsed."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["written_like"]

_ANY = rb'[^"\\]{0,2048}'
_NEVER = re.compile(rb"(?!)")


def written_like(
    raw: bytes,
    written: dict[str, dict[str, dict[str, Any]]],
    wanted: tuple[str, tuple[str, ...], tuple[str, ...]],
    entry: tuple[bytes, bytes],
) -> re.Pattern[bytes]:
    """Return what cuts an entry out of `index_keys` that are written like these, whatever their values.

    `wanted` are index, partition and sort key attributes. Where the entry does not stand there as it is, nothing does.
    """
    index, partition, sort = wanted
    pieces = raw.split(b'"')
    pattern = list(map(re.escape, pieces))
    found: dict[str, bytes] = {"sort": b""}
    names = []
    at = 1
    for name, attributes in written.items():
        names.append((at, name))
        for attribute in attributes:
            names.append((at + 2, attribute))
            at += 6
            group = {partition: "part", sort: "sort"}.get((attribute,)) if name == index else None
            if group is not None:
                found[group] = b"".join(pieces[at : at + 1])
            pattern[at : at + 1] = [b"(?P<%s>%s)" % (group.encode(), _ANY) if group else _ANY]
        at += 2
    is_as_told = len(pieces) == at and all(pieces[place] == name.encode() for place, name in names)
    if not is_as_told or b"\\" in raw or (found.get("part"), found["sort"]) != entry:
        return _NEVER
    return re.compile(b'"'.join(pattern) + (b"" if sort else b"(?P<sort>)"))
