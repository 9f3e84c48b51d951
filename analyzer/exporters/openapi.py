"""The API as an OpenAPI 3.1 document; docs/reference/openapi.json is written from it, and a test compares them."""

from __future__ import annotations

from typing import Any

from analyzer.exporters.openapi_schemas import SCHEMAS

__all__ = ["openapi_document"]

Node = dict[str, Any]

_VERSION = "1"
"""The version of the API; it changes when something that a client reads goes away."""


def openapi_document() -> Node:
    """Return the document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dynascope",
            "version": _VERSION,
            "summary": "What the daemon knows, as the page and the command line read it.",
            "description": (
                "Times are RFC 3339 in UTC. Unknown is null. Keys are shown as the daemon's `keys` policy allows. "
                "Nothing here is computed from more than the last hour."
            ),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"bearer": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Needed where `token` or `token_file` is set, unless a client certificate is shown.",
                }
            },
            "schemas": SCHEMAS,
        },
    }


def _paths() -> Node:
    return {
        "/api/v1/report": {"get": _get("The last report, whole.", "Report")},
        "/api/v1/findings": {"get": _get("Verdict and findings of the last report.", "Findings")},
        "/api/v1/patterns": {"get": _get("Patterns of the last report, with calls over time.", "Patterns")},
        "/api/v1/changes": {
            "get": _get("Marks and changes, the newest first.", "Changes"),
            "post": _post("Tell of a change, such as a deploy.", "Mark", "Marked"),
        },
        "/api/v1/targets": {"get": _get("Tables and indexes, the hottest first.", "Targets")},
        "/api/v1/heatmap": {"get": _get("The map of one target and direction.", "HeatMap", _map_parameters())},
        "/api/v1/gsi": {"get": _get("How indexes keep up with their tables.", "Indexes")},
        "/api/v1/honesty": {"get": _get("How far all of it can be trusted.", "Honesty")},
        "/api/v1/figures/{name}": {"get": _figure()},
        "/api/v1/events": {"get": _events()},
        "/api/v1/snoozes": {
            "get": _get("The snoozes that stand.", "Snoozes"),
            "post": _post("Snooze a finding.", "Snooze", "Snoozed"),
        },
        "/api/v1/snoozes/{id}": {
            "delete": {
                "summary": "End a snooze.",
                "parameters": [_parameter("id", "path", {"type": "string"}, "the finding's id", required=True)],
                "responses": {"200": _answer("Ended"), **_refusals("400", "401", "403", "429", "503")},
            }
        },
        "/api/v1/openapi.json": {
            "get": {
                "summary": "This document.",
                "responses": {
                    "200": {"description": "OpenAPI", "content": {"application/json": {"schema": {"type": "object"}}}}
                },
            }
        },
    }


def _get(summary: str, schema: str, parameters: list[Node] | None = None) -> Node:
    refused = ("400", "401", "404", "429", "503") if parameters else ("401", "429", "503")
    found: Node = {"summary": summary, "responses": {"200": _answer(schema), **_refusals(*refused)}}
    return {**found, "parameters": parameters} if parameters else found


def _post(summary: str, taken: str, answered: str) -> Node:
    return {
        "summary": summary,
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{taken}"}}},
        },
        "responses": {"201": _answer(answered), **_refusals("400", "401", "403", "413", "415", "429", "503")},
    }


def _figure() -> Node:
    name = _parameter("name", "path", {"enum": ["heatmap", "top", "shares", "gsi-lag"]}, "which figure", required=True)
    return {
        "summary": "A figure for plotly; of `heatmap` the heat itself comes from /api/v1/heatmap.",
        "parameters": [name, *_map_parameters()],
        "responses": {"200": _answer("Figure"), **_refusals("400", "401", "404", "429", "503")},
    }


def _events() -> Node:
    return {
        "summary": "Server-sent events: `report` whenever something was judged, with what changed alone.",
        "description": (
            "The data of each event is an `Update`. The first holds every part. A comment line comes every 10 s. With "
            "`table` the changed columns of that map come too; where its rows changed, `heatmap.columns` is null and "
            "the map is to be fetched anew."
        ),
        "parameters": _map_parameters(),
        "responses": {
            "200": {
                "description": "a stream",
                "content": {"text/event-stream": {"schema": {"$ref": "#/components/schemas/Update"}}},
            },
            **_refusals("400", "401", "429", "503"),
        },
    }


def _map_parameters() -> list[Node]:
    text, time = {"type": "string"}, {"type": "string", "format": "date-time"}
    return [
        _parameter("table", "query", text, "name of the table; the hottest target where it is left out"),
        _parameter("index", "query", text, "name of the index; the base table where it is left out"),
        _parameter("account", "query", text, "account that the target is in; 404 where nothing was seen there"),
        _parameter("region", "query", text, "region that the target is in; 404 where nothing was seen there"),
        _parameter("direction", "query", {"enum": ["read", "write"]}, "the hotter one where it is left out"),
        _parameter("since", "query", time, "start of the map, RFC 3339; an hour before its end where it is left out"),
        _parameter("until", "query", time, "end of the map, RFC 3339; now where it is left out"),
        _parameter("step", "query", {"enum": ["10s", "1s"], "default": "10s"}, "1s for at most ten minutes"),
        _parameter(
            "mode",
            "query",
            {"enum": ["ceiling", "relative"], "default": "ceiling"},
            "share of one partition's ceiling, or of the greatest cell of the map",
        ),
    ]


def _parameter(name: str, place: str, schema: Node, description: str, *, required: bool = False) -> Node:
    return {"name": name, "in": place, "required": required, "schema": schema, "description": description}


def _answer(schema: str) -> Node:
    return {
        "description": schema,
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
    }


_REASONS = {
    "400": "A parameter or a body is wrong; the text says what.",
    "401": "A token is needed, or this one is wrong.",
    "403": "Only this machine, or a page of this address, may ask for it.",
    "404": "There is no such target.",
    "413": "The body is too long.",
    "415": "The body is no JSON.",
    "429": "Too many requests; Retry-After says how many seconds to wait.",
    "503": "Nothing was judged yet.",
}


def _refusals(*codes: str) -> Node:
    text = {"text/plain": {"schema": {"type": "string"}}}
    found: Node = {code: {"description": _REASONS[code], "content": text} for code in codes}
    if "429" in found:
        found["429"]["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "seconds"}}
    return found
