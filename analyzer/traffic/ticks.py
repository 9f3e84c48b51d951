"""Where the windows of a recording end that no request marks: at the ends of what its metrics and reports tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.batch import Batch
    from analyzer.model.instant import Instant

__all__ = ["MOST_TICKS", "metric_ends", "metric_starts"]

MOST_TICKS = 500
"""How many windows a recording is given for its metrics: a month of minutes is looked at in fewer."""


def metric_ends(batches: Iterable[Batch], window_ms: int) -> list[Instant]:
    """Return the ends of the periods within the batches' own windows, in order of time.

    Where there are too many, those with refusals or errors stay, and one a window length of the others.
    """
    told: set[Instant] = set()
    plain: set[Instant] = set()
    for batch in batches:
        for end, is_fault in _ends(batch):
            if batch.window.start < end <= batch.window.end:
                (told if is_fault else plain).add(end)
    ends = told | plain
    if len(ends) > MOST_TICKS:
        ends = told | {*{end // window_ms: end for end in sorted(plain)}.values()}
    if len(ends) > MOST_TICKS:
        ordered = sorted(ends)
        step = -(-len(ordered) // MOST_TICKS)
        ends = {*ordered[::step], ordered[-1]}
    return sorted(ends)


def metric_starts(batches: Iterable[Batch]) -> dict[Instant, Instant]:
    """Return of each end of a period when it began; of several that end together the shortest counts.

    What metrics show first in a window began with its last period at the earliest, and not in its last seconds.
    """
    starts: dict[Instant, Instant] = {}
    for batch in batches:
        periods = [(one.period_seconds, one.timestamps) for one in batch.metrics]
        periods += [(one.period_seconds, one.timestamps) for one in batch.insights]
        for seconds, begun in periods:
            for start in begun:
                end = start + seconds * 1000
                starts[end] = max(start, starts.get(end, start))
    return starts


def _ends(batch: Batch) -> Iterator[tuple[Instant, bool]]:
    for series in batch.metrics:
        is_event = series.metric.endswith(("ThrottleEvents", "Errors"))
        for start, value in zip(series.timestamps, series.values, strict=True):
            yield start + series.period_seconds * 1000, is_event and value > 0
    for insight in batch.insights:
        for start in insight.timestamps:
            yield start + insight.period_seconds * 1000, insight.rule.endswith("T")
