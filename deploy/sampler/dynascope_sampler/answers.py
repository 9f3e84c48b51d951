"""What an answer says, apart from its items: capacity, failures, what a batch handed back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynascope_sampler.messages import mask_message, strings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["consumed_units", "failure_of", "statement_failures", "table_name", "throttle_reasons"]

_THROTTLES_OF_A_STATEMENT = frozenset({"ProvisionedThroughputExceeded", "RequestLimitExceeded", "ThrottlingError"})
_INDEX_MAPS = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")


def table_name(name: str) -> str:
    """Reduce a table's ARN to its name."""
    return name.split("/")[1] if name.startswith("arn:") and "/" in name else name


def consumed_units(capacity: Any) -> dict[str, Any] | None:
    """Turn ConsumedCapacity, or the list of them that batches answer with, into the record's `consumed`."""
    if isinstance(capacity, dict):
        return _consumed_of_table(capacity)
    if not capacity:
        return None
    if len(capacity) == 1:
        return _consumed_of_table(capacity[0])
    by_table = {table_name(entry.get("TableName", "")): _consumed_of_table(entry) for entry in capacity}
    return {"total": sum(entry.get("total", 0) for entry in by_table.values()), "by_table": by_table}


def _consumed_of_table(capacity: Mapping[str, Any]) -> dict[str, Any]:
    consumed: dict[str, Any] = {}
    for name, member in (("total", "CapacityUnits"), ("read", "ReadCapacityUnits"), ("write", "WriteCapacityUnits")):
        if member in capacity:
            consumed[name] = capacity[member]
    if "Table" in capacity:
        consumed["table"] = _units(capacity["Table"])
    indexes = {name: _units(units) for member in _INDEX_MAPS for name, units in (capacity.get(member) or {}).items()}
    if indexes:
        consumed["indexes"] = indexes
    return consumed


def _units(capacity: Mapping[str, Any]) -> Any:
    read, write = capacity.get("ReadCapacityUnits"), capacity.get("WriteCapacityUnits")
    if read is None and write is None:
        return capacity.get("CapacityUnits", 0)
    split = {"read": read, "write": write}
    return {name: units for name, units in split.items() if units is not None}


def throttle_reasons(parsed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the throttling reasons; DynamoDB spells their list in two ways."""
    reasons = parsed.get("ThrottlingReasons") or parsed.get("throttlingReasons") or ()
    return [{name: entry[name] for name in ("reason", "resource") if entry.get(name)} for entry in reasons]


def failure_of(parsed: Mapping[str, Any], status: int, params: Any) -> dict[str, Any]:
    """Return the record's `error` of an answer that is one."""
    told = parsed.get("Error") or {}
    failure: dict[str, Any] = {"code": str(told.get("Code") or f"HTTP{status}")}
    message = mask_message(str(told.get("Message") or parsed.get("message") or ""), strings_of(params))
    if message:
        failure["message"] = message
    reasons = throttle_reasons(parsed)
    if reasons:
        failure["reasons"] = reasons
    canceled = parsed.get("CancellationReasons")
    if canceled:
        failure["cancellation"] = [_code(reason.get("Code")) for reason in canceled]
    return failure


def _code(code: str | None) -> str | None:
    return None if code in {None, "None"} else code


def statement_failures(responses: Any) -> tuple[list[int], dict[str, Any] | None]:
    """Split the failures of a batch of statements: positions that were throttled, and an `error` for the others."""
    codes = [_code((response.get("Error") or {}).get("Code")) for response in responses]
    throttled = [place for place, code in enumerate(codes) if code in _THROTTLES_OF_A_STATEMENT]
    others = [code for code in codes if code is not None and code not in _THROTTLES_OF_A_STATEMENT]
    return throttled, {"code": others[0], "cancellation": codes} if others else None
