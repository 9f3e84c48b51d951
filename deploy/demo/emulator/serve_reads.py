"""GetItem, BatchGetItem, TransactGetItems, Query and Scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.knowledge.capacity import Consistency
from deploy.demo.emulator.charges import tell_consumed
from deploy.demo.emulator.reads import get_one, query, refuse_index, scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deploy.demo.emulator.charges import Charge
    from deploy.demo.emulator.overlay import Call, Overlay
    from deploy.demo.emulator.refusal import ThrottleReason

__all__ = ["serve_batch_get", "serve_get", "serve_page", "serve_transact_get"]

Body = dict[str, Any]

_LEGACY = ("AttributesToGet", "KeyConditions", "QueryFilter", "ScanFilter", "ConditionalOperator")
_BATCH_BYTES = 16 * 1024 * 1024
_SHAPED_BY = (
    "TableName",
    "IndexName",
    "KeyConditionExpression",
    "FilterExpression",
    "ProjectionExpression",
    "Select",
    "ConsistentRead",
    "Limit",
    "Segment",
    "TotalSegments",
)


def _consistency(body: Mapping[str, Any]) -> Consistency:
    return Consistency.STRONG if body.get("ConsistentRead") else Consistency.EVENTUAL


def _types(values: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, "".join(value)) for name, value in (values or {}).items()))


def _shape(body: Mapping[str, Any]) -> object:
    """Return what decides whether a read is valid: everything but its values."""
    names = tuple(sorted((body.get("ExpressionAttributeNames") or {}).items()))
    values = _types(body.get("ExpressionAttributeValues"))
    return tuple(str(body.get(name)) for name in _SHAPED_BY), names, values, _types(body.get("Key"))


def _is_legacy(*bodies: Mapping[str, Any]) -> bool:
    return any(name in body for body in bodies for name in _LEGACY)


async def serve_get(overlay: Overlay, call: Call) -> Body:
    """Serve GetItem."""
    table = overlay.table(call)
    if _is_legacy(call.body):
        return await overlay.ask_moto(call)
    await overlay.accept(call, _shape(call.body), call.body)
    item, charge = get_one(table, table.key_of(call.body["Key"]), call.body, _consistency(call.body))
    overlay.admit(call, [charge])
    answer: Body = {} if item is None else {"Item": item}
    return _with_units(answer, tell_consumed([charge], call.body["TableName"], call.wanted))


async def serve_page(overlay: Overlay, call: Call) -> Body:
    """Serve one page of Query or Scan."""
    table = overlay.table(call)
    refuse_index(table, call.body)
    if _is_legacy(call.body):
        return await overlay.ask_moto(call)
    await overlay.accept(call, _shape(call.body), call.body)
    answer = (query if call.operation == "Query" else scan)(table, call.body)
    overlay.admit(call, answer.charges)
    return _with_units(answer.body, tell_consumed(answer.charges, call.body["TableName"], call.wanted))


async def serve_batch_get(overlay: Overlay, call: Call) -> Body:
    """Serve BatchGetItem; keys that the buckets refuse come back unprocessed, and all of them are an error."""
    asked: Mapping[str, Body] = call.body["RequestItems"]
    tables = {name: overlay.table(call, name) for name in asked}
    if _is_legacy(*asked.values()):
        return await overlay.ask_moto(call)
    shape = tuple((name, _shape(each), tuple(_types(key) for key in each["Keys"])) for name, each in asked.items())
    await overlay.accept(call, shape, call.body)
    found: dict[str, list[Body]] = {name: [] for name in asked}
    left: dict[str, Body] = {}
    charges: dict[str, list[Charge]] = {name: [] for name in asked}
    reasons: tuple[ThrottleReason, ...] = ()
    room = _BATCH_BYTES
    for name, each in asked.items():
        for key in each["Keys"]:
            item_key = tables[name].key_of(key)
            entry = tables[name].base.entries.get(item_key)
            item, charge = get_one(tables[name], item_key, each, _consistency(each))
            refused = overlay.refusals([charge])
            if refused or room <= 0:
                left.setdefault(name, {**each, "Keys": []})["Keys"].append(key)
                if refused:
                    reasons += refused
                    overlay.refuse(call, [charge], refused)
                continue
            overlay.take(call, [charge])
            charges[name].append(charge)
            room -= entry.size_bytes if entry is not None else 0
            if item is not None:
                found[name].append(item)
    if reasons and not any(charges.values()):
        raise overlay.refusal(reasons)
    told = [tell_consumed(c, name, call.wanted) for name, c in charges.items() if c]
    return _with_units({"Responses": found, "UnprocessedKeys": left}, [t for t in told if t] or None)


async def serve_transact_get(overlay: Overlay, call: Call) -> Body:
    """Serve TransactGetItems."""
    gets: list[Body] = [part["Get"] for part in call.body["TransactItems"]]
    tables = [overlay.table(call, get["TableName"]) for get in gets]
    await overlay.accept(call, tuple(_shape(get) for get in gets), call.body)
    read = [
        get_one(table, table.key_of(get["Key"]), get, Consistency.TRANSACTIONAL)
        for table, get in zip(tables, gets, strict=True)
    ]
    charges = [charge for _, charge in read]
    overlay.admit_transaction(call, [[charge] for charge in charges])
    by_name: dict[str, list[Charge]] = {}
    for get, charge in zip(gets, charges, strict=True):
        by_name.setdefault(get["TableName"], []).append(charge)
    told = [tell_consumed(c, name, call.wanted, transactional=True) for name, c in by_name.items()]
    answer: Body = {"Responses": [{} if item is None else {"Item": item} for item, _ in read]}
    return _with_units(answer, [t for t in told if t] or None)


def _with_units(answer: Body, told: object) -> Body:
    if told is not None:
        answer["ConsumedCapacity"] = told
    return answer
