"""The report of a daemon that runs, fetched and read back as a value."""

from __future__ import annotations

import json
import urllib.error
from typing import Any
from urllib.parse import urlsplit

import msgspec

from analyzer.cli.talking import call_daemon, hint_of
from analyzer.errors import CollectError, MalformedError, UsageError
from analyzer.model.instant import parse_instant
from analyzer.model.report import Report
from analyzer.render.json import TIMES

__all__ = ["fetch_report", "read_report"]

_VERSION = 1
_HINT = (
    "say where `dynascope run` listens, such as http://127.0.0.1:8642; without a daemon `dynascope diagnose` asks AWS"
)


def fetch_report(url: str) -> Report:
    """Return the last report of the daemon at a URL; raises UsageError, or CollectError where it gives none."""
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise UsageError(f"{url} is no address of a daemon; {_HINT}")
    place = f"{url.rstrip('/')}/api/v1/report"
    try:
        return read_report(call_daemon(place))
    except urllib.error.HTTPError as refusal:
        with refusal:
            hint = hint_of(refusal.code, _HINT)
            raise CollectError(f"{place}: {refusal.code} {refusal.reason}", hint=hint) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        why = getattr(reason, "strerror", None) or type(error).__name__
        raise CollectError(f"no daemon answers at {url}: {why}", hint=_HINT) from None


def read_report(body: bytes) -> Report:
    """Read a report, version 1, as `--format json` writes it; raises MalformedError."""
    hint = "this reads reports of version 1, as `dynascope run` serves them"
    try:
        told = json.loads(body)
        if told.get("v") != _VERSION:
            raise MalformedError(f"the report is of version {told.get('v')}", hint=hint)
        if told.get("window") is None:
            told |= {"window": {"start": 0, "end": 0}, "as_of": 0}
        return msgspec.convert(_timed(told), Report)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise MalformedError(f"the answer is no report: {type(error).__name__}", hint=hint) from None


def _timed(value: Any) -> Any:  # noqa: ANN401 -- JSON holds anything
    """Return a document with its times as instants."""
    if isinstance(value, list):
        return [_timed(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        name: parse_instant(field) if name in TIMES and isinstance(field, str) else _timed(field)
        for name, field in value.items()
    }
