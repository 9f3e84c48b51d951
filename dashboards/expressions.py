"""PromQL in our words: metrics that exist, grouped by what they are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.exporters.metrics import BY_NAME, TARGET, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["DAEMON", "PLACE", "TABLE", "TARGET", "grown", "listed", "metric", "unknown_metrics"]

TABLE = TARGET[:3]
"""A table with all its indexes."""

DAEMON = ("job", "instance")
"""One daemon, as Prometheus names it."""

PLACE = "{{ $labels.table }}{{ with $labels.index }}/{{ . }}{{ end }} ({{ $labels.aws_region }})"
"""A table or index in the annotation of an alert."""

_NAME = re.compile(r"(?<![\w:])dynascope_\w+")
_HISTOGRAM = ("_bucket", "_sum", "_count")


def metric(name: str, matchers: Mapping[str, str] | None = None, *, more: str = "") -> str:
    """Return a selector of one metric of the table; `more` are matchers as they are. Raises KeyError for another."""
    if unknown_metrics(name):
        raise KeyError(name)
    inner = ",".join([f'{label}="{value}"' for label, value in (matchers or {}).items()] + ([more] if more else []))
    return f"{name}{{{inner}}}" if inner else name


def unknown_metrics(expression: str) -> set[str]:
    """Return what an expression speaks of as a metric of ours, and which the table does not have."""
    return {name for name in _NAME.findall(expression) if not _is_known(name)}


def listed(labels: Iterable[str]) -> str:
    """Return labels as PromQL lists them."""
    return ", ".join(labels)


def grown(selector: str, window: str, by: Iterable[str]) -> str:
    """Return by how much counters grew in a window, those included that began inside it.

    A counter of ours begins with what it counted first, and `increase` would not see that: the first burst of refusals
    would be lost. What a daemon counted before Prometheus knew it is no growth: it has to have told of the same table
    when the window began.
    """
    same = listed((*DAEMON, *TABLE))
    requests = metric("dynascope_requests_total")
    return (
        f"sum by ({listed(by)}) (\n"
        f"  ({selector} unless {selector} offset {window})\n"
        f"    and on ({same}) ({requests} offset {window})\n"
        f"  or increase({selector}[{window}])\n"
        f")"
    )


def _is_known(name: str) -> bool:
    found = BY_NAME.get(name)
    if found is not None:
        return found.kind is not Kind.HISTOGRAM
    return any(
        name.endswith(suffix) and (whole := BY_NAME.get(name.removesuffix(suffix))) and whole.kind is Kind.HISTOGRAM
        for suffix in _HISTOGRAM
    )
