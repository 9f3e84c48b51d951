"""The JSON Schema of a weekly report, made from its values: the published one is compared with it."""

from __future__ import annotations

from typing import Any

import msgspec

from analyzer.reports.week_json import TIMES
from analyzer.reports.week_values import WeekReport

__all__ = ["week_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TIME = {"type": "string", "format": "date-time"}
_ESTIMATE = {
    "type": "object",
    "description": "A number with the bounds of its 95 % interval.",
    "properties": {name: {"type": "number"} for name in ("value", "low", "high")},
    "required": ["value", "low", "high"],
}


def week_schema() -> dict[str, Any]:
    """Return the schema of a report as it is printed: all fields are there, unknown is null."""
    schema = msgspec.json.schema(WeekReport)
    named = schema["$defs"]
    named["Estimate"] = _ESTIMATE
    for definition in named.values():
        fields = definition.get("properties", {})
        for name, field in fields.items():
            definition["properties"][name] = _as_printed(name, field)
        if fields:
            definition["required"] = list(fields)
    report = named.pop("WeekReport")
    report["properties"] = {"v": {"const": 1}, **report["properties"]}
    report["required"] = list(report["properties"])
    report |= {"title": "A weekly report of Dynascope, version 1", "$defs": dict(sorted(named.items()))}
    return {"$schema": _DIALECT, **report}


def _as_printed(name: str, field: dict[str, Any]) -> dict[str, Any]:
    field = {key: value for key, value in field.items() if key != "default"}
    if name not in TIMES:
        return field
    if "anyOf" in field:
        return {"anyOf": [_TIME if one.get("type") == "integer" else one for one in field["anyOf"]]}
    return _TIME
