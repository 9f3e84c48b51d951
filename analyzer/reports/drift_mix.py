"""How the requests of a table are made up: by pattern, by caller, and by family of keys, beside ordinary weeks.

Conventions such as 0.1 and 0.25 have no error rate; a mix wobbles from week to week as everything does. So the bound is
what past weeks did among themselves: the 95th percentile of their indexes, and 0.05 at least.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analyzer.model.target import Target
from analyzer.reports.drift_series import codes_of
from analyzer.reports.drift_values import MixDrift, MixTerm
from analyzer.statistics.mixes import divergence_bits, stability_index, stability_terms
from analyzer.statistics.rates import Standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from analyzer.reports.frame import Frame

__all__ = ["mixes_of"]

_PLACE = ["account", "region", "table_name", "index_name"]
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
    asked = [_asked(frame) for frame in frames]
    tracked = [_tracked(frame) for frame in frames]
    for what, members in (("patterns", asked), ("callers", asked), ("key families", tracked)):
        every = [_tables(of, what) for of in members]
        rest = [_tables(of, what, told) for of in members]
        for table in sorted(every[-1], key=lambda table: table.order()):
            one = _mix(what, table, [of.get(table, {}) for of in every], [of.get(table, {}) for of in rest])
            if one is not None:
                yield one


class _Member(NamedTuple):
    """What was asked of a target by a caller, or a family of its keys."""

    target: Target
    name: str
    caller: str
    weight: float


def _asked(frame: Frame) -> list[_Member]:
    rows = frame.hours[~frame.hours["secondary"].astype(bool)]
    subject = rows["pattern"].astype(object).where(rows["pattern"].notna(), rows["fingerprint"].astype(object))
    named = rows[[*_PLACE, "caller"]].astype(object).assign(subject=subject)
    return [
        _Member(Target(account, region, table, index), name, caller or "?", weight)
        for (account, region, table, index, caller, name), weight in _summed(named, rows["requests"])
    ]


def _tracked(frame: Frame) -> list[_Member]:
    """Return the families of tracked partition keys by their units; what nobody tracks is no family."""
    if not len(frame.keys):
        return []
    rows = frame.keys[frame.keys["level"] == "partition"]
    named = rows[[*_PLACE, "template"]].astype(object)
    return [
        _Member(Target(account, region, table, index), template or "?", "", weight)
        for (account, region, table, index, template), weight in _summed(named, rows["units"])
    ]


def _summed(named: pd.DataFrame, weights: pd.Series[float]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield each distinct row with the sum of its weights."""
    if not len(named):
        return
    code, first = codes_of(named, list(named.columns))
    sums = np.bincount(code, weights.to_numpy(dtype=float))
    distinct = named.iloc[first]
    told = distinct.where(distinct.notna(), None).itertuples(index=False, name=None)
    yield from zip(told, sums.tolist(), strict=True)


def _tables(members: list[_Member], what: str, told: Told = frozenset()) -> dict[Target, dict[str, float]]:
    """Return the mix of each table, without what is told."""
    found: dict[Target, dict[str, float]] = {}
    for one in members:
        if (one.target, one.name) not in told:
            mix = found.setdefault(one.target.base, {})
            name = one.caller if what == "callers" else one.name
            mix[name] = mix.get(name, 0.0) + one.weight
    return found


def _mix(what: str, table: Target, weeks: list[dict[str, float]], rest: list[dict[str, float]]) -> MixDrift | None:
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
    return MixDrift(
        what=what,
        target=table,
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
