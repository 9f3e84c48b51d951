"""Requests as a recording may hold them: what judges, key values as tokens, and nothing else of what the log says.

A line is read as the digest reads it, so that what is left out here is what nothing looks at.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from analyzer.model.request import Consumed, Part, RequestError, Returned, Stratum, Try, TtlSeen
from analyzer.requests.digest_block import ABSENT, Line
from analyzer.requests.digest_routes import table_name
from analyzer.requests.masking import mask_name, mask_statement, masked_statement
from analyzer.requests.statements import table_of
from analyzer.requests.tokens import is_placeholder, is_token, key_text, rewrite, split_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from analyzer.requests.lexicon import Lexicon
    from analyzer.requests.tokens import Salt

__all__ = ["CLEAR", "Concealer", "tables_of"]

_PLAIN = (
    *("v", "time", "op", "table", "index", "region", "account", "consistent", "forward", "limit", "select"),
    *("total_segments", "caller", "pattern", "sample_rate", "latency_ms", "attempts", "scanned", "count"),
    *("returned_bytes", "more", "resumed", "unprocessed", "item_bytes", "token_sent"),
)
"""Fields that hold no key value; names of callers and patterns are the application's own, and shown everywhere."""

_EXPRESSIONS = ("key_condition", "filter", "projection", "update", "condition")
CLEAR = frozenset({None, "reveal"})
"""What a record says of its keys where they stand as they were sent."""

_LONGEST_VALUE = 2048
_LONGEST_MESSAGE = 300
_SHORT = 3
"""Pieces of a key no longer than this are words too common to be taken out of a message."""

_DEFAULTS = dict(zip(Line.__struct_fields__[1:], Line.__struct_defaults__, strict=True))
_MOST_WRITERS = 256
_MOST_VALUES = 4096
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
_KEY_WORD = re.compile(r"[A-Za-z][A-Za-z_.-]{0,31}")
"""What a sampler's list of literals leaves in clear, as `Lexicon.template` believes it."""

