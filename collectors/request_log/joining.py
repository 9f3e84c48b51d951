"""The same request seen by several logs is one request.

Records wait a while. A request id found in two logs is one call: the record of the primary log is counted, and gets
what only the other knows. What is left of the other log is not counted where the primary one saw the same table in the
same minute: it is the same traffic, seen twice. So of each table and minute exactly one log is counted, and its
estimate of the requests stays what it was.

Pure: the time comes in.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from analyzer.model.batch import Block, Position
from analyzer.model.instant import MINUTE_MS, Instant, parse_instant
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.request_log.filling import filled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["CLAIMS", "Joined", "Joiner"]

CLAIMS = "join://primary"
"""The name of the position that holds which log is primary where."""

_ALIKE = 0.8
"""A log with so much of the requests of another counts as whole as it; the one named first is then primary."""
_SEPARATOR = "\t"


class Joined(Struct):
    """What became of records since the process began.

    `joined` were one with a record of the primary log, `set_aside` belong to tables and minutes of which another log is
    primary; `alone` are those of logs that never had a request in common with another, by log, the last of them at
    `alone_at`. `early` blocks were let go before their time because too much waited, the last of them at `early_at`.
    """

    joined: int = 0
    set_aside: int = 0
    early: int = 0
    early_at: Instant = 0
    alone: dict[str, int] = msgspec.field(default_factory=dict)
    alone_at: Instant = 0


class _Slim(Struct, gc=False):
    """What of a line tells which request it is."""

    time: str = ""
    op: str = ""
    table: str | None = None
    account: str | None = None
    region: str | None = None
    request_id: str | None = None
    sample_rate: float = 1.0
    counter: str | None = None


class _Place(NamedTuple):
    """Where a table lies, as far as it is known."""

    account: str
    region: str

    def may_be(self, other: _Place) -> bool:
        return all(one == another or not one or not another for one, another in zip(self, other, strict=True))


class _Row(Struct, gc=False, eq=False):
    """One line that waits; without a minute it is none that could be joined."""

    line: bytes
    source: str = ""
    request_id: str | None = None
    op: str = ""
    table: str = ""
    place: _Place = _Place("", "")
    minute: int = -1
    is_joined: bool = False


class _Held(Struct):
    block: Block
    arrived: Instant
    rows: list[_Row]
    length: int


class Joiner:
    """Holds the blocks of several logs for `wait_ms`; `sources` are their names, in the order of preference.

    At most `most_bytes` wait. Of at most `most_claims` tables and minutes it is remembered which log is primary; a
    restart goes on with what `restored` holds.
    """

    def __init__(
        self,
        sources: Sequence[str],
        wait_ms: int,
        restored: Position | None = None,
        *,
        most_bytes: int = 64 * 1024 * 1024,
        most_claims: int = 20_000,
    ) -> None:
        self.counts = Joined()
        self._sources = tuple(sources)
        self._wait_ms = wait_ms
        self._most_bytes = most_bytes
        self._most_claims = most_claims
        self._held: deque[_Held] = deque()
        self._bytes = 0
        self._by_id: dict[str, list[_Row]] = {}
        self._weights: dict[tuple[str, int], dict[tuple[_Place, str], float]] = {}
        self._claims: dict[tuple[str, int], list[tuple[_Place, str]]] = {}
        self._joining: set[str] = set()
        self._is_told = True
        self._decoder = msgspec.json.Decoder(_Slim)
        for one in () if restored is None else restored.seen:
            source, minute, table, account, region = one.split(_SEPARATOR)
            if source in self._sources:
                self._claims.setdefault((table, int(minute)), []).append((_Place(account, region), source))

    def gaps(self) -> tuple[Gap, ...]:
        """Say where records could not wait as long as they should, and what was set aside that may be other traffic."""
        found = []
        if self.counts.early:
            detail = f"{self.counts.early:,} blocks of the request logs were counted before others could join them"
            hint = "name fewer logs of the same requests, or a shorter request_log.join"
            found.append(self._gap(detail, hint, self.counts.early_at))
        for source, many in self.counts.alone.items():
            detail = f"{many:,} records of {source} are not counted: another log tells of their tables in these minutes"
            hint = "where it is the log of other requests, count all logs as they are: request_log.join: 0s"
            found.append(self._gap(f"{detail}, and no request was in both", hint, self.counts.alone_at))
        return tuple(found)

    def _gap(self, detail: str, hint: str, at: Instant) -> Gap:
        start, end = max(0, at + 1 - self._wait_ms), at + 1
        return Gap(SourceName.REQUEST_LOG, GapReason.LOW_COVERAGE, detail, hint, start=start, end=end)

    @property
    def held_bytes(self) -> int:
        """How much waits."""
        return self._bytes

    def position(self) -> Position:
        """Return which log is primary where, for the checkpoint."""
        claims = (
            _SEPARATOR.join((source, str(minute), table, *place))
            for (table, minute), found in self._claims.items()
            for place, source in found
        )
        return Position(CLAIMS, 0, 0, seen=tuple(claims))

    def add(self, source: str, block: Block, now: Instant) -> None:
        """Let a block wait."""
        rows = [self._row(source, line) for line in block.lines.splitlines(keepends=True)]
        without = Block(b"", block.position, block.overlong, block.bad)
        self._held.append(_Held(without, now, rows, len(block.lines)))
        self._bytes += len(block.lines)

    def next_due(self) -> Instant | None:
        """Return when the next block is to be let go, None where none waits."""
        if not self._held:
            return None
        return 0 if self._bytes > self._most_bytes else self._held[0].arrived + self._wait_ms

    def release(self, now: Instant, *, everything: bool = False) -> Iterator[Block]:
        """Yield the blocks whose time has come, in the order in which they came.

        Which log is primary is told before the records that rest on it: killed between the two, it stays so.
        """
        while self._held:
            is_due = not 0 <= now - self._held[0].arrived < self._wait_ms
            if not is_due and not everything:
                if self._bytes <= self._most_bytes:
                    return
                self.counts.early += 1
                self.counts.early_at = now
            held = self._held.popleft()
            self._bytes -= held.length
            lines = b"".join(filter(None, [self._released(row, now) for row in held.rows]))
            if not self._is_told:
                self._is_told = True
                self._forget()
                yield Block(b"", self.position())
            yield Block(lines, held.block.position, held.block.overlong, held.block.bad)

    def _row(self, source: str, line: bytes) -> _Row:
        try:
            slim = self._decoder.decode(line)
            minute = parse_instant(slim.time) // MINUTE_MS
        except (ValueError, RecursionError, OverflowError):
            return _Row(line)
        if slim.counter is not None or not slim.op or not 0 < slim.sample_rate <= 1:
            return _Row(line)
        table, place = _named(slim)
        row = _Row(line, source, slim.request_id, slim.op, table, place, minute)
        if slim.request_id:
            self._by_id.setdefault(slim.request_id, []).append(row)
        weights = self._weights.setdefault((table, minute), {})
        weights[place, source] = weights.get((place, source), 0.0) + 1 / slim.sample_rate
        return row

    def _released(self, row: _Row, now: Instant) -> bytes | None:
        """Return a line as it is to be counted, None where it is not."""
        if row.minute < 0:
            return row.line
        twins = self._let_go(row)
        if twins:
            self._joining |= {row.source, *(twin.source for twin in twins)}
            self.counts.alone = {name: many for name, many in self.counts.alone.items() if name not in self._joining}
        if row.is_joined:
            self.counts.joined += 1
            return None
        named = next((twin for twin in twins if twin.table), None)
        if not row.table and named is not None:  # spans of transactions name no table
            row.table, row.place = named.table, named.place
        primary = self._primary(row)
        if primary == row.source:
            for twin in twins:
                row.line = filled(row.line, twin.line)
                twin.is_joined = True
            return row.line
        for twin in twins:
            if twin.source == primary:
                twin.line = filled(twin.line, row.line)
                row.is_joined = True
        if row.is_joined:
            self.counts.joined += 1
        else:
            self._set_aside(row, now)
        return None

    def _set_aside(self, row: _Row, now: Instant) -> None:
        self.counts.set_aside += 1
        if row.source not in self._joining:
            self.counts.alone[row.source] = self.counts.alone.get(row.source, 0) + 1
            self.counts.alone_at = now

    def _let_go(self, row: _Row) -> list[_Row]:
        """Forget a row that waits no more, and return what other logs hold of its request."""
        rows = self._by_id.get(row.request_id or "")
        if rows is None:
            return []
        rows.remove(row)
        if not rows:
            del self._by_id[row.request_id or ""]
        return [
            one
            for one in rows
            if one.source != row.source
            and one.op == row.op
            and (one.table == row.table or not one.table or not row.table)
        ]

    def _primary(self, row: _Row) -> str:
        """Return which log is counted of a table and minute; what was said once stands."""
        claims = self._claims.setdefault((row.table, row.minute), [])
        for place, source in claims:
            if place.may_be(row.place):
                return source
        weights: dict[str, float] = {}
        for (place, source), weight in self._weights.get((row.table, row.minute), {}).items():
            if place.may_be(row.place):
                weights[source] = weights.get(source, 0.0) + weight
        enough = max(weights.values(), default=0.0) * _ALIKE
        weights.setdefault(row.source, 0.0)
        primary = next(source for source in self._sources if weights.get(source, -1.0) >= enough)
        claims.append((row.place, primary))
        self._is_told = False
        return primary

    def _forget(self) -> None:
        """Forget the oldest minutes beyond the bound."""
        for kept in (self._claims, self._weights):
            surplus = len(kept) - self._most_claims
            if surplus > 0:
                for key in sorted(kept, key=lambda key: key[1])[:surplus]:
                    del kept[key]


def _named(slim: _Slim) -> tuple[str, _Place]:
    """Return the name of a table and where it lies; an ARN says both."""
    table = slim.table or ""
    account, region = slim.account or "", slim.region or ""
    if table.startswith("arn:"):
        head, _, rest = table.partition(":table/")
        parts = head.split(":")
        table = rest.partition("/")[0]
        region, account = ([*parts[3:5], "", ""])[:2]
    return table, _Place(account, region)
