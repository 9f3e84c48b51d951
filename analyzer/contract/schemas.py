"""Which attributes are the keys of a table or an index, as requests, items written and DescribeTable tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.requests.templates import Template

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.contract.seen import Key

__all__ = ["Schema", "guess_schema"]

_SORT_LIKE = re.compile(r"(?:.*[_-])?(?:s(?:ort)?_?k(?:ey)?|range.*)|.*SK", re.IGNORECASE)


class Schema(Struct, frozen=True):
    """Partition and sort key attribute; `unsure` says why they may be wrong, empty where they are known."""

    partition: str | None = None
    sort: str | None = None
    unsure: str = ""


def guess_schema(keys: Sequence[Key], told: Sequence[str] = (), written: Sequence[str] = ()) -> Schema:
    """Guess: a range condition names the sort key, a lone equality the partition key.

    `told` are attributes that the digest told apart, `written` those of index keys of items.
    """
    names = list(dict.fromkeys([*(attribute for key in keys for attribute, _ in key), *written]))
    ranged = {attribute for key in keys for attribute, text in key if Template.parse(text).operator != "="}
    alone = _alone(keys, ranged)
    ordered = sorted(names, key=lambda n: (n in ranged, n not in alone, bool(_SORT_LIKE.fullmatch(n))))
    if told:
        ordered = [*told]
    if not ordered:
        return Schema(unsure="no request shows its key")
    sort = ordered[1] if len(ordered) > 1 else None
    return Schema(ordered[0], sort, "" if _is_shown(ordered, ranged, alone) else "which attribute is which is a guess")


def _alone(keys: Sequence[Key], ranged: Iterable[str]) -> set[str]:
    ranges = set(ranged)
    alone = {key[0][0] for key in keys if len(key) == 1}
    beside = {attribute for key in keys if ranges & {a for a, _ in key} for attribute, _ in key}
    return alone | (beside - ranges)


def _is_shown(ordered: Sequence[str], ranged: set[str], alone: set[str]) -> bool:
    """Whether requests, or the names themselves, show which is which."""
    if len(ordered) < 2:  # noqa: PLR2004 -- partition and sort key
        return True
    partition, sort = ordered[:2]
    by_name = bool(_SORT_LIKE.fullmatch(sort)) and not _SORT_LIKE.fullmatch(partition)
    return sort in ranged or (partition in alone and sort not in alone) or by_name
