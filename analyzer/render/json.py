"""A report as JSON, version 1: docs/reference/formats.md."""

from __future__ import annotations

import json
import math
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.model.finding import Finding
from analyzer.model.instant import format_instant

if TYPE_CHECKING:
    from analyzer.model.report import Report

__all__ = ["TIMES", "plain_value", "render_json", "report_object"]

TIMES = frozenset({"start", "end", "as_of", "since", "time", "first_seen", "last_seen", "observing_until"})
INTERNAL = frozenset({"subject", "traffic"})
OF_DAEMONS = ("mode", "observing_until")
"""What only a daemon's report says."""
OF_FEW = "outside"
"""What few reports have, and none says where it is empty."""
_DECIMALS = 6
_FINDING_ORDER = (
    "id",
    "status",
    "detector",
    "severity",
    "confidence",
    "because",
    "caveat",
    "sources",
    "account",
    "region",
    "table",
    "index",
    "key",
    "key_template",
    "pattern",
    "fingerprint",
    "caller",
    "victims",
    "cause",
    "direction",
    "caused_by",
    "summary",
    "evidence",
    "advice",
    "self_heals",
    "cost_per_month_usd",
    "first_seen",
    "last_seen",
    "since_change",
    "runbook",
)


def render_json(report: Report) -> str:
    """Write a report as one JSON document; unknown is null, times are RFC 3339 with milliseconds."""
    return json.dumps(report_object(report), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def report_object(report: Report) -> dict[str, Any]:
    """Return a report as plain values, without what only lives in the process; where nothing was read, no window."""
    told = {"v": 1, **_struct(report)}
    if report.window.end <= report.window.start:
        told |= {"window": None, "as_of": None}
    if not report.outside:
        del told[OF_FEW]
    if report.mode is None:
        told = {name: value for name, value in told.items() if name not in OF_DAEMONS}
    return told


def _struct(value: Struct) -> dict[str, Any]:
    names = _FINDING_ORDER if isinstance(value, Finding) else value.__struct_fields__
    return {
        name: format_instant(field) if name in TIMES and isinstance(field, int) else plain_value(field)
        for name in names
        if name not in INTERNAL
        for field in (getattr(value, name),)
    }


def plain_value(value: object) -> Any:  # noqa: ANN401 -- JSON holds anything
    """Return a value of the model as JSON has it."""
    if isinstance(value, Struct):
        return _struct(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [plain_value(entry) for entry in value]
    if isinstance(value, dict):
        return {str(name): plain_value(entry) for name, entry in value.items()}
    if isinstance(value, float):
        return _number(value)
    return value


def _number(value: float) -> float | int | None:
    """Return a whole number as an integer, any other to a millionth; what is no number is not known."""
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() else round(value, _DECIMALS) or value
