"""Files of history: rows to bytes and back, with the version of the schema and what each file covers.

The version stands in the file's own metadata. A newer one is refused, an older one brought to the present; what cannot
be read at all is torn, which costs its rows and nothing else.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from analyzer.errors import DynascopeError
from analyzer.history.columns import SCHEMAS, Kind
from analyzer.model.instant import MINUTE_MS, Instant
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = [
    "SCHEMA_VERSION",
    "HistoryError",
    "Label",
    "NewerHistoryError",
    "TornError",
    "decode",
    "encode",
    "label_of",
    "stretches",
]

SCHEMA_VERSION = 1
"""Version of the files; an older one is read, a newer one is refused."""

_VERSION, _LABEL = b"dynascope.history", b"dynascope.label"
_ZSTD_LEVEL = 6
"""Levels beyond it save less than a hundredth and take twice the time."""


class HistoryError(DynascopeError):
    """History could not be read or written."""


class NewerHistoryError(HistoryError):
    """A file was written by a newer version."""


class TornError(HistoryError):
    """A file cannot be read: it is half there, or something else."""


_UNREADABLE = (pa.ArrowException, OSError, KeyError, ValueError, TypeError)
"""What reading a file may fail with that is half there, or something else."""


class Label(Struct, frozen=True):
    """What a file says of itself: the starts of the minutes that it covers, rows in them or not.

    `replaces` names files whose rows are in this one: where they are still there, they do not count.
    """

    daemon: str = ""
    minutes: tuple[Instant, ...] = ()
    replaces: tuple[str, ...] = ()


def stretches(minutes: Iterable[Instant]) -> tuple[Window, ...]:
    """Return the stretches that minutes make together."""
    found: list[Window] = []
    for start in sorted(set(minutes)):
        if found and found[-1].end == start:
            found[-1] = Window(found[-1].start, start + MINUTE_MS)
        else:
            found.append(Window(start, start + MINUTE_MS))
    return tuple(found)


def encode(kind: Kind, rows: pa.Table, label: Label) -> bytes:
    """Return the file of some rows."""
    told = {
        _VERSION: b"%d" % SCHEMA_VERSION,
        _LABEL: json.dumps(
            {
                "daemon": label.daemon,
                "covers": [[window.start, window.end] for window in stretches(label.minutes)],
                "replaces": label.replaces,
            },
            separators=(",", ":"),
        ).encode(),
    }
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows.select(SCHEMAS[kind].names).cast(SCHEMAS[kind]).replace_schema_metadata(told),
        sink,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        write_page_checksum=True,  # a bit that flips on a disk would be a wrong number else
    )
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decode(kind: Kind, content: bytes, name: str, columns: Sequence[str] | None = None) -> tuple[pa.Table, Label]:
    """Return the rows of a file, or some columns of them, and its label; raises NewerHistoryError or TornError."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        version, label = _told(file, name)
        is_told = columns is not None and version == SCHEMA_VERSION  # an older one is brought to the present whole
        rows = file.read([name for name in columns or () if name in file.schema_arrow.names] if is_told else None)
        rows.validate(full=True)
    except _UNREADABLE as error:
        raise TornError(f"{name} is no file of history: {type(error).__name__}") from None
    return _present(kind, rows, version, name, SCHEMAS[kind].names if columns is None else columns), label


def label_of(content: bytes, name: str) -> Label:
    """Return what a file says of itself; raises NewerHistoryError or TornError."""
    try:
        _, label = _told(pq.ParquetFile(pa.BufferReader(content)), name)
    except _UNREADABLE as error:
        raise TornError(f"{name} is no file of history: {type(error).__name__}") from None
    return label


def _told(file: pq.ParquetFile, name: str) -> tuple[int, Label]:
    """Return the version of a file, and its label; raises NewerHistoryError, or one of what cannot be read."""
    told = file.metadata.metadata or {}
    version = int(told[_VERSION])
    if version > SCHEMA_VERSION:  # before anything else of it is read: all of that may be of another form
        raise NewerHistoryError(
            f"{name} has schema {version}, this version reads up to {SCHEMA_VERSION}: run the newer version, "
            "or leave its files out"
        )
    plain = json.loads(told[_LABEL])
    minutes = tuple(start for first, end in plain["covers"] for start in range(first, end, MINUTE_MS))
    return version, Label(str(plain["daemon"]), minutes, tuple(plain["replaces"]))


_STEPS: Mapping[int, Callable[[pa.Table], pa.Table]] = {}
"""What brings rows of a version to the next one, where a column did more than appear."""


def _present(kind: Kind, rows: pa.Table, version: int, name: str, wanted: Sequence[str]) -> pa.Table:
    """Bring rows to the present schema: columns that are new are null, those that are gone are left out."""
    lacking = [each for each in wanted if each not in rows.column_names]
    if version == SCHEMA_VERSION and lacking:  # to take it for nothing would make numbers up
        raise TornError(f"{name} lacks {', '.join(lacking[:3])}, which every file of its version has")
    for number in range(version, SCHEMA_VERSION):
        rows = _STEPS.get(number, _as_it_is)(rows)
    schema = pa.schema([SCHEMAS[kind].field(name) for name in wanted])
    columns = [
        rows[field.name] if field.name in rows.column_names else pa.nulls(len(rows), field.type) for field in schema
    ]
    try:
        present = pa.table(columns, names=schema.names).cast(schema)
    except pa.ArrowException as error:
        raise TornError(f"{name} is no file of {kind.value}: {type(error).__name__}") from None
    wild = [field.name for field in schema if pa.types.is_floating(field.type) and _is_wild(present[field.name])]
    if wild:
        raise TornError(f"{name} holds numbers that are none in {', '.join(wild[:3])}")
    return present


def _is_wild(column: pa.ChunkedArray) -> bool:
    """Whether a number is not finite, or less than nothing: no count or measure of history is."""
    known = column.drop_null()
    return bool(len(known)) and not (pc.all(pc.is_finite(known)).as_py() and pc.min(known).as_py() >= 0)


def _as_it_is(rows: pa.Table) -> pa.Table:
    return rows
