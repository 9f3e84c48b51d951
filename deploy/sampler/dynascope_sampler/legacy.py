"""The parameters of before 2014, rewritten into expressions, so that a record has one language.

Attributes come in alphabetical order: `#k0 = :k0 AND begins_with(#k1, :k1)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_legacy", "modernize"]

_PARAMETERS = frozenset(
    {"AttributeUpdates", "AttributesToGet", "Expected", "KeyConditions", "QueryFilter", "ScanFilter"}
)
_COMPARISONS = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_CLAUSES = {"PUT": "SET", "ADD": "ADD", "DELETE": "DELETE"}


def is_legacy(params: Mapping[str, Any]) -> bool:
    """Whether a request uses any of the old parameters."""
    return not _PARAMETERS.isdisjoint(params)


def modernize(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the parameters with expressions in place of the old ones."""
    modern = {name: value for name, value in params.items() if name not in _PARAMETERS}
    names: dict[str, str] = dict(params.get("ExpressionAttributeNames") or {})
    values: dict[str, Any] = dict(params.get("ExpressionAttributeValues") or {})
    joint = f" {params.get('ConditionalOperator') or 'AND'} "
    for old, new, letter, separator in (
        ("KeyConditions", "KeyConditionExpression", "k", " AND "),
        ("QueryFilter", "FilterExpression", "f", joint),
        ("ScanFilter", "FilterExpression", "f", joint),
        ("Expected", "ConditionExpression", "c", joint),
    ):
        if params.get(old):
            terms = [
                _term(f"{letter}{number}", attribute, params[old][attribute], names, values)
                for number, attribute in enumerate(sorted(params[old]))
            ]
            modern[new] = separator.join(terms)
    if params.get("AttributeUpdates"):
        modern["UpdateExpression"] = _update(params["AttributeUpdates"], names, values)
    if params.get("AttributesToGet"):
        placeholders = {f"#p{number}": name for number, name in enumerate(sorted(params["AttributesToGet"]))}
        names.update(placeholders)
        modern["ProjectionExpression"] = ", ".join(placeholders)
    modern["ExpressionAttributeNames"] = names
    modern["ExpressionAttributeValues"] = values
    return modern


def _term(
    stem: str, attribute: str, condition: Mapping[str, Any], names: dict[str, str], values: dict[str, Any]
) -> str:
    name = f"#{stem}"
    names[name] = attribute
    operator = condition.get("ComparisonOperator")
    if operator is None:  # the oldest form of Expected: a value, or that there is none
        if condition.get("Exists") is False:
            return f"attribute_not_exists({name})"
        operand = condition.get("Value")
        operator, operands = "EQ", [] if operand is None else [operand]
    else:
        operands = list(condition.get("AttributeValueList") or ())
    holders = [f":{stem}"] if len(operands) == 1 else [f":{stem}_{number}" for number in range(len(operands))]
    values.update(zip(holders, operands))
    listed = ", ".join(holders)
    return {
        "NULL": f"attribute_not_exists({name})",
        "NOT_NULL": f"attribute_exists({name})",
        "CONTAINS": f"contains({name}, {listed})",
        "NOT_CONTAINS": f"NOT contains({name}, {listed})",
        "BEGINS_WITH": f"begins_with({name}, {listed})",
        "IN": f"{name} IN ({listed})",
        "BETWEEN": f"{name} BETWEEN {' AND '.join(holders)}",
    }.get(operator) or f"{name} {_COMPARISONS.get(operator, '=')} {listed}"


def _update(updates: Mapping[str, Any], names: dict[str, str], values: dict[str, Any]) -> str:
    clauses: dict[str, list[str]] = {}
    for number, attribute in enumerate(sorted(updates)):
        action = updates[attribute].get("Action") or "PUT"
        name, holder = f"#u{number}", f":u{number}"
        names[name] = attribute
        if "Value" not in updates[attribute]:
            clauses.setdefault("REMOVE", []).append(name)
            continue
        values[holder] = updates[attribute]["Value"]
        clause = _CLAUSES.get(action, "SET")
        clauses.setdefault(clause, []).append(f"{name} = {holder}" if clause == "SET" else f"{name} {holder}")
    return " ".join(f"{clause} {', '.join(actions)}" for clause, actions in clauses.items())
