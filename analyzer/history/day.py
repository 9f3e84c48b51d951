"""What a day has one file of: shapes, findings, tables and pairs, as they are known so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import json

from analyzer.history.columns import Kind
from analyzer.history.daily import finding_rows, table_rows
from analyzer.history.minutes import shape_rows
from analyzer.history.names import DAY_MS
from analyzer.history.together import Together, pair_rows, together_in, together_of
from analyzer.model.finding import Finding
from analyzer.model.shape import Shape
from analyzer.model.table import TableSnapshot
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa

    from analyzer.model.calls import CallBook
    from analyzer.model.instant import Instant

__all__ = ["Day"]

T = TypeVar("T")

_DAILY_MS = 600_000
"""How often what a day has one file of is written anew."""
_TOGETHER_MS = 900_000
"""How often traces are looked at: calls are kept for twice as long."""


class Day:
    """One day, so far; `looked` is when traces were looked at last, where that was before it began."""

    def __init__(self, number: int, looked: Instant | None = None) -> None:
        self.number = number
        self.unread = {Kind.SHAPES, Kind.FINDINGS, Kind.TABLES, Kind.PAIRS}
        """Kinds of which it is not known what the file of the day holds: it must not be replaced."""
        self.looked = looked
        self._shapes: dict[str, Shape] = {}
        self._findings: dict[str, Finding] = {}
        self._snapshots: dict[object, TableSnapshot] = {}
        self._together = Together()
        self._noted: Instant | None = None
        self._book: Callable[[], CallBook] | None = None
        self._changed: set[Kind] = set()

    @property
    def start(self) -> Instant:
        """When the day began."""
        return self.number * DAY_MS

    @property
    def dropped(self) -> int:
        """How many pairs and entities made room for more frequent ones."""
        return self._together.dropped

    @property
    def owes(self) -> bool:
        """Whether any of its files is to be written."""
        return bool(self._changed)

    def resume(self, kind: Kind, rows: pa.Table | None) -> None:
        """Take in what the file of the day holds, None where there is none."""
        if rows is not None:
            self._take_in(kind, rows)
        self.unread.discard(kind)

    def _take_in(self, kind: Kind, rows: pa.Table) -> None:
        columns = rows.to_pydict()
        if kind is Kind.SHAPES:
            self._shapes = {one.fingerprint: one for one in _read(columns["shape"], Shape)} | self._shapes
        elif kind is Kind.FINDINGS:
            self._findings = {one.id: one for one in _read(columns["finding"], Finding)} | self._findings
        elif kind is Kind.TABLES:
            self._snapshots = {one.target: one for one in _read(columns["snapshot"], TableSnapshot)} | self._snapshots
        else:
            self._together.add(together_of(rows))

    def note(
        self, at: Instant, findings: Iterable[Finding], snapshots: Iterable[TableSnapshot], book: Callable[[], CallBook]
    ) -> None:
        """Take in what is known now; every ten minutes what changed becomes due."""
        self._book = book
        for finding in findings:
            self._findings[finding.id] = finding
        for snapshot in snapshots:
            self._snapshots[snapshot.target] = snapshot
        if self._noted is None or at - self._noted >= _DAILY_MS:
            self._noted = at
            self._owe_what_is_known()
        if self.looked is None:
            self.looked = at
        elif at - self.looked >= _TOGETHER_MS:
            self._look_at_traces(at)

    def finish(self, at: Instant) -> None:
        """Let everything become due that came until now: nothing more is noted, or not for a while."""
        self._owe_what_is_known()
        self._look_at_traces(min(at, self.start + DAY_MS))

    def _owe_what_is_known(self) -> None:
        self._changed |= {Kind.FINDINGS} if self._findings else set()
        self._changed |= {Kind.TABLES} if self._snapshots else set()

    def _look_at_traces(self, at: Instant) -> None:
        if self._book is not None and self.looked is not None and at > self.looked:
            self._together.add(together_in(self._book(), Window(self.looked, at)))
            self.looked = at
            self._changed |= {Kind.PAIRS} if self._together.pairs else set()

    def note_shapes(self, shapes: Iterable[Shape]) -> None:
        """Take in what fingerprints stand for; a new one makes the file due."""
        found = {shape.fingerprint: shape for shape in shapes if shape.fingerprint not in self._shapes}
        if found:
            self._shapes |= found
            self._changed.add(Kind.SHAPES)

    def owe(self, kind: Kind) -> None:
        """Take note that a file is to be written, since it could not be."""
        self._changed.add(kind)

    def due(self) -> list[Kind]:
        """Return the kinds whose files are to be written now."""
        return sorted(self._changed)

    def take(self, kind: Kind) -> pa.Table:
        """Return what the file of the day is to hold; what comes from now on makes it due again."""
        self._changed.discard(kind)
        if kind is Kind.SHAPES:
            return shape_rows(self.start, self._shapes.values())
        if kind is Kind.FINDINGS:
            return finding_rows(self.start, self._findings.values())
        if kind is Kind.TABLES:
            return table_rows(self.start, self._snapshots.values())
        return pair_rows(self.start, self._together)


def _read(texts: Iterable[str], kind: type[T]) -> list[T]:
    return [json.decode(text, type=kind) for text in texts]
