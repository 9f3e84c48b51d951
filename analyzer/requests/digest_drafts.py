"""A call as its line told it, not looked into yet: of the calls that are kept for a while most are let go unread."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.requests.digest_block import ABSENT, Line

if TYPE_CHECKING:
    from analyzer.requests.digest_call_reader import Source

__all__ = ["Draft", "draft_of", "line_of"]

_WANTED = (
    "key",
    "values",
    "limit",
    "sample_rate",
    "count",
    "scanned",
    "more",
    "resumed",
    "unprocessed",
    "item_bytes",
    "returned_bytes",
    "latency_ms",
    "attempts",
    "error",
    "index_keys",
    "token_sent",
    "ttl_seen",
    "strata",
)
"""Fields of a line that a call needs and nothing else tells; of one with members, items or failed tries also these."""

_ELSEWHERE = ("parts", "returned", "tries", "handed_back")
_MOST_BYTES = 4096
"""A longer one is read at once: a call that was read has a bound of its own."""

_FIELDS = {field.name: field for field in msgspec.structs.fields(Line)}
_Told: Any = msgspec.defstruct(
    "_Told",
    [(name, _FIELDS[name].type, _FIELDS[name].default) for name in (*_WANTED, *_ELSEWHERE)],
    omit_defaults=True,
    gc=False,
)
"""What a call needs of its line."""

_GET_WANTED = attrgetter(*_WANTED)
_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(_Told).decode


class Draft(Struct, frozen=True, array_like=True, gc=False):
    """What a call needs of its line, as JSON, and what was found of it already: opaque trace, key and half-units.

    `policy` is the `keys` policy of the record; `part` is None where there is no key.
    """

    line: bytes
    trace: str | None
    policy: str | None
    part: bytes | None
    sort: bytes
    read: int
    write: int


def draft_of(source: Source) -> Draft | None:
    """Keep a call for later; None for one that has to be read at once: it has members, items, failed tries, or is long.

    Those decide how much memory a call takes.
    """
    line = source.line
    if source.is_parted or line.parts is not ABSENT or line.returned is not ABSENT or line.tries is not ABSENT:
        return None
    told = _ENCODE(_Told(*_GET_WANTED(line)))
    if len(told) > _MOST_BYTES:
        return None
    return Draft(told, source.trace, source.policy, source.part, source.sort, source.read, source.write)


def line_of(draft: Draft) -> Any:  # noqa: ANN401 -- a line, of which only these fields are there
    """Return what a call needs of its line."""
    return _DECODE(draft.line)
