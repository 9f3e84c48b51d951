"""The schemas of the API: what each answer holds. A test holds every answer of the server against them."""

from __future__ import annotations

from typing import Any

__all__ = ["SCHEMAS"]

Node = dict[str, Any]

_TEXT: Node = {"type": "string"}
_MAYBE_TEXT: Node = {"type": ["string", "null"]}
_TIME: Node = {"type": "string", "format": "date-time"}
_MAYBE_TIME: Node = {"type": ["string", "null"], "format": "date-time"}
_NUMBER: Node = {"type": "number"}
_MAYBE_NUMBER: Node = {"type": ["number", "null"]}
_COUNT: Node = {"type": "integer", "minimum": 0}
_FLAG: Node = {"type": "boolean"}
_DIRECTION: Node = {"enum": ["read", "write"]}
_KEYS: Node = {
    "enum": ["request-log", "contributor-insights", "not-visible"],
    "description": "who tells the keys; nobody where only metrics are read: `hint` says what to do",
}
_ANY: Node = {"type": "object"}
_BYTES: Node = {"type": "string", "contentEncoding": "base64"}


def _said(node: Node, description: str) -> Node:
    return {**node, "description": description}


def _list(node: Node) -> Node:
    return {"type": "array", "items": node}


def _maybe(node: Node) -> Node:
    return {"anyOf": [node, {"type": "null"}]}


def _object(**fields: Node) -> Node:
    """Return an object with all of these fields and no other; `from_` is `from`."""
    named = {name.rstrip("_"): node for name, node in fields.items()}
    return {"type": "object", "properties": named, "required": sorted(named), "additionalProperties": False}


def _open(*names: str) -> Node:
    """Return an object as docs/reference/formats.md has it, which has at least these fields."""
    return {"type": "object", "required": sorted(names)}


_V: Node = {"const": 1}
_PLACE = {"account": _MAYBE_TEXT, "region": _MAYBE_TEXT, "table": _TEXT, "index": _MAYBE_TEXT}
_ESTIMATE = _object(value=_MAYBE_NUMBER, low=_MAYBE_NUMBER, high=_MAYBE_NUMBER)
_WINDOW = _maybe(_object(start=_TIME, end=_TIME))
_SPARK = _object(start=_TIME, step_ms=_COUNT, values=_said(_list(_MAYBE_NUMBER), "calls a second; null: not known"))

_ROW = _object(
    label=_said(_TEXT, "the key as the show policy allows; different for every row of a map"),
    kind={"enum": ["key", "prefix", "rest"]},
    key=_said(_maybe(_ANY), "attribute → value as the show policy allows"),
    token=_said(_MAYBE_TEXT, "for `dynascope key TOKEN`; null where the policy is `template`"),
    rank=_said({"type": ["integer", "null"]}, "place among the keys by units, from 1; null of a bucket"),
    members=_said(_COUNT, "keys of a bucket that were told apart"),
    units=_NUMBER,
    units_low=_NUMBER,
    units_high=_NUMBER,
    share=_said(
        _NUMBER,
        "of the target's units in the time of the map, 0 to 1; where Contributor Insights tells the keys, of what it "
        "lists, reads and writes together, and so at most of all",
    ),
    share_low=_NUMBER,
    share_high=_NUMBER,
    heat_max=_said(_MAYBE_NUMBER, "share of the ceiling in the hottest column"),
    heat_max_at=_MAYBE_TIME,
    throttled=_said(_maybe(_COUNT), "throttled tries in the time of the map; null: not known"),
    pattern=_MAYBE_TEXT,
    caller=_MAYBE_TEXT,
)

_LABEL = _object(
    kind={"enum": ["hot-band", "rolling-diagonal", "periodic-burst", "all-rows-jump"]},
    row=_said({"type": ["integer", "null"]}, "number of the row from 0; null where it is a shape of many rows"),
    from_=_TIME,
    to=_TIME,
    text=_TEXT,
)

