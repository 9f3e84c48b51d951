"""The lists of alerts and of recorded series, as docs/prometheus.md shows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dashboards.detectors import PAGING, alert_name, detector_names
from dashboards.generate import alerts
from dashboards.recording import RECORDING
from dashboards.rules import Record

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PAGE", "fill"]

PAGE = Path(__file__).parents[1] / "docs" / "prometheus.md"


def fill(text: str) -> str:
    """Return the page with its lists written anew, each between a line that begins it and one that ends it."""
    for name, write in _LISTS.items():
        begin, end = f"<!-- list of {name} -->\n", f"<!-- end of {name} -->"
        before, found, rest = text.partition(begin)
        _, also, after = rest.partition(end)
        if not (found and also):
            raise ValueError(f"{PAGE.name} has no list of {name}")
        text = f"{before}{begin}\n{write()}\n{end}{after}"
    return text


def _pages() -> str:
    lines = ["| alert | wakes somebody when |", "| --- | --- |"]
    for alert in (alert for alert in alerts() if alert.severity == "critical"):
        page = f"detectors/{alert.labels['detector']}.md"
        lines.append(f"| [`{alert.name}`]({page}) | {alert.summary} |")
    return "\n".join(lines) + "\n"


def _tickets() -> str:
    lines = ["| alert | of | from |", "| --- | --- | --- |"]
    for name in detector_names():
        severities = "medium, high" if name in PAGING else "medium, high, critical"
        lines.append(f"| `{alert_name(name)}` | [`{name}`](detectors/{name}.md) | {severities} |")
    return "\n".join(lines) + "\n"


def _watcher() -> str:
    own = [alert for alert in alerts() if "detector" not in alert.labels]
    lines = [f"| [`{one.name}`](#{one.name.lower()}) | {one.summary} | {one.wait or 'at once'} |" for one in own]
    return "\n".join(["| alert | says | after |", "| --- | --- | --- |", *lines]) + "\n"


def _recorded() -> str:
    names = [rule.record for group in RECORDING for rule in group.rules if isinstance(rule, Record)]
    return "\n".join(f"- `{name}`" for name in names) + "\n"


_LISTS: dict[str, Callable[[], str]] = {
    "pages": _pages,
    "tickets": _tickets,
    "alerts of its own": _watcher,
    "recorded series": _recorded,
}
