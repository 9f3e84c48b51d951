"""The weekly report as JSON, version 1: `docs/reference/week.schema.json` is its schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.model.estimate import Estimate
from analyzer.model.instant import format_instant
from analyzer.render.json import plain_value

if TYPE_CHECKING:
    from analyzer.reports.week_values import WeekReport

__all__ = ["TIMES", "render_week_json", "week_object"]

TIMES = frozenset({"start", "end", "since", "first_seen", "hottest_at", "acknowledged_at"})
"""Fields that are times: RFC 3339 in UTC."""


def render_week_json(report: WeekReport) -> str:
    """Write a report as JSON."""
    return json.dumps(week_object(report), indent=2, ensure_ascii=False) + "\n"


def week_object(report: WeekReport) -> dict[str, Any]:
    """Return a report as JSON has it: `v` first, unknown is null, an estimate has its bounds beside it."""
    return {"v": 1, **_struct(report)}


def _struct(value: Struct) -> dict[str, Any]:
    return {
        name: format_instant(field) if name in TIMES and isinstance(field, int) else _value(field)
        for name in value.__struct_fields__
        for field in (getattr(value, name),)
    }


def _value(value: object) -> Any:  # noqa: ANN401 -- JSON holds anything
    if isinstance(value, Estimate):
        return {name: plain_value(part) for name, part in value._asdict().items()}
    if isinstance(value, Struct):
        return _struct(value)
    if isinstance(value, tuple):
        return [_value(entry) for entry in value]
    return plain_value(value)
