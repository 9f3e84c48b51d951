"""Lines of a request log become slim typed records; one bad line never stops a stream."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct

__all__ = ["ABSENT", "LONGEST_LINE", "Line", "ReadCounters", "fault_of", "read_lines"]

LONGEST_LINE = 1024 * 1024
"""Bytes of the longest line that is looked at; DynamoDB's largest request, with its keys alone, stays far below."""

ABSENT = Raw()
"""What stands for a nested field that the line has not; compared by identity."""

_SAMPLES = 8
_OPERATION = re.compile(r"[A-Za-z]{1,64}")
_TABLE = re.compile(r"[A-Za-z0-9_.\-]{1,255}|arn:[A-Za-z0-9_.:/\-]{1,1020}")
_Whole = Annotated[int, Meta(ge=0, le=2**40)]
# no SDK tries a thousand times; a wrong number there would look like a storm of retries
_Attempts = Annotated[int, Meta(ge=0, le=1000)]
_Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]
_Rate = Annotated[float, Meta(ge=1e-6, le=1)]


class Line(Struct, gc=False):
    """One line, a request or a counter; what is rarely looked into stays undecoded.

    Numbers that the line has not are -1, nested fields ABSENT, so that columns hold one type. A counter line has no
    `op`. The order matters for speed alone: a field is looked for from the one before on, so it is that of lines; but
    what fixes the route lies together (`op` to `names`), and so does what every line is asked for (to `request_id`).
    """

    v: Literal[1]
    time: str = ""
    op: str = ""
    table: str | None = None
    index: str | None = None
    region: str | None = None
    account: str | None = None
    keys: str | None = None
    salt_id: str | None = None
    key_condition: str | None = None
    filter: str | None = None
    projection: str | None = None
    update: str | None = None
    condition: str | None = None
    statement: str | None = None
    consistent: bool | None = None
    forward: bool | None = None
    limit: _Whole | None = None
    select: str | None = None
    total_segments: _Whole | None = None
    caller: str | None = None
    pattern: str | None = None
    sample_rate: _Rate = 1.0
    names: Raw = ABSENT
    key: Raw = ABSENT
    index_keys: Raw = ABSENT
    consumed: Raw = ABSENT
    tries: Raw = ABSENT
    error: Raw = ABSENT
    latency_ms: _Milliseconds = -1.0
    attempts: _Attempts = -1
    scanned: _Whole = -1
    count: _Whole = -1
    returned_bytes: _Whole = -1
    more: bool = False
    resumed: bool = False
    unprocessed: _Whole = 0
    item_bytes: _Whole = -1
    ttl_seen: Raw = ABSENT
    trace_id: str | None = None
    request_id: str | None = None
    values: Raw = ABSENT
    parts: Raw = ABSENT
    handed_back: Raw = ABSENT
    returned: Raw = ABSENT
    strata: Raw = ABSENT
    token_sent: bool | None = None
    counter: str | None = None


class ReadCounters(Struct):
    """What became of the lines; `samples` tell why lines were bad and hold nothing of them.

    `read` are requests that were counted, late ones included: lines = read + bad + future + duplicate + counter lines.
    `bad` includes `overlong`. `dropped` and `unsampled` are calls that the samplers say they left out. `squeezed` are
    requests counted under the unparsed shape of their table because a bound was reached. `ahead_seconds` is how far the
    furthest of `future` was beyond what is allowed.
    """

    read: int = 0
    bad: int = 0
    late: int = 0
    future: int = 0
    duplicate: int = 0
    dropped: int = 0
    unsampled: int = 0
    overlong: int = 0
    squeezed: int = 0
    samples: tuple[str, ...] = ()
    ahead_seconds: int = 0

    def count_future(self, lines: int, ahead_seconds: int) -> None:
        """Count lines ahead of what the clock allows, the furthest by so much beyond it."""
        self.future += lines
        self.ahead_seconds = max(self.ahead_seconds, ahead_seconds)

    def count_bad(self, reason: str, lines: int = 1) -> None:
        """Count bad lines of one reason."""
        self.bad += lines
        if len(self.samples) < _SAMPLES and reason not in self.samples:
            self.samples = (*self.samples, reason)

    def count_overlong(self, lines: int = 1) -> None:
        """Count lines beyond the bound, which are bad ones too."""
        self.overlong += lines
        self.count_bad("line is too long", lines)

    def add(self, other: ReadCounters) -> None:
        """Take in the counts of another part of the log."""
        for name in ("read", "bad", "late", "future", "duplicate", "dropped", "unsampled", "overlong", "squeezed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.ahead_seconds = max(self.ahead_seconds, other.ahead_seconds)
        self.samples = tuple(dict.fromkeys((*self.samples, *other.samples)))[:_SAMPLES]


def fault_of(line: Line) -> str | None:
    """Say what keeps a line from being a request, whatever its time; None where nothing does.

    Names that AWS could not have given are no names: what a log writes there by mistake may be a key.
    """
    if not line.op:
        return "object missing required field `op`"
    if not _OPERATION.fullmatch(line.op):
        return "op is no name of an operation"
    if line.table is not None and not _TABLE.fullmatch(line.table):
        return "table is no name of a table"
    if line.index is not None and not _TABLE.fullmatch(line.index):
        return "index is no name of an index"
    return None


_LINES = msgspec.json.Decoder(Line)
_ANY = msgspec.json.Decoder()


def read_lines(block: bytes, counters: ReadCounters) -> list[Line]:
    """Decode a block of whole lines; what cannot be read is counted."""
    if len(block) <= LONGEST_LINE:
        try:
            return _LINES.decode_lines(block)
        except (ValueError, RecursionError):
            pass
    lines = []
    for text in block.split(b"\n"):
        if not text or text.isspace():
            continue
        line = _read_line(text, counters)
        if line is not None:
            lines.append(line)
    return lines


def _read_line(text: bytes, counters: ReadCounters) -> Line | None:
    if len(text) > LONGEST_LINE:
        counters.count_overlong()
        return None
    try:
        return _LINES.decode(text)
    except (ValueError, RecursionError) as error:
        return _read_nulls(text, error, counters)


def _read_nulls(text: bytes, error: Exception, counters: ReadCounters) -> Line | None:
    """Read a line that writes null for a field that is not known."""
    try:
        fields: Any = _ANY.decode(text)
        if isinstance(fields, dict) and None in fields.values():
            known = {name: value for name, value in fields.items() if value is not None}
            return _LINES.decode(msgspec.json.encode(known))
    except (ValueError, RecursionError) as second:
        error = second
    counters.count_bad(str(error) if isinstance(error, msgspec.ValidationError) else "not one JSON object in UTF-8")
    return None
