"""Rules of Prometheus as values, and as the YAML that it reads."""

from __future__ import annotations

from io import StringIO
from typing import Any

from msgspec import Struct
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

__all__ = ["Alert", "Group", "Places", "Record", "write_rules"]

_HEAD = "# Written by `python -m dashboards`; a test compares it.\n"
_WIDE = 4096
"""No annotation is broken into lines."""


class Places(Struct, frozen=True):
    """Where links of alerts lead to: the daemon, and Grafana."""

    daemon: str = "http://127.0.0.1:8642"
    grafana: str = "http://127.0.0.1:3000"


class Record(Struct, frozen=True):
    """A recording rule: `level:metric:operation`."""

    record: str
    expr: str


class Alert(Struct, frozen=True, kw_only=True):
    """An alerting rule.

    `severity` is `critical` for what wakes somebody and `warning` for what becomes a ticket. `runbook` is a path at the
    daemon, `dashboard` one at Grafana; `wait` is Prometheus' `for`.
    """

    name: str
    expr: str
    severity: str
    summary: str
    description: str
    runbook: str
    dashboard: str
    wait: str | None = None
    labels: dict[str, str] = {}

    @property
    def response(self) -> str:
        """What it asks for: `page` or `ticket`."""
        return "page" if self.severity == "critical" else "ticket"

    def annotations(self, places: Places) -> dict[str, str]:
        """Return the annotations, links whole."""
        return {
            "summary": self.summary,
            "description": self.description,
            "runbook_url": places.daemon + self.runbook,
            "dashboard_url": places.grafana + self.dashboard,
        }


class Group(Struct, frozen=True):
    """Rules that are evaluated one after the other."""

    name: str
    rules: tuple[Record | Alert, ...]


def write_rules(groups: tuple[Group, ...], places: Places) -> str:
    """Write a rule file."""
    yaml = YAML()
    yaml.width = _WIDE
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = StringIO()
    document = {
        "groups": [
            {
                "name": group.name,
                "rules": [_record(r) if isinstance(r, Record) else _alert(r, places) for r in group.rules],
            }
            for group in groups
        ]
    }
    yaml.dump(document, out)
    return _HEAD + out.getvalue()


def _expression(text: str) -> str:
    return LiteralScalarString(text + "\n") if "\n" in text else text


def _record(rule: Record) -> dict[str, Any]:
    return {"record": rule.record, "expr": _expression(rule.expr)}


def _alert(rule: Alert, places: Places) -> dict[str, Any]:
    return {
        "alert": rule.name,
        "expr": _expression(rule.expr),
        **({} if rule.wait is None else {"for": rule.wait}),
        "labels": {"severity": rule.severity, "response": rule.response, **rule.labels},
        "annotations": rule.annotations(places),
    }
