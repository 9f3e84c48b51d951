"""A map as JSON: heat as bytes, rows with their numbers, and all of it in words."""

from __future__ import annotations

import base64
import secrets
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.model.heatmap import KeysFrom, RowKind
from analyzer.model.instant import format_instant
from analyzer.render.json import plain_value
from analyzer.render.show import has_tokens, view_of
from analyzer.render.words import clock, key_words, share

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.heatmap import HeatMap, HeatRow
    from analyzer.model.instant import Instant
    from analyzer.render.show import Policy
    from analyzer.requests.tokens import Salt

__all__ = [
    "HOTTEST",
    "UNKNOWN",
    "columns_object",
    "heat_bytes",
    "map_object",
    "numbers",
    "place_object",
    "row_labels",
    "rows_id",
]

HOTTEST = 250
UNKNOWN = 255
_MOST_COUNT = 255
_SECRET = secrets.token_bytes(16)
"""Row ids are good within one process: they tell nothing about the keys to anybody else."""


def map_object(
    heat_map: HeatMap, as_of: Instant, policy: Policy, salt: Salt | None = None, *, is_relative: bool = False
) -> dict[str, Any]:
    """Return a map as plain values."""
    labels = row_labels(heat_map, policy, salt)
    shown = heat_bytes(heat_map, is_relative=is_relative)
    bounds = shown if is_relative else None
    return {
        "v": 1,
        "as_of": format_instant(as_of),
        **place_object(heat_map),
        "start": format_instant(heat_map.start),
        "step_ms": heat_map.step_ms,
        "columns": heat_map.columns,
        "mode": "relative" if is_relative else "ceiling",
        "keys": heat_map.keys.value,
        "hint": heat_map.hint,
        "how_to_see": _how_to_see(heat_map, policy),
        "rows_id": rows_id(heat_map),
        "rows": [_row(heat_map, at, label, policy, salt) for at, label in enumerate(labels)],
        "heat": _written(shown),
        "low": _written(_hundredths(heat_map.low) if bounds is None else bounds),
        "high": _written(_hundredths(heat_map.high) if bounds is None else bounds),
        "throttled": _written(_counts(heat_map.throttled)),
        "top": {
            "units": numbers(heat_map.top),
            "limit": heat_map.limit,
            "limits": [{"at": format_instant(one.at), "units": one.units} for one in heat_map.limits],
            "ceiling": heat_map.ceiling,
        },
        "marks": [
            {"at": format_instant(mark.at), "what": mark.what, "kind": mark.kind.value} for mark in heat_map.marks
        ],
        "labels": [
            {
                "kind": label.kind.value,
                "row": label.row,
                "from": format_instant(label.start),
                "to": format_instant(label.end),
                "text": label.text,
            }
            for label in heat_map.labels
        ],
        "text": [_in_words(heat_map, at, label) for at, label in enumerate(labels)],
    }


def columns_object(heat_map: HeatMap, first: int | None, *, is_relative: bool = False) -> dict[str, Any]:
    """Return the columns of a map from one on; with None none of them, since the map is to be fetched anew."""
    part = slice(0, 0) if first is None else slice(first, None)
    return {
        **place_object(heat_map),
        "mode": "relative" if is_relative else "ceiling",
        "rows_id": rows_id(heat_map),
        "start": format_instant(heat_map.start),
        "step_ms": heat_map.step_ms,
        "first": first,
        "columns": None if first is None else heat_map.columns - first,
        "heat": _written(heat_bytes(heat_map, is_relative=is_relative)[:, part]),
        "throttled": _written(_counts(heat_map.throttled)[:, part]),
        "top": numbers(heat_map.top[part]),
    }


def place_object(heat_map: HeatMap) -> dict[str, Any]:
    """Return what a map is of."""
    target = heat_map.target
    place = {"account": target.account, "region": target.region, "table": target.table, "index": target.index}
    return {**place, "direction": heat_map.direction.value}


def heat_bytes(heat_map: HeatMap, *, is_relative: bool = False) -> np.ndarray:
    """Return the heat as uint8: hundredths of the ceiling, or of the map's greatest cell."""
    if not is_relative:
        return _hundredths(heat_map.heat)
    known = heat_map.units[np.isfinite(heat_map.units)]
    greatest = float(known.max()) if known.size else 0.0
    return _hundredths(heat_map.units / greatest if greatest else heat_map.units)


def row_labels(heat_map: HeatMap, policy: Policy, salt: Salt | None = None) -> list[str]:
    """Return what the rows are called: the key as the policy allows, and its rank where several look the same."""
    view = view_of(policy, salt)
    names = [key_words(view(row.key, row.key_template)) for row in heat_map.rows]
    times = Counter(name for name, row in zip(names, heat_map.rows, strict=True) if row.kind is RowKind.KEY)
    found: list[str] = []
    for name, row in zip(names, heat_map.rows, strict=True):
        if row.kind is RowKind.REST:
            found.append("all other keys")
        elif row.kind is RowKind.PREFIX:
            found.append(f"{name} (others)")
        else:
            found.append(f"{name} · {row.rank}" if times[name] > 1 else name)
    return found