_MAP = _object(
    v=_V,
    as_of=_TIME,
    **_PLACE,
    direction=_DIRECTION,
    start=_said(_TIME, "start of the first column"),
    step_ms=_said(_COUNT, "10000 or 1000; 60000 where Contributor Insights tells the keys"),
    columns=_COUNT,
    mode={"enum": ["ceiling", "relative"]},
    keys=_KEYS,
    hint=_said(_MAYBE_TEXT, "how keys become visible"),
    how_to_see=_said(_MAYBE_TEXT, "how keys are seen in clear; null where they are"),
    rows_id=_said(_TEXT, "the same as long as the rows are the same, in the same order"),
    rows=_list(_ROW),
    heat=_said(
        _BYTES, "uint8, row by row: 100 × share of the ceiling (or of the greatest cell), at most 250; 255: not known"
    ),
    low=_said(_BYTES, "lower bound of heat, the same way"),
    high=_said(_BYTES, "upper bound of heat, the same way"),
    throttled=_said(_BYTES, "uint8, row by row: throttled tries, at most 255; 0 too where a row's are not known"),
    top=_object(
        units=_said(_list(_MAYBE_NUMBER), "capacity units a second of the target by column"),
        limit=_said(_MAYBE_NUMBER, "units a second that it is provisioned for now; null: on demand, or not known"),
        limits=_said(
            _list(_object(at=_TIME, units=_MAYBE_NUMBER)),
            "what it was provisioned for from which time on; may be empty",
        ),
        ceiling=_said(_NUMBER, "units a second that one partition serves"),
    ),
    marks=_list(_object(at=_TIME, what=_TEXT, kind={"enum": ["change", "finding"]})),
    labels=_list(_LABEL),
    text=_said(_list(_TEXT), "the map in words: one line a row"),
)

_TARGET = _object(
    **_PLACE,
    direction=_DIRECTION,
    keys=_KEYS,
    heat=_said(_maybe(_ESTIMATE), "of its hottest key; null where keys are not visible"),
    units_a_second=_MAYBE_NUMBER,
    limit=_MAYBE_NUMBER,
    throttled=_said(_NUMBER, "throttled tries in the window"),
)

_PATTERN: Node = {
    **_open(
        "kind",
        "pattern",
        "account",
        "region",
        "table",
        "index",
        "operation",
        "requests",
        "units",
        "waste_units",
        "p99_ms",
    ),
    "properties": {"share": _said(_MAYBE_NUMBER, "of all units of the report's patterns"), "calls": _maybe(_SPARK)},
}

_LAG = _object(
    p50=_maybe(_ESTIMATE),
    p95=_maybe(_ESTIMATE),
    p99=_maybe(_ESTIMATE),
    writes=_COUNT,
    reads=_COUNT,
    stale_after_second=_said(_MAYBE_NUMBER, "share of reads a second or more after a write that missed it"),
)

_INDEX = _object(
    **_PLACE,
    lag=_said(_maybe(_LAG), "seconds; null where nothing tells it, then `hint` says how to see it"),
    hint=_MAYBE_TEXT,
    tolerance_seconds=_MAYBE_NUMBER,
    throttles=_list(_object(direction=_DIRECTION, cause=_TEXT, tries=_NUMBER)),
    write_units_a_second=_MAYBE_NUMBER,
    write_limit=_MAYBE_NUMBER,
    findings=_said(_list(_TEXT), "ids of findings about the index"),
)

_SOURCE = _object(source=_TEXT, up=_FLAG, last_success=_MAYBE_TIME, delay_seconds=_MAYBE_NUMBER)

_HONESTY = _object(
    v=_V,
    as_of=_MAYBE_TIME,
    sampling=_object(
        sampled=_FLAG,
        lowest_rate=_said(_MAYBE_NUMBER, "the lowest probability with which records of the window were kept"),
    ),
    coverage=_said(_list(_ANY), "as in the report"),
    sources=_list(_SOURCE),
    sketch_error=_said(_MAYBE_NUMBER, "the greatest share of a target's units that a key could have and not be listed"),
    records=_said({"type": "object", "additionalProperties": _COUNT}, "read, bad, dropped, late, future, duplicate …"),
    gaps=_said(_list(_ANY), "as in the report"),
    skipped=_said(_list(_object(detector=_TEXT, places=_COUNT)), "detectors that could not judge, and how many places"),
    observing_until=_said(_MAYBE_TIME, "nothing pages before"),
    observing=_FLAG,
    analysis_seconds=_MAYBE_NUMBER,
    cost_usd=_said(_MAYBE_NUMBER, "what reading from AWS cost so far, at list price; null where nothing is read"),
)

