"""A stretch of history as pandas has it: hours of requests and of keys, and what stands beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np
import pandas as pd
from msgspec import Struct

from analyzer.history.columns import Kind
from analyzer.history.merging import latency_matrix
from analyzer.model.finding import Finding
from analyzer.model.shape import Shape
from analyzer.model.table import TableSnapshot
from analyzer.model.window import Window
from analyzer.reports.weeks import week_name

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.history.dataset import Dataset

__all__ = ["Frame", "Frames", "frame_of", "load_frame", "load_weeks", "weeks_held"]

T = TypeVar("T")

_WEEK_MS = 7 * 86_400_000


class Frame(Struct, frozen=True, kw_only=True):
    """What is known of one stretch, mostly a week.

    `hours` has the columns of `Kind.HOURS` but for `latency_ms`, which is `latency`: calls by bucket
    (`columns.LATENCY_KEYS`), a row each, in the same order; `start` is in milliseconds. `keys` has those of
    `Kind.KEY_HOURS`, `pairs` those of `Kind.PAIRS`. `covered` are the stretches that anybody looked at.
    `tables` are the newest descriptions, `findings` the newest state of each finding of the stretch. `is_by_day`: a row
    of `hours` and of `keys` is a day.
    """

    window: Window
    hours: pd.DataFrame
    latency: np.ndarray
    covered: tuple[Window, ...]
    keys: pd.DataFrame
    pairs: pd.DataFrame
    shapes: dict[str, Shape] = {}
    tables: tuple[TableSnapshot, ...] = ()
    findings: tuple[Finding, ...] = ()
    torn: int = 0
    is_by_day: bool = False

    @property
    def covered_seconds(self) -> float:
        """How long was looked at."""
        return sum(window.seconds for window in self.covered)


Frames = tuple[Frame, ...]
"""Stretches, the oldest first."""


def frame_of(
    window: Window,
    rows: dict[Kind, pa.Table],
    covered: tuple[Window, ...],
    torn: int = 0,
    *,
    is_by_day: bool = False,
) -> Frame:
    """Make a frame of what was read; a kind that is not there is empty."""
    hours = rows[Kind.HOURS]
    shapes = rows.get(Kind.SHAPES)
    tables = rows.get(Kind.TABLES)
    findings = rows.get(Kind.FINDINGS)
    return Frame(
        window=window,
        hours=_pandas(hours.drop_columns(["latency_ms"])),
        latency=latency_matrix(hours),
        covered=covered,
        keys=_pandas(rows.get(Kind.KEY_HOURS)),
        pairs=_pandas(rows.get(Kind.PAIRS)),
        shapes={} if shapes is None else _newest(shapes, "fingerprint", "shape", Shape),
        tables=() if tables is None else tuple(_newest_tables(tables).values()),
        findings=() if findings is None else tuple(_newest(findings, "id", "finding", Finding).values()),
        torn=torn,
        is_by_day=is_by_day,
    )


async def load_frame(dataset: Dataset, window: Window, *, by_day: bool = False) -> Frame:
    """Read a stretch, its rows of hours by the day where that is enough; raises NewerHistoryError or HistoryError."""
    rows: dict[Kind, pa.Table] = {}
    covered: tuple[Window, ...] = ()
    torn = 0
    for kind in (Kind.HOURS, Kind.KEY_HOURS, Kind.SHAPES, Kind.TABLES, Kind.FINDINGS, Kind.PAIRS):
        reading = await dataset.read_range(kind, window, by_day=by_day)
        rows[kind] = reading.rows
        torn += len(reading.torn)
        if kind is Kind.HOURS:
            covered = reading.covered
    return frame_of(window, rows, covered, torn, is_by_day=by_day)


async def load_weeks(dataset: Dataset, week: Window, past: int = 8) -> tuple[Frame, Frames]:
    """Read a week by the hour and, by the day, those before it of which anything is there, the oldest first."""
    before = [Window(week.start - n * _WEEK_MS, week.end - n * _WEEK_MS) for n in range(past, 0, -1)]
    frames = [await load_frame(dataset, window, by_day=True) for window in before]
    return await load_frame(dataset, week), tuple(frame for frame in frames if frame.covered)


async def weeks_held(dataset: Dataset) -> tuple[str, ...]:
    """Return the names of the weeks that anything of traffic is kept of, the oldest first; raises HistoryError."""
    names = [name for kind in (Kind.HOURS, Kind.REQUESTS) for name in await dataset.everything(kind)]
    return tuple(sorted({week_name(name.window) for name in names}))


def _pandas(rows: pa.Table | None) -> pd.DataFrame:
    """Return rows as pandas has them, `start` in milliseconds; text that is not known is NaN."""
    if rows is None:
        return pd.DataFrame()
    timed = rows.set_column(0, "start", rows["start"].cast("int64"))
    frame: pd.DataFrame = timed.to_pandas(strings_to_categorical=True)
    return frame


def _newest(rows: pa.Table, name: str, column: str, kind: type[T]) -> dict[str, T]:
    ordered = rows.sort_by("start").select([name, column]).to_pydict()
    newest = dict(zip(ordered[name], ordered[column], strict=True))
    return {identity: msgspec.json.decode(text, type=kind) for identity, text in newest.items()}


def _newest_tables(rows: pa.Table) -> dict[tuple[str | None, ...], TableSnapshot]:
    ordered = rows.sort_by("start").to_pydict()
    places = zip(ordered["account"], ordered["region"], ordered["table_name"], strict=True)
    newest = dict(zip(places, ordered["snapshot"], strict=True))
    return {place: msgspec.json.decode(text, type=TableSnapshot) for place, text in newest.items()}
