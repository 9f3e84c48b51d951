"""Values by metric and label set, bounded: what one rendering of the metrics is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from analyzer.exporters.metrics import BY_NAME, TARGET, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Distribution", "Exemplar", "SeriesTable"]

Labels = tuple[str, ...]

_OTHER = "other"
_FOLDED = 4
"""A bound may be exceeded by a part in so many, for `other` of single tables; beyond that one series holds the rest."""


class Exemplar(NamedTuple):
    """One request of a bucket: its trace, how long it took and when it was made."""

    trace_id: str
    seconds: float
    at_seconds: float


class Distribution(NamedTuple):
    """Cumulative counts by bucket, the last of them all, and the sum of what was measured."""

    buckets: list[float]
    total: float
    exemplars: dict[int, Exemplar]


class SeriesTable:
    """Collects values for one rendering; a metric that is not in the table of metrics is refused with KeyError.

    A metric's first `most_series` label sets keep their own series, in the order in which they come.
    """

    def __init__(self) -> None:
        self.dropped: dict[str, int] = {}
        self._values: dict[str, dict[Labels, float]] = {}
        self._distributions: dict[str, dict[Labels, Distribution]] = {}
        self._folded: dict[str, set[Labels]] = {}

    def add(self, name: str, labels: Labels, value: float) -> None:
        """Add to a counter, or to a gauge that sums."""
        place = self._place(BY_NAME[name], labels, self._values.setdefault(name, {}))
        if place is not None:
            values = self._values[name]
            values[place] = values.get(place, 0.0) + value

    def raise_to(self, name: str, labels: Labels, value: float) -> None:
        """Set a gauge, or keep the greater of two values of the same labels."""
        place = self._place(BY_NAME[name], labels, self._values.setdefault(name, {}))
        if place is not None:
            values = self._values[name]
            values[place] = max(values.get(place, value), value)

    def observe(self, name: str, labels: Labels, counts: Sequence[float], total: float) -> None:
        """Add counts by bucket (the last for what lies above every bound) and their sum to a histogram."""
        known = self._distributions.setdefault(name, {})
        place = self._place(BY_NAME[name], labels, known)
        if place is None:
            return
        before = known.get(place) or Distribution([0.0] * len(counts), 0.0, {})
        running, cumulative = 0.0, []
        for count, earlier in zip(counts, before.buckets, strict=True):
            running += count
            cumulative.append(earlier + running)
        known[place] = Distribution(cumulative, before.total + total, before.exemplars)

    def exemplify(self, name: str, labels: Labels, bucket: int, exemplar: Exemplar) -> None:
        """Give a bucket of a histogram an example; without such a series there is nothing to give it to."""
        known = self._distributions.get(name, {}).get(labels)
        if known is not None:
            known.exemplars[bucket] = exemplar

    def values(self, name: str) -> dict[Labels, float]:
        """Return the values of a counter, gauge or info by label set."""
        return self._values.get(name, {})

    def distributions(self, name: str) -> dict[Labels, Distribution]:
        """Return the distributions of a histogram by label set."""
        return self._distributions.get(name, {})

    def label_values(self) -> Iterator[str]:
        """Yield every label value there is."""
        for name in BY_NAME:
            for labels in (*self.values(name), *self.distributions(name)):
                yield from labels

    def _place(
        self, metric: Metric, labels: Labels, known: dict[Labels, float] | dict[Labels, Distribution]
    ) -> Labels | None:
        if len(labels) != len(metric.label_names):
            raise ValueError(f"{metric.name} has the labels {metric.label_names}, not {len(labels)} of them")
        if labels in known or len(known) < metric.most_series:
            return labels
        folded = self._folded.setdefault(metric.name, set())
        if labels not in folded:
            folded.add(labels)
            self.dropped[metric.name] = self.dropped.get(metric.name, 0) + 1
        if metric.kind is Kind.GAUGE or metric.kind is Kind.INFO or not metric.of_target:
            return None
        own = (*labels[: len(TARGET)], *(_OTHER for _ in metric.labels))
        if own in known or len(known) < metric.most_series + metric.most_series // _FOLDED:
            return own
        return tuple(_OTHER for _ in labels)
