"""Frames as arrays: the subjects of all weeks, and what each did by day and by hour."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analyzer.model.target import Target
from analyzer.reports.drift_values import Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.reports.frame import Frame

__all__ = ["DAYS", "DAY_MS", "HOUR_MS", "Series", "Told", "Week", "codes_of", "series_of"]

DAYS = 7
DAY_MS = 86_400_000
HOUR_MS = 3_600_000
_LEAST_COVERED = 0.5
"""Part of a day that must be covered before the day counts; what is lacking is then scaled up."""
_PLACE = ["account", "region", "table_name", "index_name"]
_ADDED = ["requests", "read_units", "write_units", "wasted_units", "scanned", "returned", "returned_bytes", "observed"]


class Week(NamedTuple):
    """One week, subjects in the rows.

    `days` are requests a day, scaled up to whole days, NaN where too little of a day was looked at. `hourly` holds a
    row a subject and hour that had requests, ordered by both: columns `subject`, `hour`, what adds up; `latency` is
    beside it. `begins` are the places where a subject's hours begin, one more at the end. `is_by_day`: they are days.
    """

    days: np.ndarray
    hourly: pd.DataFrame
    latency: np.ndarray
    begins: np.ndarray
    is_by_day: bool = False

    def part(self, subject: int) -> slice:
        """Return where the hours of a subject are."""
        return slice(int(self.begins[subject]), int(self.begins[subject + 1]))

    @property
    def totals(self) -> np.ndarray:
        """Requests of each subject in the days that count."""
        return np.asarray(np.nansum(self.days, axis=1))


class Told(NamedTuple):
    """Who asked for a subject in the week, how, and how far its requests may be less or more."""

    callers: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    below: float = 0.0
    above: float = 0.0


class Series(NamedTuple):
    """All subjects in the week and in each of the past ones, the oldest first."""

    subjects: tuple[Subject, ...]
    kinds: tuple[str, ...]
    week: Week
    past: tuple[Week, ...]
    told: tuple[Told, ...]


def series_of(week: Frame, past: Sequence[Frame]) -> Series:
    """Lay frames out by subject: a declared pattern of a target, or a shape that nobody declared."""
    frames = [*past, week]
    named = [_named(frame) for frame in frames]
    columns = [*_PLACE, "fingerprint", "caller", "name", "kind_of_pattern"]
    every = _as_named_last(pd.concat([one[columns].astype(object) for one in named], ignore_index=True))
    codes, firsts = codes_of(every, [*_PLACE, "name", "kind_of_pattern"])
    edges = np.cumsum([0, *map(len, named)])
    weeks = [
        _week(frame, rows, codes[first:last], len(firsts))
        for frame, rows, first, last in zip(frames, named, edges[:-1], edges[1:], strict=True)
    ]
    told = every.iloc[firsts].astype(object).where(every.iloc[firsts].notna(), None)
    kinds = tuple(told["kind_of_pattern"])
    subjects = tuple(_subject(*row) for row in told[[*_PLACE, "name", "kind_of_pattern"]].itertuples(index=False))
    by_subject = _told(named[-1], codes[edges[-2] :])
    told_of = tuple(by_subject.get(number, Told()) for number in range(len(subjects)))
    return Series(subjects, kinds, weeks[-1], tuple(weeks[:-1]), told_of)


def _told(rows: pd.DataFrame, subject: np.ndarray) -> dict[int, Told]:
    """Return who asked, by subject; the busiest first."""
    requests = rows["requests"].to_numpy(dtype=float)
    low, high = (np.where(rows[name].isna(), requests, rows[name]) for name in ("requests_low", "requests_high"))
    columns = {name: rows[name].astype(object) for name in ("caller", "operation", "fingerprint")}
    named = pd.DataFrame(
        {"subject": subject, "requests": requests, "below": (requests - low) ** 2, "above": (high - requests) ** 2}
        | columns
    )
    found: dict[int, Told] = {}
    for number, part in named.groupby("subject"):
        names = {
            name: tuple(part.groupby(name)["requests"].sum().sort_values(ascending=False).index) for name in columns
        }
        bounds = (math.sqrt(part["below"].sum()), math.sqrt(part["above"].sum()))
        found[int(number)] = Told(names["caller"], names["operation"], names["fingerprint"], *bounds)
    return found


def _subject(*told: str | None) -> Subject:
    account, region, table, index, name, kind = told
    target = Target(account, region, table or "", index)
    return Subject(target, name) if kind == "declared" else Subject(target, None, name)


def _named(frame: Frame) -> pd.DataFrame:
    """Return the rows of requests with the name of their subject; what writes cost indexes is no request."""
    rows = frame.hours.reset_index(drop=True)
    rows = rows[~rows["secondary"]] if len(rows) else rows
    name = rows["pattern"].astype(object)
    return rows.assign(name=name.where(name.notna(), rows["fingerprint"].astype(object)))


def _as_named_last(every: pd.DataFrame) -> pd.DataFrame:
    """Call what was asked by what it is called now: what was declared or renamed has its past all the same."""
    codes, _ = codes_of(every, [*_PLACE, "fingerprint", "caller"])
    last = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    last[codes] = np.arange(len(codes))  # rows are in the order of time: the newest stays
    newest = last[codes]
    return every.assign(**{name: every[name].to_numpy()[newest] for name in ("name", "kind_of_pattern")})


def codes_of(every: pd.DataFrame, columns: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each row's place among others with the same columns, and the first row of each."""
    code = np.zeros(len(every), dtype=np.int64)
    for column in columns:
        numbers, known = pd.factorize(every[column].astype(object))
        code = code * (len(known) + 1) + numbers + 1
        code = np.unique(code, return_inverse=True)[1]
    _, firsts, codes = np.unique(code, return_index=True, return_inverse=True)
    return codes, firsts