def rows_id(heat_map: HeatMap) -> str:
    """Return a name for these rows in this order; it tells nothing of the keys."""
    hashed = blake2b(key=_SECRET, digest_size=8)
    for row in heat_map.rows:
        hashed.update(repr((row.kind.value, row.key, row.key_template)).encode())
    return hashed.hexdigest()


def numbers(values: np.ndarray) -> list[float | int | None]:
    """Return numbers as JSON has them, to a thousandth; what is not known is null."""
    return [plain_value(round(value, 3)) for value in values.astype(float).tolist()]


def _how_to_see(heat_map: HeatMap, policy: Policy) -> str | None:
    """Say how the keys of a map are seen in clear; None where they are, or where there are none."""
    keys = [row.key for row in heat_map.rows if row.kind is not RowKind.REST]
    if any(has_tokens(key) for key in keys):
        shown = "" if policy == "token" else "`keys: token` in the daemon's configuration shows it; "
        return f"Of a key the log tells a token alone: {shown}`dynascope key TOKEN` looks up whose it is."
    if not keys or policy == "reveal":
        return None
    return f"Keys are shown as {policy}s: `keys: reveal` in the daemon's configuration shows them."


def _row(heat_map: HeatMap, at: int, label: str, policy: Policy, salt: Salt | None) -> dict[str, Any]:
    row = heat_map.rows[at]
    hottest = _hottest(heat_map, at)
    return {
        "label": label,
        "kind": row.kind.value,
        "key": view_of(policy, salt)(row.key, row.key_template) if row.kind is not RowKind.REST else None,
        "token": _token(row, policy, salt),
        "rank": row.rank,
        "members": row.members,
        **{f"units{end}": plain_value(float(value)) for end, value in zip(_ENDS, row.units, strict=True)},
        **{f"share{end}": plain_value(float(value)) for end, value in zip(_ENDS, row.share, strict=True)},
        "heat_max": None if hottest is None else plain_value(float(heat_map.heat[at, hottest])),
        "heat_max_at": None if hottest is None else format_instant(heat_map.start + hottest * heat_map.step_ms),
        "throttled": _tries(heat_map, at),
        "pattern": row.pattern,
        "caller": row.caller,
    }


_ENDS = ("", "_low", "_high")
_OF_LISTED = "what is listed, reads and writes together"


def _token(row: HeatRow, policy: Policy, salt: Salt | None) -> str | None:
    if policy == "template" or row.kind is not RowKind.KEY:
        return None
    shown = view_of("token", salt)(row.key, row.key_template) or {}
    return next((str(value) for value in shown.values()), None)


def _hottest(heat_map: HeatMap, at: int) -> int | None:
    known = np.isfinite(heat_map.heat[at])
    return int(np.nanargmax(heat_map.heat[at])) if known.any() else None


def _in_words(heat_map: HeatMap, at: int, label: str) -> str:
    """Say a row in one line."""
    row = heat_map.rows[at]
    is_listed = heat_map.keys is KeysFrom.CONTRIBUTOR_INSIGHTS
    whole = _OF_LISTED if is_listed else f"{heat_map.direction.value}s{_bounds(row.share.low, row.share.high, share)}"
    words = [f"{label}: {share(row.share.value)} of {whole}"]
    hottest = _hottest(heat_map, at)
    if hottest is not None:
        what = "its hottest key" if row.kind is not RowKind.KEY else "hottest"
        when = clock(heat_map.start + hottest * heat_map.step_ms)
        low, high = float(heat_map.low[at, hottest]), float(heat_map.high[at, hottest])
        edges = _bounds(low, high, "{:.2f}".format) if is_listed else ""
        words.append(f"{what} {heat_map.heat[at, hottest]:.2f}{edges} of the ceiling at {when}")
    tries = _tries(heat_map, at)
    if tries or tries is None:
        words.append("throttled tries not known" if tries is None else f"{tries:,} throttled tries")
    if row.pattern or row.caller:
        words.append(" by ".join(one for one in (row.pattern, row.caller) if one))
    return ", ".join(words)


def _bounds(low: float, high: float, word: Callable[[float], str]) -> str:
    return "" if word(low) == word(high) else f" ({word(low)}–{word(high)})"


def _tries(heat_map: HeatMap, at: int) -> int | None:
    """Return the throttled tries of a row, None where nothing told any of them."""
    tries = heat_map.throttled[at]
    return int(np.nansum(tries)) if np.isfinite(tries).any() else None


def _hundredths(values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    scaled = np.clip(np.rint(np.where(known, values, 0.0) * 100), 0, HOTTEST)
    shown: np.ndarray = np.where(known, scaled, UNKNOWN).astype(np.uint8)
    return shown


def _counts(values: np.ndarray) -> np.ndarray:
    counted: np.ndarray = np.clip(np.nan_to_num(values), 0, _MOST_COUNT).astype(np.uint8)
    return counted


def _written(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
