"""JSON Schemas of what is printed and read, made from the values: the published ones are compared with them."""

from __future__ import annotations

from typing import Any

import msgspec

from analyzer.model.report import Report
from analyzer.recording_lines import Line
from analyzer.render.json import INTERNAL, OF_DAEMONS, OF_FEW, TIMES

__all__ = ["recording_schema", "report_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ADDED = {name: {"account", "region"} for name in ("Change", "Coverage", "Gap", "SightState", "Skipped")}
"""Fields that reports printed before they were there do not have."""
_TIME = {"type": "string", "format": "date-time"}


def recording_schema() -> dict[str, Any]:
    """Return the schema of one line of a recording; a request is a request record."""
    schema = msgspec.json.schema(Line)
    schema["$defs"]["RequestLine"]["properties"]["request"] = {"$ref": "request-record.schema.json"}
    return {"$schema": _DIALECT, "title": "A line of a Dynascope recording, version 1", **schema}


def report_schema() -> dict[str, Any]:
    """Return the schema of a report as it is printed: all fields are there but a daemon's own, unknown is null."""
    schema = msgspec.json.schema(Report, schema_hook=_of_the_process)
    named = schema["$defs"]
    for name, definition in named.items():
        _print_as(definition, _ADDED.get(name, set()))
    report = named.pop("Report")
    for name in ("Finding", "Window"):
        del named[name]["description"]  # they speak of what is not printed
    report["description"] = "What one analysis concluded: docs/reference/formats.md, 3."
    report["properties"] = {"v": {"const": 1}, **report["properties"]}
    report["properties"]["window"] = {"anyOf": [report["properties"]["window"], {"type": "null"}]}
    report["properties"]["as_of"] = {"anyOf": [report["properties"]["as_of"], {"type": "null"}]}
    report["required"] = [name for name in report["properties"] if name not in {OF_FEW, *OF_DAEMONS}]
    reached = _reached(report, named)
    report |= {"title": "A Dynascope report, version 1", "$defs": {name: named[name] for name in sorted(reached)}}
    return {"$schema": _DIALECT, **report}


def _of_the_process(_: type) -> dict[str, Any]:
    """Describe what only lives in the process, such as a book of calls: nothing that is printed leads there."""
    return {"type": "object"}


def _print_as(definition: dict[str, Any], optional: set[str]) -> None:
    fields = definition.get("properties")
    if fields is None:
        return
    for name in INTERNAL & fields.keys():
        del fields[name]
    for name in TIMES & fields.keys():
        if fields[name].get("type") != "string":  # a day, as a price has it
            fields[name] = _as_time(fields[name])
    for field in fields.values():
        field.pop("default", None)
    definition["required"] = [name for name in fields if name not in optional]


def _as_time(field: dict[str, Any]) -> dict[str, Any]:
    if field.get("type") == "integer":
        return dict(_TIME)
    options = [dict(_TIME) if option.get("type") == "integer" else option for option in field["anyOf"]]
    return {"anyOf": options}


def _reached(node: Any, named: dict[str, Any]) -> set[str]:
    """Return the definitions that a schema leads to."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            name = str(one.get("$ref", "")).removeprefix("#/$defs/")
            if name in named and name not in found:
                found.add(name)
                waiting.append(named[name])
            waiting += one.values()
    return found
