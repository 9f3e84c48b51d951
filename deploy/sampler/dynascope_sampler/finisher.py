"""From a raw record to the record that is written: keys under their policy, names that look like values hidden."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dynascope_sampler.expressions_masked import MaskedExpressions, mask_expressions
from dynascope_sampler.statements import is_odd_name
from dynascope_sampler.writer import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dynascope_sampler.keys import KeyPolicy
    from dynascope_sampler.record import Raw
    from dynascope_sampler.sampling import Choice
    from dynascope_sampler.schema import Schema

__all__ = ["Finisher"]

_EXPRESSIONS = ("key_condition", "filter", "projection", "update", "condition")
_EXPRESSIONS_OF_A_PART = ("update", "condition")
_NONE = (None,) * len(_EXPRESSIONS)
_NO_NUMBERS: dict[str, str] = {}
_REFUSED = frozenset({"ValidationException", "SerializationException"})
_REFUSED_MEMBER = frozenset({"ValidationError"})
_ODD = frozenset("@:/#|~ ")
_NUMBER_LIKE = re.compile(r"[-+.:0-9TZ]{1,40}")
_CACHE_ENTRIES = 5_000
_CACHED_EXPRESSIONS = 1_000


def _is_refused(error: Mapping[str, Any] | None) -> bool:
    """Whether a call was refused as invalid, so that its expressions may be no expressions."""
    return error is not None and (
        error["code"] in _REFUSED or not _REFUSED_MEMBER.isdisjoint(error.get("cancellation") or ())
    )


class Finisher:
    """Called by the writer thread with each raw record; its result is what the line says."""

    def __init__(self, policy: KeyPolicy, schema: Schema, constant: Mapping[str, Any]) -> None:
        """Take the key policy, what is known of tables, and the fields that every record has."""
        self._policy = policy
        self._schema = schema
        self._constant = dict(constant)
        self._odd_names: dict[str, bool] = {}
        self._masked: dict[Any, MaskedExpressions] = {}

    def __call__(self, raw: Raw, choice: Choice) -> dict[str, Any]:
        """Return the record."""
        record: dict[str, Any] = {"v": 1, "time": format_time(raw.time), **raw.fields, **self._constant}
        policy = self._policy
        literals: frozenset[str] = frozenset() if raw.table is None else self._schema.table(raw.table).literals
        masked = None if policy.policy == "reveal" else self._mask(raw, record)
        is_lost = masked is not None and masked.texts[0] is None and "key_condition" in raw.fields
        if raw.key and not is_lost:
            is_vouched = masked is None or "error" not in raw.fields  # else nobody accepted the names
            key = raw.key if is_vouched else tuple(entry for entry in raw.key if not self._is_odd(entry[0]))
            record["key"] = policy.key(key, literals)
        if raw.index_keys:
            record["index_keys"] = {index: policy.key(key, literals) for index, key in raw.index_keys.items()}
        if raw.values and not is_lost:
            held = policy.key(raw.values, literals)
            numbers = masked.values if masked is not None else _NO_NUMBERS
            record["values"] = {numbers.get(name, name): value for name, value in held.items()} if numbers else held
        if raw.names or (masked is not None and masked.fixed):
            record.update(self._names(raw, masked))
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

    def _mask(self, raw: Raw, record: dict[str, Any]) -> MaskedExpressions | None:
        """Put masked expressions in place of the request's; None where it has none."""
        fields = raw.fields
        own = tuple([fields.get(field) for field in _EXPRESSIONS])
        holders: list[tuple[dict[str, Any], tuple[str, ...]]] = [(record, _EXPRESSIONS)]
        groups: tuple[tuple[str | None, ...], ...] = (own,)
        for part in raw.parts or ():
            if "condition" in part or "update" in part:
                holders.append((part, _EXPRESSIONS_OF_A_PART))
                groups += ((part.get("update"), part.get("condition")),)
        if own == _NONE and len(groups) == 1:
            return None
        key = (_is_refused(fields.get("error")), groups)
        masked = self._masked.get(key)
        if masked is None:
            masked = mask_expressions(groups, refused=key[0], hide=self._hide)
            if len(self._masked) >= _CACHED_EXPRESSIONS:
                self._masked.clear()
            self._masked[key] = masked
        texts = iter(masked.texts)
        for holder, names in holders:
            for name in names:
                text = next(texts)
                if text is not None:
                    holder[name] = text
                elif name in holder:
                    del holder[name]
        return masked

    def _names(self, raw: Raw, masked: MaskedExpressions | None) -> dict[str, Any]:
        """Return `names`, of the placeholders that are left; names that look like values are hidden."""
        if masked is None:
            return {"names": dict(raw.names)} if self._policy.policy == "reveal" else {}
        names = dict(masked.fixed)
        given = raw.names
        for fresh, placeholder in masked.names:
            name = given.get(placeholder)
            if name is not None:
                names[fresh] = self._hide(name) if self._is_odd(name) else name
        return {"names": names} if names else {}

    def _hide(self, name: str) -> str:
        return self._policy.segment(name, frozenset())

    def _is_odd(self, name: str) -> bool:
        found = self._odd_names.get(name)
        if found is None:
            found = is_odd_name(name) or not _ODD.isdisjoint(name)
            if len(self._odd_names) >= _CACHE_ENTRIES:
                self._odd_names.clear()
            self._odd_names[name] = found
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