def _week(frame: Frame, rows: pd.DataFrame, subject: np.ndarray, subjects: int) -> Week:
    start = rows["start"].to_numpy(dtype=np.int64) - frame.window.start
    hour = start // HOUR_MS
    days = np.zeros((subjects, DAYS))
    requests = rows["requests"].to_numpy(dtype=float)
    np.add.at(days, (subject, np.clip(start // DAY_MS, 0, DAYS - 1)), requests)
    covered = _covered(frame)
    days = np.where(covered >= _LEAST_COVERED, days / np.maximum(covered, _LEAST_COVERED), np.nan)
    code = subject * 100_000 + hour
    codes, of = np.unique(code, return_inverse=True)
    sums = {name: np.bincount(of, np.nan_to_num(_column(rows, name)), len(codes)) for name in _ADDED}
    latency = np.zeros((len(codes), frame.latency.shape[1]), dtype=np.int64)
    np.add.at(latency, of, frame.latency[rows.index.to_numpy()])
    hourly = pd.DataFrame({"subject": codes // 100_000, "hour": codes % 100_000, **sums})
    begins = np.searchsorted(hourly["subject"].to_numpy(), np.arange(subjects + 1))
    return Week(days, hourly, latency, begins, frame.is_by_day)


def _column(rows: pd.DataFrame, name: str) -> np.ndarray:
    values: np.ndarray = rows[name].to_numpy(dtype=float)
    if name != "observed":
        return values
    return np.where(np.isnan(values), rows["requests"].to_numpy(dtype=float), values)


def _covered(frame: Frame) -> np.ndarray:
    """Return the part of each day that was looked at."""
    seconds = np.zeros(DAYS)
    for day in range(DAYS):
        first = frame.window.start + day * DAY_MS
        last = first + DAY_MS
        seconds[day] = sum(max(0, min(one.end, last) - max(one.start, first)) for one in frame.covered)
    return seconds / DAY_MS
