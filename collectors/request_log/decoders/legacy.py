"""The parameters of before 2014, rewritten into expressions, so that a record has one language.

Attributes come in alphabetical order: `#k0 = :k0 AND begins_with(#k1, :k1)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.request_log.decoders.fields import listed, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_legacy", "modernize"]

_TERMS = (
    ("KeyConditions", "KeyConditionExpression", "k"),
    ("QueryFilter", "FilterExpression", "f"),
    ("ScanFilter", "FilterExpression", "f"),
    ("Expected", "ConditionExpression", "c"),
)
_PARAMETERS = frozenset({"AttributeUpdates", "AttributesToGet", *(old for old, _, _ in _TERMS)})
_COMPARISONS = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_CLAUSES = {"ADD": "ADD", "DELETE": "DELETE"}


def is_legacy(request: Mapping[str, Any]) -> bool:
    """Whether a request uses any of the old parameters."""
    return not _PARAMETERS.isdisjoint(request)


def modernize(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the parameters with expressions in place of the old ones."""
    modern = {name: value for name, value in request.items() if name not in _PARAMETERS}
    names = dict(mapping(request.get("ExpressionAttributeNames")))
    values = dict(mapping(request.get("ExpressionAttributeValues")))
    joint = " OR " if request.get("ConditionalOperator") == "OR" else " AND "
    for old, new, letter in _TERMS:
        conditions = mapping(request.get(old))
        if conditions:
            terms = [
                _term(f"{letter}{number}", attribute, mapping(conditions[attribute]), names, values)
                for number, attribute in enumerate(sorted(conditions))
            ]
            modern[new] = (" AND " if letter == "k" else joint).join(terms)
    updates = mapping(request.get("AttributeUpdates"))
    if updates:
        modern["UpdateExpression"] = _update(updates, names)
    asked = sorted(name for name in listed(request.get("AttributesToGet")) if isinstance(name, str))
    if asked:
        holders = {f"#p{number}": name for number, name in enumerate(asked)}
        names.update(holders)
        modern["ProjectionExpression"] = ", ".join(holders)
    modern["ExpressionAttributeNames"] = names
    modern["ExpressionAttributeValues"] = values
    return modern


def _term(
    stem: str, attribute: str, condition: Mapping[str, Any], names: dict[str, Any], values: dict[str, Any]
) -> str:
    name = f"#{stem}"
    names[name] = attribute
    operator = condition.get("ComparisonOperator")
    operands = listed(condition.get("AttributeValueList"))
    if operator is None:  # the oldest form of Expected: a value, or that there is none
        if condition.get("Exists") is False:
            return f"attribute_not_exists({name})"
        operator, operands = "EQ", [condition.get("Value")]
    holders = [f":{stem}"] if len(operands) == 1 else [f":{stem}_{number}" for number in range(len(operands))]
    values.update(zip(holders, operands, strict=True))
    joined = ", ".join(holders)
    return {
        "NULL": f"attribute_not_exists({name})",
        "NOT_NULL": f"attribute_exists({name})",
        "CONTAINS": f"contains({name}, {joined})",
        "NOT_CONTAINS": f"NOT contains({name}, {joined})",
        "BEGINS_WITH": f"begins_with({name}, {joined})",
        "IN": f"{name} IN ({joined})",
        "BETWEEN": f"{name} BETWEEN {' AND '.join(holders)}",
    }.get(str(operator)) or f"{name} {_COMPARISONS.get(str(operator), '=')} {joined}"


def _update(updates: Mapping[str, Any], names: dict[str, Any]) -> str:
    clauses: dict[str, list[str]] = {}
    for number, attribute in enumerate(sorted(updates)):
        name, holder = f"#u{number}", f":u{number}"
        names[name] = attribute
        if "Value" not in mapping(updates[attribute]):
            clauses.setdefault("REMOVE", []).append(name)
            continue
        clause = _CLAUSES.get(str(updates[attribute].get("Action")), "SET")
        clauses.setdefault(clause, []).append(f"{name} = {holder}" if clause == "SET" else f"{name} {holder}")
    return " ".join(f"{clause} {', '.join(actions)}" for clause, actions in clauses.items())
