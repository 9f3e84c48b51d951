"""PartiQL as logs hold it: literals masked, those that AWS has hidden too, and the key that a statement names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from collectors.request_log.decoders.values import scalar

if TYPE_CHECKING:
    from analyzer.model.request import AttributeValue
    from collectors.request_log.decoders.schema import KeyNames

__all__ = ["key_of_statement", "masked_statement", "table_of_statement", "verb_of"]

_HIDDEN = re.compile(r"['\"]?\*{3}\s*\(Redacted\)['\"]?")
_WORD = re.compile(
    r"""(?P<name>"(?:[^"]|"")*")              # a name
      | (?P<field>'(?:[^']|'')*')(?=\s*:)     # the name of a field of an item
      | (?P<text>'(?:[^']|'')*')              # a text
      | (?P<number>(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<holder>\?)""",
    re.VERBOSE,
)
_COMPARED = re.compile(r"""(?:"((?:[^"]|"")*)"|([A-Za-z_][\w\-]*))\s*=\s*$""")
_WHERE = re.compile(r"\bWHERE\b", re.IGNORECASE)
_TABLE = re.compile(r"""\b(?:FROM|INTO|UPDATE)\s+("(?:[^"]|"")*"|[\w.\-]+)""", re.IGNORECASE)


def verb_of(statement: str) -> str:
    """Return a statement's first word in capitals."""
    words = statement.split(maxsplit=1)
    return words[0].upper() if words else ""


def table_of_statement(statement: str) -> str | None:
    """Return the table that a statement names."""
    found = _TABLE.search(statement)
    return None if found is None else found[1].strip('"') or None


def masked_statement(statement: str) -> str:
    """Return a statement with `?` for every literal, also for those that CloudTrail has hidden."""
    return _WORD.sub(_masked, _HIDDEN.sub("?", statement))


def _masked(found: re.Match[str]) -> str:
    return found[0] if found.lastgroup in {"name", "field", "holder"} else "?"


def key_of_statement(statement: str, parameters: list[Any], names: KeyNames) -> dict[str, AttributeValue] | None:
    """Return the key attributes that a statement binds by equality; the log has to have shown which these are."""
    known = names.of(table_of_statement(statement))
    where = _WHERE.search(statement)
    if not known or where is None:
        return None
    statement = _HIDDEN.sub("?", statement)
    key: dict[str, AttributeValue] = {}
    number = 0
    for found in _WORD.finditer(statement):
        number += found.lastgroup == "holder"
        compared = _COMPARED.search(statement, max(0, found.start() - 300), found.start())
        if found.start() < where.start() or compared is None or found.lastgroup not in {"text", "number", "holder"}:
            continue
        attribute = compared[1] or compared[2]
        value = _value(found, parameters[number - 1] if 0 < number <= len(parameters) else None)
        if attribute in known and value is not None:
            key[attribute] = value
    return key or None


def _value(found: re.Match[str], parameter: object) -> AttributeValue | None:
    if found.lastgroup == "text":
        return {"S": found[0][1:-1].replace("''", "'")}
    return {"N": found[0]} if found.lastgroup == "number" else scalar(parameter)