_PARTS = ("verdict", "findings", "patterns", "heatmap", "gsi", "honesty")

_UPDATE: Node = {
    "type": "object",
    "properties": {
        "as_of": _TIME,
        "slice_ms": _said(_COUNT, "how often something is judged; nothing for three times that long is stale"),
        "changed": _list({"enum": list(_PARTS)}),
        "verdict": _open("state", "text", "confidence", "finding"),
        "findings": _list(_ANY),
        "patterns": _list(_PATTERN),
        "gsi": _list(_INDEX),
        "honesty": _HONESTY,
        "heatmap": _object(
            **_PLACE,
            direction=_DIRECTION,
            mode={"enum": ["ceiling", "relative"]},
            rows_id=_TEXT,
            start=_said(_TIME, "start of the map's first column now"),
            step_ms=_COUNT,
            first=_said({"type": ["integer", "null"]}, "number of the first column that is here"),
            columns=_said({"type": ["integer", "null"]}, "how many are here; null: fetch the map anew"),
            heat=_said(_BYTES, "as in the map, rows × columns that are here"),
            throttled=_BYTES,
            top=_list(_MAYBE_NUMBER),
        ),
    },
    "required": ["as_of", "changed", "slice_ms"],
    "additionalProperties": False,
}

_CHANGE = _object(
    time=_TIME,
    what=_TEXT,
    table=_MAYBE_TEXT,
    index=_MAYBE_TEXT,
    who=_MAYBE_TEXT,
    detail=_MAYBE_TEXT,
    source=_MAYBE_TEXT,
    account=_MAYBE_TEXT,
    region=_MAYBE_TEXT,
)

_SNOOZE: Node = {
    "type": "object",
    "properties": {"id": _TEXT, "until": _said(_TEXT, "a day, or a time"), "reason": _TEXT, "who": _TEXT},
    "required": ["id", "reason", "until"],
    "additionalProperties": False,
}

_MARK: Node = {
    "type": "object",
    "properties": dict.fromkeys(("detail", "what", "table", "index", "who"), _TEXT) | {"time": _TIME},
    "required": ["detail"],
    "additionalProperties": False,
}

SCHEMAS: Node = {
    "Changes": _object(v=_V, as_of=_TIME, changes=_list(_CHANGE)),
    "Ended": _object(v=_V, id=_TEXT),
    "Figure": _object(data=_list(_ANY), layout=_ANY),
    "Findings": _object(v=_V, window=_WINDOW, as_of=_MAYBE_TIME, verdict=_ANY, findings=_list(_ANY)),
    "HeatMap": _MAP,
    "Honesty": _HONESTY,
    "Indexes": _object(v=_V, as_of=_TIME, indexes=_list(_INDEX)),
    "Mark": _MARK,
    "Marked": _object(
        v=_V,
        time=_TIME,
        what=_TEXT,
        detail=_TEXT,
        written=_said({"type": "boolean"}, "false: the daemon cannot write its state, and a restart forgets it"),
    ),
    "Patterns": _object(v=_V, as_of=_TIME, window=_WINDOW, patterns=_list(_PATTERN)),
    "Report": _said(
        _open("v", "window", "as_of", "verdict", "findings", "patterns", "keys"), "docs/reference/formats.md"
    ),
    "Snooze": _SNOOZE,
    "Snoozed": _open("v", "id", "until", "reason"),
    "Snoozes": _object(
        v=_V,
        snoozes=_list(_open("id", "until", "reason")),
        lost=_said(_MAYBE_TEXT, "that snoozes were lost with a damaged file; null where none were"),
    ),
    "Targets": _object(v=_V, as_of=_TIME, targets=_list(_TARGET)),
    "Update": _UPDATE,
}
"""By name."""
