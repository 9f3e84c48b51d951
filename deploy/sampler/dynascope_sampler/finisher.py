"""From a raw record to the record that is written: keys under their policy, names that look like values hidden."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dynascope_sampler.writer import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dynascope_sampler.keys import KeyPolicy
    from dynascope_sampler.record import Raw
    from dynascope_sampler.sampling import Choice
    from dynascope_sampler.schema import Schema

__all__ = ["Finisher"]

_EXPRESSIONS = ("key_condition", "filter", "projection", "update", "condition")
_RUN_OF_DIGITS = re.compile(r"[0-9]{4}")
_LONGEST_NAME = 48
_ODD = frozenset("@:/#|~ ")
_ODD_INSIDE = frozenset("0123456789-")
_NUMBER_LIKE = re.compile(r"[-+.:0-9TZ]{1,40}")
_CACHE_ENTRIES = 5_000


class Finisher:
    """Called by the writer thread with each raw record; its result is what the line says."""

    def __init__(self, policy: KeyPolicy, schema: Schema, constant: Mapping[str, Any]) -> None:
        """Take the key policy, what is known of tables, and the fields that every record has."""
        self._policy = policy
        self._schema = schema
        self._constant = dict(constant)
        self._odd_names: dict[tuple[str, bool], bool] = {}

    def __call__(self, raw: Raw, choice: Choice) -> dict[str, Any]:
        """Return the record."""
        record: dict[str, Any] = {"v": 1, "time": format_time(raw.time), **raw.fields, **self._constant}
        policy = self._policy
        literals: frozenset[str] = frozenset() if raw.table is None else self._schema.table(raw.table).literals
        if raw.key:
            record["key"] = policy.key(raw.key, literals)
        if raw.index_keys:
            record["index_keys"] = {index: policy.key(key, literals) for index, key in raw.index_keys.items()}
        if raw.values:
            record["values"] = policy.key(raw.values, literals)
        if raw.names:
            record["names"] = self._names(raw, record)
        if raw.parts is not None:
            record["parts"] = [self._part(part) for part in raw.parts]
        if raw.returned:
            record["returned"] = self._returned(raw.returned, raw.versions, literals)
        if raw.ttl is not None:
            record["ttl_seen"] = self._ttl(*raw.ttl)
        probability, strata = choice
        if strata is not None:
            record["sample_rate"] = max(probability, 1e-9)
            record["strata"] = [{"by": by, "rate": rate} for by, rate in strata]
        return record

    def _returned(self, keys: list[Any], versions: list[Any] | None, literals: frozenset[str]) -> list[dict[str, str]]:
        joined = self._policy.joined
        returned = [{"key": joined(key, literals)} for key in keys]
        for item, version in zip(returned, versions or ()):
            if version is not None:
                item["version"] = joined((version,), literals)
        return returned

    def _part(self, part: dict[str, Any]) -> dict[str, Any]:
        literals = self._schema.table(part.get("table") or "").literals
        if "key" in part:
            part["key"] = self._policy.key(part["key"], literals)
        if "index_keys" in part:
            part["index_keys"] = {name: self._policy.key(key, literals) for name, key in part["index_keys"].items()}
        return part

    def _names(self, raw: Raw, record: Mapping[str, Any]) -> dict[str, str]:
        """Return the attribute names, but hide those that look like values: keys of maps often are ids."""
        names = dict(raw.names)
        if self._policy.policy == "reveal":
            return names
        texts = [record[field] for field in _EXPRESSIONS if field in record]
        for part in raw.parts or ():
            texts += [part[field] for field in ("condition", "update") if part.get(field)]
        inside = " ".join(texts) if any("." in text for text in texts) else ""
        for placeholder, name in names.items():
            if self._is_odd(name, is_nested=bool(inside) and f".{placeholder}" in inside):
                names[placeholder] = self._policy.segment(name, frozenset())
        return names

    def _is_odd(self, name: str, *, is_nested: bool) -> bool:
        found = self._odd_names.get((name, is_nested))
        if found is None:
            found = (
                len(name) > _LONGEST_NAME
                or _RUN_OF_DIGITS.search(name) is not None
                or not _ODD.isdisjoint(name)
                or (is_nested and not _ODD_INSIDE.isdisjoint(name))
            )
            if len(self._odd_names) >= _CACHE_ENTRIES:
                self._odd_names.clear()
            self._odd_names[name, is_nested] = found
        return found

    def _ttl(self, attribute: str, value: tuple[str, str] | None, expired: int | None) -> dict[str, Any]:
        """Return `ttl_seen`; the raw value stays only where it is a time, whatever its type."""
        seen: dict[str, Any] = {"attribute": attribute}
        if value is not None:
            kind, text = value
            is_time = kind == "N" or _NUMBER_LIKE.fullmatch(text) is not None
            seen["value"] = {kind: text if is_time or self._policy.policy == "reveal" else "?"}
        if expired is not None:
            seen["expired_returned"] = expired
        return seen
