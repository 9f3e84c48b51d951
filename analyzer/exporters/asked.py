"""What a client asks of a map: read from the query of a request, with every fault told in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from analyzer.model.finding import Direction
from analyzer.model.instant import SLICE_MS, Instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LONGEST_MS", "MapQuestion", "read_question", "stretch_of"]

T = TypeVar("T")

LONGEST_MS = 3_600_000
"""The daemon keeps an hour of slices."""

_STEPS = {"10s": SLICE_MS, "1s": 1000}
_MOST_COLUMNS = 600
"""Ten minutes at a second: rings of a second are kept for the hottest keys alone."""

_LONGEST_NAME = 255
_LATEST = 4_102_444_800_000
"""The year 2100: beyond, and before 1970, there is nothing to look at."""

_EXAMPLE = "2026-06-01T10:00:00Z"

_KNOWN = ("table", "index", "account", "region", "direction", "since", "until", "step", "mode")


class MapQuestion(Struct, frozen=True, kw_only=True):
    """Which map is wanted: None leaves it to what is known, the hottest place, the hotter direction, the last hour."""

    table: str | None = None
    index: str | None = None
    account: str | None = None
    region: str | None = None
    direction: Direction | None = None
    since: Instant | None = None
    until: Instant | None = None
    step_ms: int = SLICE_MS
    is_relative: bool = False

    @property
    def mode(self) -> str:
        """What the heat is a share of."""
        return "relative" if self.is_relative else "ceiling"


def read_question(query: Mapping[str, str]) -> MapQuestion:
    """Read the parameters of a query; raises ValueError with what is wrong, fit for whoever sent it."""
    unknown = sorted(set(query) - set(_KNOWN))
    if unknown:
        raise ValueError(f"no such parameter; known: {', '.join(_KNOWN)}")
    step = _one_of(query, "step", _STEPS, "10s")
    since, until = _time(query, "since"), _time(query, "until")
    if since is not None and until is not None and not 0 < until - since <= LONGEST_MS:
        raise ValueError("since comes before until, by an hour at most, all that is kept; leave one of them out")
    if query.get("index") and not query.get("table"):
        raise ValueError("an index needs its table: add table=NAME")
    direction = _one_of(query, "direction", {one.value: one for one in Direction} | {"": None}, "")
    return MapQuestion(
        table=_name(query, "table"),
        index=_name(query, "index"),
        account=_name(query, "account"),
        region=_name(query, "region"),
        direction=direction,
        since=since,
        until=until,
        step_ms=step,
        is_relative=_one_of(query, "mode", {"ceiling": False, "relative": True}, "ceiling"),
    )


def stretch_of(question: MapQuestion, end: Instant) -> tuple[Instant, Instant]:
    """Return start and end of a map in whole slices, `end` being the newest that is known."""
    longest = min(LONGEST_MS, _MOST_COLUMNS * question.step_ms)
    until = min(end, end if question.until is None else -(-question.until // SLICE_MS) * SLICE_MS)
    since = until - longest if question.since is None else question.since // SLICE_MS * SLICE_MS
    return max(since, until - longest), max(until, since + SLICE_MS)


def _name(query: Mapping[str, str], name: str) -> str | None:
    text = query.get(name) or None
    if text is not None and (len(text) > _LONGEST_NAME or not text.isprintable()):
        raise ValueError(f"{name} is a name of at most {_LONGEST_NAME} characters")
    return text


def _one_of(query: Mapping[str, str], name: str, known: Mapping[str, T], default: str) -> T:
    value = query.get(name, default)
    if value not in known:
        raise ValueError(f"{name} is one of: {', '.join(one for one in known if one)}")
    return known[value]


def _time(query: Mapping[str, str], name: str) -> Instant | None:
    if not query.get(name):
        return None
    try:
        told = parse_instant(query[name].replace(" ", "+"))
    except ValueError:
        told = -1
    if not 0 <= told <= _LATEST:
        raise ValueError(f"{name} is no time: write RFC 3339, such as {name}={_EXAMPLE}, or leave it out")
    return told
