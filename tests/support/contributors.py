"""Contributors of Contributor Insights with the heat that they are known to have, built by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.traffic import InsightKey, InsightMinute

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["REFUSED_ALONE", "contributor"]

REFUSED_ALONE = (None, None)
"""The bounds of a minute of which refusals alone are counted."""


def contributor(
    *heats: tuple[float | None, float | None],
    rule: str = "PKC",
    partition: str = "CASE#7",
    sort: str | None = None,
    units: float = 1000.0,
    template: str = "CASE#<id>",
    at: Sequence[int] | None = None,
    is_mixed_known: bool | Sequence[bool] = False,
    **fields: Any,
) -> InsightKey:
    """A contributor with these bounds of heat a period, and so many units in all.

    `is_mixed_known` is said of all periods, or of each.

    Periods follow one another, unless `at` says in which minutes they begin.
    """
    level = KeyLevel.PARTITION if sort is None else KeyLevel.ITEM
    fields = {"share": 0.5, "period_seconds": 60} | fields
    length = fields["period_seconds"] * 1000
    starts = [number * length for number in range(len(heats))] if at is None else [minute * 60_000 for minute in at]
    known = [is_mixed_known] * len(heats) if isinstance(is_mixed_known, bool) else is_mixed_known
    return InsightKey(
        rule=rule,
        name=KeyName(level, partition, sort),
        key={"PK": partition},
        key_template={"PK": template},
        minutes=tuple(
            InsightMinute(start, units / len(heats), *heat, is_mixed)
            for start, heat, is_mixed in zip(starts, heats, known, strict=True)
        ),
        **fields,
    )
