"""The metrics as Prometheus reads them: the old text format, and OpenMetrics with exemplars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.exposition import generate_latest as write_text
from prometheus_client.openmetrics.exposition import generate_latest as write_openmetrics
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar as WireExemplar

from analyzer.exporters.metrics import DURATION_BUCKETS, METRICS, Kind, Metric
from analyzer.exporters.standing import Standing
from analyzer.model.counts import LATENCY_BOUNDS_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client.metrics_core import Metric as Family

    from analyzer.exporters.series import Distribution, SeriesTable

__all__ = ["NOTHING_YET", "OPENMETRICS_TYPE", "TEXT_TYPE", "Exposition", "lease_told", "render"]

TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Exposition(Struct, frozen=True):
    """One rendering in both formats, ready to be sent."""

    text: bytes
    openmetrics: bytes


NOTHING_YET = Exposition(b"", b"# EOF\n")


def render(table: SeriesTable) -> Exposition:
    """Write every metric that has a value."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(list(_families(table))))
    return Exposition(write_text(registry), write_openmetrics(registry))  # type: ignore[no-untyped-call] # untyped there


def lease_told(body: bytes, standing: Standing) -> bytes:
    """Return a rendering in which the lease is held, or not, as it is now: it may be older than the lease."""
    held, free = (b"\ndynascope_lease_held %s\n" % value for value in (b"1.0", b"0.0"))
    if standing is Standing.ALONE:
        return body
    return body.replace(*((free, held) if standing is Standing.READS else (held, free)), 1)


class _Once(Collector):
    def __init__(self, families: list[Family]) -> None:
        self._families = families

    def collect(self) -> Iterable[Family]:
        return self._families

    def describe(self) -> Iterable[Family]:
        return ()


def _families(table: SeriesTable) -> Iterator[Family]:
    for metric in METRICS:
        if metric.kind is Kind.HISTOGRAM:
            known = table.distributions(metric.name)
            if known:
                yield _histogram(metric, known)
        elif table.values(metric.name):
            yield _plain(metric, table.values(metric.name))


def _plain(metric: Metric, values: dict[tuple[str, ...], float]) -> Family:
    names = metric.label_names
    if metric.kind is Kind.INFO:
        info = InfoMetricFamily(metric.name.removesuffix("_info"), metric.help, labels=[])
        for labels in values:
            info.add_metric([], dict(zip(names, labels, strict=True)))
        return info
    kind = CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily
    family = kind(metric.name, metric.help, labels=names)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def _histogram(metric: Metric, known: dict[tuple[str, ...], Distribution]) -> Family:
    bounds = [*(str(LATENCY_BOUNDS_MS[place] / 1000) for place in DURATION_BUCKETS), "+Inf"]
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.label_names)
    for labels, distribution in known.items():
        buckets: list[tuple[str, float] | tuple[str, float, WireExemplar]] = []
        for place, (bound, count) in enumerate(zip(bounds, distribution.buckets, strict=True)):
            exemplar = distribution.exemplars.get(place)
            if exemplar is None:
                buckets.append((bound, count))
            else:
                wire = WireExemplar({"trace_id": exemplar.trace_id}, exemplar.seconds, exemplar.at_seconds)
                buckets.append((bound, count, wire))
        family.add_metric(labels, buckets, distribution.total)
    return family
