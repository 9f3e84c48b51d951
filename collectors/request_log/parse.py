"""What names and first bytes tell of log files: which are rotated from which, in which order, and which is which."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.instant import Instant

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["HEAD_BYTES", "Sibling", "head_length", "head_of", "is_packed_name", "is_rotated_from", "newer_than"]

HEAD_BYTES = 1024
"""How much of a file's beginning its fingerprint covers at most."""

_SUFFIX = re.compile(r"[.-](\d[\dTZ:_.+-]*?)(\.(?:gz|zst))?")
_BARE_PACKING = re.compile(r"\.(?:gz|zst)")
_LONGEST_COUNTER = 5
_PACKED = (".gz", ".zst")


class Sibling(Struct, frozen=True):
    """A file that was rotated away from a live one."""

    name: str
    inode: int
    modified: Instant


def is_packed_name(name: str) -> bool:
    """Whether a name says that its file is compressed."""
    return name.endswith(_PACKED)


def is_rotated_from(live: str, name: str) -> bool:
    """Whether a name is a live one's with a counter or date behind it: `log.1`, `log-20261130.gz`, `log.gz`."""
    if not name.startswith(live) or name == live:
        return False
    rest = name[len(live) :]
    return _SUFFIX.fullmatch(rest) is not None or _BARE_PACKING.fullmatch(rest) is not None


def newer_than(live: str, siblings: Iterable[Sibling], inode: int, modified: Instant) -> tuple[Sibling, ...]:
    """Return the siblings that were rotated after the file with that inode, oldest first.

    Where that file itself is no longer among them, its time of last change decides.
    """
    ordered = _oldest_first(live, tuple(siblings))
    for place, sibling in enumerate(ordered):
        if sibling.inode == inode:
            return ordered[place + 1 :]
    return tuple(sibling for sibling in ordered if sibling.modified > modified)


def _oldest_first(live: str, siblings: tuple[Sibling, ...]) -> tuple[Sibling, ...]:
    """Order by counter where all have one (the highest is the oldest), by date where all have one, else by time."""
    found = [(_SUFFIX.fullmatch(sibling.name[len(live) :]), sibling) for sibling in siblings]
    marked = [(match.group(1) if match else "", sibling) for match, sibling in found]
    if all(mark.isdigit() and len(mark) <= _LONGEST_COUNTER for mark, _ in marked):
        return tuple(sibling for _, sibling in sorted(marked, key=lambda one: (-int(one[0]), one[1].modified)))
    if all(len(mark) > _LONGEST_COUNTER for mark, _ in marked):
        return tuple(sibling for _, sibling in sorted(marked, key=lambda one: (one[0], one[1].modified)))
    return tuple(sorted(siblings, key=lambda sibling: (sibling.modified, sibling.name)))


def head_of(beginning: bytes) -> str:
    """Return the fingerprint of a file's first bytes, which says how many they were."""
    first = beginning[:HEAD_BYTES]
    return f"{len(first)}:{hashlib.blake2b(first, digest_size=8).hexdigest()}"


def head_length(head: str) -> int:
    """Return how many bytes a fingerprint covers."""
    return int(head.partition(":")[0] or 0)
