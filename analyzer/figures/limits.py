"""What a target was provisioned for over the time of a map: what it is now, and back along the changes of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.model.heatmap import HeatLimit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.finding import Change, Direction
    from analyzer.model.target import Target
    from analyzer.model.window import Window

__all__ = ["limits_of"]

_UNITS = re.compile(r"(?P<direction>read|write) units (?P<was>[\d,]+) → [\d,]+")
"""How the table catalog writes a change of capacity. Others tell what was asked for, and not what was before."""
_UNTOLD = "capacity was "
"""A table that was not known before tells that its capacity was changed, and not from what."""


def limits_of(
    changes: Iterable[Change], target: Target, direction: Direction, window: Window, limit: float | None
) -> tuple[HeatLimit, ...]:
    """Return what a target was provisioned for from which time on, the earliest first; `limit` is what it is now.

    The first holds from the start of the window. On demand, which is no limit, there are none.
    """
    if limit is None:
        return ()
    own = [
        change
        for change in changes
        if (change.table, change.index) == (target.table, target.index)
        and change.is_at(target.account, target.region)
        and window.holds(change.time)
    ]
    found: list[HeatLimit] = []
    units: float | None = limit
    for change in sorted(own, key=lambda change: -change.time):
        before = _before(change, direction, units)
        if before != units:
            found.append(HeatLimit(change.time, units))
            units = before
    found.append(HeatLimit(window.start, units))
    return tuple(reversed(found))


def _before(change: Change, direction: Direction, units: float | None) -> float | None:
    """Return what was provisioned before a change, where `units` were behind it; None where it does not tell."""
    detail = change.detail or ""
    told = _UNITS.fullmatch(detail) if change.what == "capacity" else None
    if told is not None:
        return float(told["was"].replace(",", "")) if told["direction"] == direction.value else units
    is_untold = change.what == "billing-mode" or (change.what == "capacity" and detail.startswith(_UNTOLD))
    return None if is_untold else units
