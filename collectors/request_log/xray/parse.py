"""What GetTraceSummaries and BatchGetTraces answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from analyzer.model.instant import Instant

__all__ = ["MOST_IDS", "Summaries", "Traces", "batches", "began_at", "summaries_of", "traces_of"]

MOST_IDS = 5
"""Ids of one BatchGetTraces (X-Ray API Reference, BatchGetTraces, read 2026-11-30)."""

_HINT = "something between here and AWS answered in its place, or the answer broke off: it is asked again"
_ID = re.compile(r"1-([0-9a-f]{8})-[0-9a-f]{24}")


class Summaries(Struct, frozen=True):
    """The ids of one page of summaries."""

    ids: tuple[str, ...]
    token: str | None


class Traces(Struct, frozen=True):
    """One answer: whole traces as JSON, one a line, the ids they have, and those that X-Ray did not get to.

    `cut` traces were too large for X-Ray, and lack segments.
    """

    lines: bytes
    ids: frozenset[str]
    unprocessed: tuple[str, ...]
    token: str | None
    cut: int = 0


def began_at(trace_id: str) -> Instant | None:
    """Return when a trace began: its id says so, to the second; None for what is no id of X-Ray's."""
    match = _ID.fullmatch(trace_id)
    return None if match is None else int(match[1], 16) * 1000


def summaries_of(answer: Mapping[str, Any]) -> Summaries:
    """Read one page; raises MalformedError. A summary without an id of X-Ray's is none."""
    found = answer.get("TraceSummaries")
    if not isinstance(found, list):
        raise MalformedError("GetTraceSummaries: the answer has no TraceSummaries", hint=_HINT)
    ids = (str(one.get("Id")) for one in found if isinstance(one, dict))
    return Summaries(tuple(one for one in ids if began_at(one) is not None), answer.get("NextToken") or None)


def traces_of(answer: Mapping[str, Any], known: Collection[str] = ()) -> Traces:
    """Read one answer, but for the traces that are known from a page before it; raises MalformedError."""
    found = answer.get("Traces")
    if not isinstance(found, list):
        raise MalformedError("BatchGetTraces: the answer has no Traces", hint=_HINT)
    whole = (one for one in found if isinstance(one, dict) and isinstance(one.get("Segments"), list))
    traces = [one for one in whole if str(one.get("Id")) not in known]
    lines = b"".join(msgspec.json.encode({"Id": one.get("Id"), "Segments": one["Segments"]}) + b"\n" for one in traces)
    unprocessed = answer.get("UnprocessedTraceIds")
    return Traces(
        lines,
        frozenset(str(one.get("Id")) for one in traces),
        tuple(map(str, unprocessed)) if isinstance(unprocessed, list) else (),
        answer.get("NextToken") or None,
        sum(one.get("LimitExceeded") is True for one in traces),
    )


def batches(ids: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return ids as few at once as X-Ray takes."""
    return tuple(tuple(ids[at : at + MOST_IDS]) for at in range(0, len(ids), MOST_IDS))
