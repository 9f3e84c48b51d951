"""The reference page of the configuration, written from its model: every key, its default and what it means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin

import msgspec

from analyzer.config import Settings
from analyzer.detectors import DETECTORS
from analyzer.render.pages import detector_page
from analyzer.requests.digest_limits import DigestLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

__all__ = ["LIMITS", "configuration_page"]

LIMITS = {
    "batch": "rows of counts that wait to be added",
    "rows": "rows of keys that wait to be folded into the sketches",
    "cells": "shapes with their caller and sample rate; what lies beyond is counted as unparsed",
    "routes": "raw texts of requests remembered with what they are",
    "grammar": "raw texts never seen before that are parsed in a second of log time",
    "slices": "slices of 10 s that are kept before the oldest is folded away",
    "ids": "request ids remembered for up to 60 s, and once more as many, to see a record twice",
    "heavy": "heavy keys kept of a hot table or index in one slice",
    "past": "heavy keys kept of all slices before",
    "calls": "claims on the calls that are kept whole: by their trace, by their key, or by caller and shape",
    "hours": "clock hours counted of a shape",
    "future_ms": "how many milliseconds a record may be ahead of the clock",
    "late_ms": "how many milliseconds a record may be behind the newest before it counts as late",
}
"""What each bound of the digest means."""

_REQUIRED = "to be set"
_LINK_TO_A_NEIGHBOR = re.compile(r"\]\(([a-z-]+)\.md")
"""Detectors' pages lie side by side, and this page beside them."""

_HEAD = """\
# Configuration

Written from `analyzer/config.py`; a test compares them.

`dynascope run --config FILE` reads it, and so does every command that has `--config`. It is YAML, or JSON. Paths are
taken from the file's own folder. Durations are written `30s`, `5m`, `1h30m`. `dynascope config --config FILE` tries the
file and prints what holds; `dynascope config --schema` prints its JSON Schema for an editor.

The environment overrides the secrets and nothing else: `DYNASCOPE_SALT` or `DYNASCOPE_SALT_FILE`, `DYNASCOPE_TOKEN` or
`DYNASCOPE_TOKEN_FILE`.

SIGHUP makes the daemon read it again. `listen`, `tls`, `state`, `log`, `aws` and its collectors take a restart; a
faulty file is told with every fault at once, and the old one is kept. Where others reach the old address, and nothing
would guard it until a restart, the old token holds on and an error says so.

| key | default | meaning |
| --- | --- | --- |
"""


def configuration_page() -> str:
    """Write the page."""
    parts = [_HEAD, *(_row(*row) for row in _settings(Settings, "", Settings.model_validate({}).effective()))]
    parts += [
        "\n## limits\n\nEach is a whole number from 1.\n\n| key | default | what it bounds |\n| --- | --- | --- |\n"
    ]
    parts += [
        _row(f"limits.{field.name}", field.default, LIMITS[field.name])
        for field in msgspec.structs.fields(DigestLimits)
    ]
    parts += ["\n## detectors\n\nThresholds by detector; each page says more.\n"]
    for detector in DETECTORS:
        parts += _detector(cast("type[msgspec.Struct]", detector), detector.name)
    return "".join(parts)


def _settings(model: type[BaseModel], before: str, effective: dict[str, Any]) -> Iterator[tuple[str, object, str]]:
    for name, field in model.model_fields.items():
        key = field.alias or name
        inner = field.annotation
        if isinstance(inner, type) and hasattr(inner, "model_fields"):
            yield from _settings(cast("type[BaseModel]", inner), f"{before}{key}.", effective[key])
            continue
        default = None if name in {"salt", "token"} else effective.get(key, _REQUIRED)
        yield before + key, default, field.description or ""
        for part in get_args(inner):
            if hasattr(part, "model_fields"):  # sections in a list or by name, or one that may be left out
                many = "[]." if get_origin(inner) is tuple else ".*." if get_origin(inner) is dict else "."
                yield from _settings(part, f"{before}{key}{many}", _defaults(part))


def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    """Return what holds where a section says nothing; a key that it must say is left out."""
    required = {
        name: 0.0 if field.annotation is float else "name"
        for name, field in model.model_fields.items()
        if field.is_required()
    }
    said = model.model_validate(required).model_dump(mode="json")
    return {key: value for key, value in said.items() if key not in required}


def _detector(detector: type[msgspec.Struct], name: str) -> Iterator[str]:
    fields = msgspec.structs.fields(detector)
    if not fields:
        return
    page = detector_page(name) or ""
    reasons = dict(re.findall(r"^\| `(\w+)` \| \S+ \| (.+) \|$", page, re.MULTILINE))
    yield f"\n### [{name}](../detectors/{name}.md)\n\n| key | default | why |\n| --- | --- | --- |\n"
    for field in fields:
        reason = _LINK_TO_A_NEIGHBOR.sub(r"](../detectors/\1.md", reasons.get(field.name, ""))
        yield _row(f"detectors.{name}.{field.name}", field.default, reason)


def _row(key: str, default: object, meaning: str) -> str:
    return f"| `{key}` | {_written(default)} | {meaning} |\n"


def _written(value: object) -> str:
    if value in (None, [], {}, ""):
        return "none"
    if value is _REQUIRED:
        return _REQUIRED
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
