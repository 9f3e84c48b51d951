"""How the requests of a table are made up: by pattern, by caller, and by family of keys, beside ordinary weeks.

Conventions such as 0.1 and 0.25 have no error rate; a mix wobbles from week to week as everything does. So the bound is
what past weeks did among themselves: the 95th percentile of their indexes, and 0.05 at least.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analyzer.model.target import Target
from analyzer.reports.drift_values import MixDrift, MixTerm
from analyzer.statistics.mixes import divergence_bits, stability_index, stability_terms
from analyzer.statistics.rates import Standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.reports.frame import Frame

__all__ = ["mixes_of"]

_PLACE = ["account", "region", "table_name"]
_LEAST_PSI = 0.05
_ORDINARY = 0.95
_LEAST_WEEKS = 3
_UNTRIED = 0.25
"""The bound where too few weeks tell what is ordinary: a convention, on the side of silence."""
_LEAST_REQUESTS = 1000
_WEEKS = 4
_TERMS = 3

Told = frozenset[tuple[Target, str]]


def mixes_of(week: Frame, past: Sequence[Frame], told: Told) -> Iterator[MixDrift]:
    """Yield the mixes of every table; `told` are the subjects that are findings themselves."""
    if not past:
        return
    frames = [*past, week]
    for what in ("patterns", "callers", "key families"):
        tables = [_weights(frame, what) for frame in frames]
        rest = [_weights(frame, what, told) for frame in frames] if told and what != "key families" else tables
        for place in _places(tables[-1]):
            one = _mix(what, place, [_at(table, place) for table in tables], [_at(table, place) for table in rest])
            if one is not None:
                yield one


def _weights(frame: Frame, what: str, told: Told = frozenset()) -> pd.DataFrame:
    """Return a row a member of a table's mix: place, name and weight."""
    if what == "key families":
        return _families(frame)
    rows = frame.hours
    if not len(rows):
        return pd.DataFrame(columns=[*_PLACE, "name", "weight"])
    rows = rows[~rows["secondary"]]
    pattern = rows["pattern"].astype(object)
    subject = pattern.where(pattern.notna(), rows["fingerprint"].astype(object))
    named = (
        rows[[*_PLACE, "index_name"]]
        .astype(object)
        .assign(subject=subject, caller=rows["caller"].astype(object), weight=rows["requests"])
    )
    summed = named.groupby([*_PLACE, "index_name", "subject", "caller"], dropna=False, as_index=False)["weight"].sum()
    if told:
        left_out = {(*_told(target), name) for target, name in told}
        columns = (_column(summed, name) for name in (*_PLACE, "index_name", "subject"))
        summed = summed[[place not in left_out for place in zip(*columns, strict=True)]]
    summed["name"] = summed["subject"] if what == "patterns" else summed["caller"].fillna("?")
    return summed.groupby([*_PLACE, "name"], dropna=False, as_index=False)["weight"].sum()


def _families(frame: Frame) -> pd.DataFrame:
    """Return the families of tracked partition keys by their units; what nobody tracks is no family."""
    rows = frame.keys
    if not len(rows):
        return pd.DataFrame(columns=[*_PLACE, "name", "weight"])
    rows = rows[rows["level"] == "partition"]
    named = rows[_PLACE].astype(object).assign(name=rows["template"].astype(object), weight=rows["units"])
    return named.groupby([*_PLACE, "name"], dropna=False, as_index=False)["weight"].sum()


def _told(target: Target) -> tuple[str | None, ...]:
    return target.account, target.region, target.table, target.index


def _column(rows: pd.DataFrame, name: str) -> list[str | None]:
    column = rows[name]
    return list(column.astype(object).where(column.notna(), None))


def _places(rows: pd.DataFrame) -> list[tuple[str | None, ...]]:
    return sorted(set(zip(*(_column(rows, name) for name in _PLACE), strict=True)), key=str)


def _at(rows: pd.DataFrame, place: tuple[str | None, ...]) -> dict[str, float]:
    columns = zip(*(_column(rows, name) for name in _PLACE), rows["name"], rows["weight"], strict=True)
    return {str(name): float(weight) for *at, name, weight in columns if tuple(at) == place}


def _mix(
    what: str, place: tuple[str | None, ...], weeks: list[dict[str, float]], rest: list[dict[str, float]]
) -> MixDrift | None:
    """Judge one mix of one table; None where there is none, or where it was not there before."""
    names = sorted({name for week in weeks for name in week})
    counts = np.array([[week.get(name, 0.0) for name in names] for week in weeks])
    *past, now = counts
    past = [week for week in past if week.sum() >= _LEAST_REQUESTS]
    if len(names) < 2 or not past or now.sum() < _LEAST_REQUESTS:  # noqa: PLR2004 -- one member makes no mix
        return None
    before = _ordinary(past)
    threshold = _threshold(past)
    psi = stability_index(before, now)
    rest_psi = _rest(rest)
    terms = stability_terms(before, now)
    p, q = before / before.sum(), now / now.sum()
    most = np.argsort(-terms)[:_TERMS]
    account, region, table = place
    return MixDrift(
        what=what,
        target=Target(account, region, table or ""),
        standing=Standing.OUT if min(psi, rest_psi) > threshold else Standing.IN,
        psi=psi,
        jsd=divergence_bits(before, now),
        rest_psi=rest_psi,
        threshold=threshold,
        terms=tuple(MixTerm(names[n], float(p[n]), float(q[n]), float(terms[n])) for n in most.tolist()),
    )


def _ordinary(past: list[np.ndarray]) -> np.ndarray:
    """Return the mix of an ordinary week: of each member the median share of the last ones."""
    shares = np.median([week / week.sum() for week in past[-_WEEKS:]], axis=0)
    return np.asarray(shares * np.median([week.sum() for week in past[-_WEEKS:]]))


def _threshold(past: list[np.ndarray]) -> float:
    """Return what weeks that were ordinary differ by at most, but for one in twenty."""
    if len(past) < _LEAST_WEEKS:
        return _UNTRIED
    apart = [stability_index(one, other) for one, other in pairwise(past)]
    return max(_LEAST_PSI, float(np.quantile(apart, _ORDINARY)))


def _rest(weeks: list[dict[str, float]]) -> float:
    """Return the index of what is left without the findings that are told by name."""
    names = sorted({name for week in weeks for name in week})
    *past, now = np.array([[week.get(name, 0.0) for name in names] for week in weeks])
    past = [week for week in past if week.sum() >= _LEAST_REQUESTS]
    if not past or now.sum() < _LEAST_REQUESTS:
        return 0.0
    return stability_index(_ordinary(past), now)
