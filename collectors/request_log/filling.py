"""One record gets what another record of the same request knows: what it says itself stays as it is."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["filled"]

_EXPRESSIONS = ("key_condition", "filter", "projection", "update", "condition", "statement")
_PLACEHOLDERS = ("names", "values")
_WITH_KEYS = ("key", "index_keys", "parts", "returned", "values")
_OWN = frozenset(
    {"v", "time", "op", "request_id", "sample_rate", "strata", "keys", "salt_id", "pattern", "handed_back"}
)
"""What belongs to one record: how it was sampled, how its keys are written, what its client said."""

_APART = frozenset({*_OWN, *_EXPRESSIONS, *_PLACEHOLDERS, *_WITH_KEYS, "caller_version"})


def filled(line: bytes, other: bytes) -> bytes:
    """Return the first record with what only the second knows, as a line; what cannot be read is left alone.

    Placeholders mean something in their own expressions alone, so these come together or not at all. Key values of
    another policy or salt are not mixed.
    """
    try:
        record, found = msgspec.json.decode(line), msgspec.json.decode(other)
    except ValueError:
        return line
    if not isinstance(record, dict) or not isinstance(found, dict):
        return line
    known = {name: value for name, value in record.items() if value is not None}
    found = {name: value for name, value in found.items() if value is not None}
    for name, value in found.items():
        if name not in _APART:
            known.setdefault(name, value)
    if "caller" in found and "caller" not in record:
        known |= {name: found[name] for name in ("caller_version",) if name in found}
    _fill_keys(known, found)
    return msgspec.json.encode(known) + b"\n"


def _fill_keys(record: dict[str, Any], found: dict[str, Any]) -> None:
    """Fill expressions and key values, which hang together."""
    has_keys = any(name in record for name in _WITH_KEYS)
    may_mix = not has_keys or _policy(record) == _policy(found)
    if not any(name in record for name in (*_EXPRESSIONS, *_PLACEHOLDERS)):
        taken = (*_EXPRESSIONS, *_PLACEHOLDERS) if may_mix else (*_EXPRESSIONS, "names")
        record.update({name: found[name] for name in taken if name in found})
    if not may_mix:
        return
    for name in ("key", "index_keys", "returned"):
        if name in found:
            record.setdefault(name, found[name])
    if "parts" in found and "parts" not in record:
        record.update({name: found[name] for name in ("parts", "handed_back") if name in found})
    if not has_keys and any(name in record for name in _WITH_KEYS):
        for name in ("keys", "salt_id"):  # the values are written as the other says
            record.pop(name, None)
            record.update({name: found[name]} if name in found else {})


def _policy(record: dict[str, Any]) -> tuple[object, object]:
    return record.get("keys", "reveal"), record.get("salt_id")