_AWS_ID = re.compile(r"[A-Z0-9]{52}")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\S*[#|/@=%]\S*|\d{3,}")
_LEGAL = re.compile(r"(?:(?<!\w)[#:]\w+|[\w\s.,()\[\]<>=+-])*")
"""All that an expression of DynamoDB's is made of: what holds anything else was refused, and may hold anything."""

_STEP = re.compile(r"\.\s*(?=[^\W\d])\w+")
_PLACEHOLDER = re.compile(r"(\.\s*)?(#\w+)")
_ENTRY = "#entry_"
"""Stands for the name of a map's entry that was written into an expression: it may be an id."""

_ANY_KEY = msgspec.json.Decoder(dict[str, dict[str, Any]]).decode
_INDEX_KEYS = msgspec.json.Decoder(dict[str, dict[str, dict[str, Any]]]).decode
_NAMES = msgspec.json.Decoder(dict[str, str]).decode
_PARTS = msgspec.json.Decoder(list[Part]).decode
_RETURNED = msgspec.json.Decoder(list[Returned]).decode
_CONSUMED = msgspec.json.Decoder(Consumed).decode
_TRIES = msgspec.json.Decoder(list[Try]).decode
_HANDED_BACK = msgspec.json.Decoder(list[int]).decode
_STRATA = msgspec.json.Decoder(list[Stratum]).decode
_TTL = msgspec.json.Decoder(TtlSeen).decode
_ERROR = msgspec.json.Decoder(RequestError | str).decode


def tables_of(line: Line) -> frozenset[str]:
    """Return the tables that a request names; empty where it names none."""
    tables = {table_name(line.table)} if line.table is not None else set()
    if line.statement is not None and line.table is None:
        tables.add(table_of(mask_statement(line.statement)))
    for part in (_read(_PARTS, line.parts) or ()) if line.parts is not ABSENT else ():
        named = table_name(part.table)
        tables.add(named or (table_of(mask_statement(part.statement)) if part.statement else ""))
    return frozenset(tables - {""})


class Concealer:
    """Writes requests as they may be kept, with tokens of one salt; literals are those of a contract.

    Of a log that bears tokens already those stay, and so do the words that its sampler was told are literals.
    """

    def __init__(self, lexicon: Lexicon, salt: Salt) -> None:
        self._lexicon = lexicon
        self._salt = salt
        self._writers: dict[tuple[str, bool], Callable[[str], str]] = {}

    def record(self, line: Line) -> dict[str, Any]:
        """Return the record to write of a request, field by field."""
        told = {name: getattr(line, name) for name in _PLAIN}
        record = {name: value for name, value in told.items() if value != _DEFAULTS.get(name, ABSENT)}
        is_clear = line.keys in CLEAR
        keep = self._keeping(table_name(line.table), is_clear=is_clear)
        record |= {"keys": "template" if line.keys == "template" else "token"}
        if is_clear or line.salt_id is not None:
            record["salt_id"] = self._salt.id if is_clear else line.salt_id
        record |= _expressions(line)
        record |= self._statement(line, keep)
        record |= self._keys(line, keep)
        record |= self._members(line, is_clear=is_clear)
        record |= _outcome(line)
        record |= self._traces(line)
        return record

    def _keeping(self, table: str, *, is_clear: bool) -> Callable[[str], str]:
        known = self._writers.get((table, is_clear))
        if known is None:
            if len(self._writers) >= _MOST_WRITERS:
                self._writers.clear()
            known = self._writers[table, is_clear] = self._writer(table, is_clear=is_clear)
        return known

    def _writer(self, table: str, *, is_clear: bool) -> Callable[[str], str]:
        literals = self._lexicon.literals(table)

        def segment(text: str) -> str:
            is_free = text in literals or is_token(text) or is_placeholder(text)
            is_word = not is_clear and _KEY_WORD.fullmatch(text) is not None
            return text if is_free or is_word else self._salt.token(text)

        return lru_cache(maxsize=_MOST_VALUES)(lambda text: rewrite(text, segment))

    def _statement(self, line: Line, keep: Callable[[str], str]) -> dict[str, Any]:
        """Return a statement without its literals, and its parameters under the places that they have in that."""
        values = _read(_ANY_KEY, line.values) or {}
        if line.statement is None:
            kept = _kept(values, keep, is_whole=False) if line.key_condition is not None else None
            return {} if kept is None else {"values": kept}
        masked = masked_statement(line.statement)
        words = masked.text.split(" ")
        if words.count("?") != len(masked.positions):  # a quoted name that holds a question mark
            return {"statement": masked.text}
        order: list[int | None] = []
        positions = iter(masked.positions)
        for at, word in enumerate(words):
            if word == "?":
                stands_for = next(positions) or (None,)
                order += stands_for
                words[at] = " , ".join("?" for _ in stands_for)
        known = {
            f"?{place}": values[f"?{at + 1}"]
            for place, at in enumerate(order, 1)
            if at is not None and f"?{at + 1}" in values
        }
        kept = _kept(known, keep, is_whole=False)
        return {"statement": " ".join(words)} | ({} if kept is None else {"values": kept})

    def _keys(self, line: Line, keep: Callable[[str], str]) -> dict[str, Any]:
        key = _kept(_read(_ANY_KEY, line.key) or {}, keep)
        of_indexes = _index_keys(_read(_INDEX_KEYS, line.index_keys) or {}, keep)
        returned = (
            None
            if line.returned is ABSENT
            else [
                {"key": "\t".join(map(keep, item.key.split("\t")))}
                | ({} if item.version is None else {"version": keep(item.version)})
                for item in _read(_RETURNED, line.returned) or ()
            ]
        )
        told = {"key": key, "index_keys": of_indexes, "returned": returned}
        return {name: value for name, value in told.items() if value is not None}

    def _members(self, line: Line, *, is_clear: bool) -> dict[str, Any]:
        if line.parts is ABSENT:
            return {}
        return {"parts": [self._member(part, line, is_clear=is_clear) for part in _read(_PARTS, line.parts) or ()]}

    def _member(self, part: Part, line: Line, *, is_clear: bool) -> dict[str, Any]:
        keep = self._keeping(table_name(part.table or line.table), is_clear=is_clear)
        told = {
            "op": part.op if _WORD.fullmatch(part.op) else "other",
            "table": part.table,
            "key": _kept(part.key or {}, keep),
            "index_keys": _index_keys(part.index_keys or {}, keep),
            "condition": None if part.condition is None else _legal(part.condition),
            "update": None if part.update is None else _legal(part.update),
            "statement": None if part.statement is None else mask_statement(part.statement),
            "item_bytes": part.item_bytes,
        }
        return {name: value for name, value in told.items() if value is not None}

    def _traces(self, line: Line) -> dict[str, Any]:
        """Return names of trace and request: what AWS did not make may be anything, and becomes a hash."""
        told = {}
        if line.trace_id:
            told["trace_id"] = self._hash(line.trace_id)
        if line.request_id:
            is_aws = _AWS_ID.fullmatch(line.request_id) is not None
            told["request_id"] = line.request_id if is_aws else self._hash(line.request_id)
        return told

    def _hash(self, text: str) -> str:
        """Return eighty bits: a million traces then hardly ever share a name."""
        return self._salt.token(f"trace {text}")[2:] + self._salt.token(f"id {text}")[2:]


def _expressions(line: Line) -> dict[str, Any]:
    """Return the expressions and the names that they use; names of map entries, which may be ids, are taken out."""
    texts = {name: text for name in _EXPRESSIONS if (text := getattr(line, name)) is not None}
    every = [*texts.values()]
    for part in (_read(_PARTS, line.parts) or ()) if line.parts is not ABSENT else ():
        every += [text for text in (part.condition, part.update) if text is not None]
    told: dict[str, Any] = {name: _legal(text) for name, text in texts.items()}
    names = _names(_read(_NAMES, line.names) or {}, every)
    if any(_STEP.search(text) for text in every):
        names[_ENTRY] = "*"
    return told | ({"names": names} if names else {})


def _legal(text: str) -> str:
    return _STEP.sub(f".{_ENTRY}", text) if _LEGAL.fullmatch(text) else "?"


def _names(names: Mapping[str, str], texts: Iterable[str]) -> dict[str, str]:
    """Return the names that expressions use, as far as each may be told where it stands."""
    is_nested: dict[str, bool] = {}
    for text in texts:
        for step, name in _PLACEHOLDER.findall(text):
            is_nested[name] = bool(step) and is_nested.get(name, True)
    return {name: mask_name(names[name], is_nested=nested) for name, nested in is_nested.items() if name in names}


def _kept(
    key: Mapping[str, dict[str, Any]], keep: Callable[[str], str], *, is_whole: bool = True
) -> dict[str, dict[str, str]] | None:
    """Return a key's attributes as they may be kept; None of one that the digest would not read either."""
    kept: dict[str, dict[str, str]] = {}
    for name, value in key.items():
        text = key_text(value)
        if text is not None and len(text) <= _LONGEST_VALUE:
            kept[name] = {"S": keep(text)}
        elif is_whole:
            return None
    return kept or None


def _index_keys(
    keys: Mapping[str, dict[str, dict[str, Any]]], keep: Callable[[str], str]
) -> dict[str, dict[str, dict[str, str]]] | None:
    kept = {index: entry for index, key in keys.items() if (entry := _kept(key, keep)) is not None}
    return kept or None


def _outcome(line: Line) -> dict[str, Any]:
    """Return what became of a call: units, failed tries, the error, and what was handed back."""
    told: dict[str, Any] = {}
    if line.consumed:
        told["consumed"] = _read(_CONSUMED, line.consumed)
    if line.tries:
        told["tries"] = [*map(_try, _read(_TRIES, line.tries) or ())]
    if line.error:
        told["error"] = _error(line)
    if line.handed_back:
        told["handed_back"] = _read(_HANDED_BACK, line.handed_back)
    if line.strata:
        told["strata"] = [one for one in _read(_STRATA, line.strata) or () if one.by in {"request", "trace", "key"}]
    if line.ttl_seen:
        told["ttl_seen"] = _ttl(line)
    return {name: value for name, value in told.items() if value is not None}


def _try(one: Try) -> Try:
    return Try(one.at_ms, _word(one.code), _word(one.reason), _arn(one.resource))


def _error(line: Line) -> dict[str, Any] | None:
    told = _read(_ERROR, line.error)
    if told is None or isinstance(told, str):
        return None if not told else {"code": _word(told)}
    reasons = [{"reason": _word(one.reason), "resource": _arn(one.resource)} for one in told.reasons or ()]
    fields = {
        "code": _word(told.code),
        "message": None if told.message is None else _message(told.message, line),
        "reasons": [{name: value for name, value in one.items() if value is not None} for one in reasons] or None,
        "cancellation": None if told.cancellation is None else [*map(_word, told.cancellation)],
    }
    return {name: value for name, value in fields.items() if value is not None}


def _message(text: str, line: Line) -> str:
    """Return a message without what is quoted, looks like a key, or stands in this request's own keys."""
    message = _QUOTED.sub("?", text[:_LONGEST_MESSAGE])
    for piece in sorted(_pieces(line), key=len, reverse=True):
        message = message.replace(piece, "?")
    return message


def _pieces(line: Line) -> set[str]:
    found: set[str] = set()
    for raw in (line.key, line.values):
        found.update(filter(None, map(key_text, (_read(_ANY_KEY, raw) or {}).values())))
    for key in (_read(_INDEX_KEYS, line.index_keys) or {}).values():
        found.update(filter(None, map(key_text, key.values())))
    for part in (_read(_PARTS, line.parts) or ()) if line.parts is not ABSENT else ():
        found.update(filter(None, map(key_text, (part.key or {}).values())))
    segments = {piece for text in found for piece in split_key(text)}
    return {piece for piece in found | segments if len(piece) > _SHORT}


def _ttl(line: Line) -> dict[str, Any] | None:
    """Return what was seen of a TTL attribute: its type, and its value where that is a number."""
    seen = _read(_TTL, line.ttl_seen)
    if seen is None:
        return None
    told = {"attribute": seen.attribute, "expired_returned": seen.expired_returned}
    if seen.value:
        kind, value = next(iter(seen.value.items()))
        told["value"] = {kind if _WORD.fullmatch(kind) else "other": value if _is_number(value) else ""}
    return {name: value for name, value in told.items() if value is not None}


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False


def _word(text: str | None) -> str | None:
    return text if text is None or _WORD.fullmatch(text) else "other"


def _arn(text: str | None) -> str | None:
    return text if text is not None and text.startswith("arn:") else None


def _read(decode: Callable[[Any], Any], raw: msgspec.Raw) -> Any:  # noqa: ANN401 -- what the decoder reads
    try:
        return decode(raw) if raw else None
    except (ValueError, RecursionError):
        return None
