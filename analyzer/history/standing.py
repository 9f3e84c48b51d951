"""Which files of history count: two daemons may have made an hour of the same minutes, one of them of more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from analyzer.history.files import Label
    from analyzer.history.names import FileName

__all__ = ["counting"]

Loaded = tuple["FileName", "Label", "pa.Table"]


def counting(files: Iterable[Loaded], known: set[str]) -> Iterator[Loaded]:
    """Yield the files of one length that count, fullest first; `known` are leaves of which the rows are had already.

    Each leaf is added to it, with those whose rows are in its file. A file made of known ones alone counts for
    nothing: whoever made it was as fast as another.
    """
    for name, label, rows in sorted(files, key=lambda one: (-len(one[1].replaces), one[0])):
        is_made = bool(label.replaces)
        is_double = name.leaf in known or (is_made and known.issuperset(label.replaces))
        known.update((name.leaf, *label.replaces))
        if not is_double:
            yield name, label, rows
