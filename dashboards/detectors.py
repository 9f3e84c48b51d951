"""Alerts of what detectors find: the paging set wakes somebody when critical, all else is a ticket.

Each detector has a page, and its alert follows from the page's name; a new detector needs no line here.
"""

from __future__ import annotations

from pathlib import Path

from dashboards.expressions import DAEMON, PLACE, TARGET, listed, metric
from dashboards.rules import Alert, Group

__all__ = ["FINDINGS", "PAGES", "PAGING", "alert_name", "detector_names"]

PAGES = Path(__file__).parents[1] / "docs" / "detectors"

PAGING: dict[str, str] = {
    "hot-key": "One key takes more than its partition can serve, and callers see errors.",
    "throttling": "Calls fail because a limit of DynamoDB refuses them.",
    "retry-storm": "Retries are most of the traffic.",
    "service-fault": "DynamoDB, or the path to it, fails, and callers see errors.",
    "gsi-back-pressure": "Writes to a table fail because an index cannot keep up.",
    "gsi-consistent-read": "Calls fail because they ask an index for a consistent read.",
    "missing-index": "Calls fail because they ask for an index that the table does not have.",
    "item-collection-limit": "Writes fail because an item collection has reached 10 GB.",
    "unexpected-scan": "A scan that nobody declared throttles others.",
    "item-too-large": "Writes fail because an item is over 400 KB.",
    "unprocessed-dropped": "Writes that a batch handed back were never sent again, and are lost.",
}
"""What wakes somebody, each with what its being critical means."""

_HOLD = {"critical": "5m", "warning": "1h"}
"""How long an alert outlives its finding: one that comes back meanwhile is the same page, or the same ticket."""

_OBSERVED = f"    unless on ({listed(DAEMON)}) {metric('dynascope_observing')} == 1\n"
"""What a daemon finds while it observes wakes nobody."""

_SEVERITIES = {"critical": ("critical",), "warning": ("high", "medium")}


def detector_names() -> list[str]:
    """Return the name of every detector that has a page."""
    return sorted(path.stem for path in PAGES.glob("*.md"))


def alert_name(detector: str) -> str:
    """Return the alert of a detector: `hot-key` is `DynascopeHotKey`."""
    return "Dynascope" + "".join(word.capitalize() for word in detector.split("-"))


def _active(detector: str, severities: tuple[str, ...], hold: str, more: str = "") -> str:
    compared = "=" if len(severities) == 1 else "=~"
    matcher = ",".join([f'severity{compared}"{"|".join(severities)}"', *([more] if more else [])])
    return f"max_over_time({metric('dynascope_finding_active', {'detector': detector}, more=matcher)}[{hold}])"


def _told(detector: str, severities: tuple[str, ...], hold: str) -> str:
    """Return the part of an annotation that names cause and pattern: no labels, since they become known later."""
    places = ",".join(f'{label}="%s"' for label in TARGET)
    inner = f"max by (severity, cause, pattern) ({_active(detector, severities, hold, places)}) == 1"
    quoted = inner.replace('"', '\\"')
    arguments = " ".join(f"$labels.{label}" for label in TARGET)
    return (
        f'{{{{ range printf "{quoted}" {arguments} | query }}}} {{{{ .Labels.severity }}}}'
        "{{ with .Labels.cause }}, cause {{ . }}{{ end }}{{ with .Labels.pattern }}, pattern {{ . }}{{ end }};{{ end }}"
    )


def _alert(detector: str, severity: str) -> Alert:
    is_page = severity == "critical"
    severities = _SEVERITIES[severity] if is_page or detector in PAGING else ("critical", *_SEVERITIES[severity])
    hold = _HOLD[severity]
    summary = PAGING[detector] if is_page else f"Dynascope finds {detector} on a table or index."
    return Alert(
        name=alert_name(detector),
        expr=f"max by ({listed(TARGET)}) (\n  {_active(detector, severities, hold)}\n{_OBSERVED * is_page}) == 1",
        severity=severity,
        summary=summary,
        description=f"{detector} on {PLACE}:{_told(detector, severities, hold)} see the verdict on Dynascope's page.",
        runbook=f"/docs/detectors/{detector}",
        dashboard="/d/dynascope-table?" + "&".join(f"var-{label}={{{{ $labels.{label} }}}}" for label in TARGET),
        labels={"detector": detector},
    )


FINDINGS = (
    Group("dynascope-pages", tuple(_alert(name, "critical") for name in PAGING)),
    Group("dynascope-tickets", tuple(_alert(name, "warning") for name in detector_names())),
)
