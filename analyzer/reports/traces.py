"""Which entities one trace reads together: what speaks for one table, or against it."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from analyzer.reports.week_values import Together, Togetherness

if TYPE_CHECKING:
    from analyzer.reports.frame import Frame

__all__ = ["together_of"]

_ALWAYS = 0.95
_NEVER = 0.001
_LEAST_TRACES = 100
"""Of fewer traces nothing is always or never."""
_MOST = 20

Entity = tuple[str, str]
"""A table, and the template of its partition key."""


def together_of(week: Frame) -> tuple[Together, ...] | None:
    """Return the pairs that go together always, or never in one table; None where history holds no traces.

    Entities that were never read with any other one are not in history: of those nothing is said.
    """
    if not len(week.pairs):
        return None
    pairs, alone = _counted(week)
    found = []
    for one, other in combinations(sorted(alone), 2):
        least = min(alone[one], alone[other])
        if least < _LEAST_TRACES:
            continue
        traces = pairs.get((one, other), 0.0)
        if traces >= _ALWAYS * least:
            found.append(_together(Togetherness.ALWAYS, one, other, traces, least))
        elif traces <= _NEVER * least and one[0] == other[0]:
            found.append(_together(Togetherness.NEVER, one, other, traces, least))
    found.sort(key=lambda pair: (pair.how.value, pair.one_table == pair.other_table, -pair.of_traces))
    return tuple(found[:_MOST])


def _counted(week: Frame) -> tuple[dict[tuple[Entity, Entity], float], dict[Entity, float]]:
    """Return traces by pair and by entity; of an entity a day's count stands in each of its pairs, and is the same."""
    pairs: dict[tuple[Entity, Entity], float] = {}
    by_day: dict[tuple[int, Entity], float] = {}
    plain = week.pairs.astype(dict.fromkeys(("one_table", "one_entity", "other_table", "other_entity"), object))
    for row in plain.itertuples(index=False):
        one, other = (row.one_table, row.one_entity), (row.other_table, row.other_entity)
        pair = min(one, other), max(one, other)
        pairs[pair] = pairs.get(pair, 0.0) + row.traces
        for entity, traces in ((one, row.one_traces), (other, row.other_traces)):
            by_day[row.start, entity] = max(traces, by_day.get((row.start, entity), 0.0))
    alone: dict[Entity, float] = {}
    for (_, entity), traces in by_day.items():
        alone[entity] = alone.get(entity, 0.0) + traces
    return pairs, alone


def _together(how: Togetherness, one: Entity, other: Entity, traces: float, of: float) -> Together:
    if how is Togetherness.NEVER:
        advice = "nothing reads them together: one table has no use for it here, two would scale and be granted apart"
    elif one[0] == other[0]:
        advice = "one table serves them; a shared partition key would make two reads one Query"
    else:
        advice = (
            "one table with a shared partition key would make two reads one Query; weigh it against one owner for both"
        )
    return Together(
        how=how,
        one_table=one[0],
        one_entity=one[1],
        other_table=other[0],
        other_entity=other[1],
        traces=traces,
        of_traces=of,
        advice=advice,
    )
