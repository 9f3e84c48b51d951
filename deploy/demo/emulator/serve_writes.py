"""PutItem, UpdateItem, DeleteItem, BatchWriteItem and TransactWriteItems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from deploy.demo.emulator.charges import charge_write, tell_consumed
from deploy.demo.emulator.overlay import without
from deploy.demo.emulator.refusal import Refused, answer_error
from deploy.demo.emulator.writes import Change, change_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deploy.demo.emulator.charges import Charge
    from deploy.demo.emulator.overlay import Call, Overlay
    from deploy.demo.emulator.refusal import ThrottleReason
    from deploy.demo.emulator.store import Table

__all__ = ["serve_batch_write", "serve_transact_write", "serve_write"]

Body = dict[str, Any]

_KINDS = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}
_TOKENS_KEPT = 1000


async def serve_write(overlay: Overlay, call: Call) -> Body:
    """Serve a write of one item."""
    table = overlay.table(call)
    async with overlay.lock:
        try:
            change = change_of(_KINDS[call.operation], call.body, table)
        except (KeyError, TypeError, StopIteration):  # no usable key: moto says what is wrong with it
            return await overlay.moto.call(call.operation, without(call.body), call.headers)
        if change.is_known:
            _refuse(overlay, call, change.charges())
        await overlay.working.hold([change], call.headers)
        answer = await _execute(overlay, call, change)
        charges = change.charges()
        try:
            overlay.admit(call, charges)
        except Refused:
            overlay.working.doubt([change])
            raise
        table.replace(change.key, change.after)
    consumed = tell_consumed(charges, call.body["TableName"], call.wanted)
    return answer if consumed is None else {**answer, "ConsumedCapacity": consumed}


def _refuse(overlay: Overlay, call: Call, charges: list[Charge]) -> None:
    reasons = overlay.refusals(charges)
    if reasons:
        raise overlay.refuse(call, charges, reasons)


async def _execute(overlay: Overlay, call: Call, change: Change) -> Body:
    """Let moto do it; fills `after` of an Update, and answers with what the caller wanted back."""
    body = without(call.body)
    wanted = body.get("ReturnValues", "NONE")
    partial = wanted in {"UPDATED_OLD", "UPDATED_NEW"}
    if change.kind == "Update" and not partial:
        body["ReturnValues"] = "ALL_NEW"
    try:
        answer = await overlay.moto.call(call.operation, body, call.headers)
    except Refused as refused:
        if "ConditionalCheckFailed" in str(refused.body.get("__type")):
            overlay.admit(call, charge_write(change.table, change.before, change.before))
        raise
    answer.pop("ConsumedCapacity", None)
    if change.kind != "Update":
        return answer
    if partial:
        await _learn([change], overlay, call)
        return answer
    change.after = answer["Attributes"]
    told = {"ALL_NEW": change.after, "ALL_OLD": change.before}.get(wanted)
    return {} if told is None else {"Attributes": told}


async def _learn(changes: Sequence[Change], overlay: Overlay, call: Call) -> None:
    """Ask moto what updated items have become."""
    for change in changes:
        body = {"TableName": change.table.name, "Key": change.key_item, "ConsistentRead": True}
        change.after = (await overlay.moto.call("GetItem", body, call.headers)).get("Item")


async def serve_batch_write(overlay: Overlay, call: Call) -> Body:
    """Serve BatchWriteItem; what the buckets refuse comes back unprocessed, and all of it is an error."""
    asked: dict[str, list[Body]] = call.body["RequestItems"]
    tables = {name: overlay.table(call, name) for name in asked}
    taken: dict[str, list[Body]] = {}
    left: dict[str, list[Body]] = {}
    charges: dict[str, list[Charge]] = {}
    reasons: tuple[ThrottleReason, ...] = ()
    async with overlay.lock:
        changes = []
        for name, request in ((name, request) for name, requests in asked.items() for request in requests):
            change = _batch_change(request, tables[name])
            if change is None:
                return await overlay.moto.call(call.operation, without(call.body), call.headers)
            refused = overlay.refusals(change.charges())
            if refused:
                reasons += refused
                overlay.refuse(call, change.charges(), refused)
                left.setdefault(name, []).append(request)
                continue
            overlay.take(call, change.charges())
            charges.setdefault(name, []).extend(change.charges())
            taken.setdefault(name, []).append(request)
            changes.append(change)
        if not changes:
            raise overlay.refusal(reasons)
        await overlay.moto.call(call.operation, {"RequestItems": taken}, call.headers)
        for change in changes:
            change.table.replace(change.key, change.after)
            change.table.held[change.key] = True
    told = [tell_consumed(c, name, call.wanted) for name, c in charges.items()]
    return {"UnprocessedItems": left} | ({"ConsumedCapacity": told} if any(told) else {})


def _batch_change(request: Body, table: Table) -> Change | None:
    try:
        if "PutRequest" in request:
            return change_of("Put", request["PutRequest"], table)
        return change_of("Delete", request["DeleteRequest"], table)
    except (KeyError, TypeError, StopIteration):
        return None


async def serve_transact_write(overlay: Overlay, call: Call) -> Body:
    """Serve TransactWriteItems; a token that was used for the same request does nothing again."""
    parts = [(kind, part) for member in call.body["TransactItems"] for kind, part in member.items()]
    token = call.body.get("ClientRequestToken")
    async with overlay.lock:
        if token in overlay.tokens:
            return _repeat(overlay.tokens[token], call)
        try:
            changes = [change_of(kind, part, overlay.table(call, part["TableName"])) for kind, part in parts]
        except (KeyError, TypeError, StopIteration):
            return await overlay.moto.call(call.operation, without(call.body), call.headers)
        await overlay.working.hold(changes, call.headers)
        try:
            await overlay.moto.call(call.operation, without(call.body), call.headers)
        except Refused as refused:
            if "TransactionCanceled" in str(refused.body.get("__type")):
                overlay.take(
                    call,
                    [
                        c
                        for each in changes
                        for c in charge_write(each.table, each.before, each.before, transactional=True)
                    ],
                )
            raise
        await _learn([change for change in changes if not change.is_known], overlay, call)
        members = [change.charges(transactional=True) for change in changes]
        try:
            overlay.admit_transaction(call, members)
        except Refused:
            overlay.working.doubt(changes)
            raise
        for change in changes:
            change.table.replace(change.key, change.after)
        answer = _tell(parts, members, call)
        if token is not None:
            _remember(overlay, token, call, answer)
    return answer


def _tell(parts: list[tuple[str, Body]], members: list[list[Charge]], call: Call) -> Body:
    by_name: dict[str, list[Charge]] = {}
    for (_, part), charges in zip(parts, members, strict=True):
        by_name.setdefault(part["TableName"], []).extend(charges)
    told = [tell_consumed(c, name, call.wanted, transactional=True) for name, c in by_name.items()]
    return {"ConsumedCapacity": told} if any(told) else {}


def _remember(overlay: Overlay, token: str, call: Call, answer: Body) -> None:
    if len(overlay.tokens) >= _TOKENS_KEPT:
        del overlay.tokens[next(iter(overlay.tokens))]
    overlay.tokens[token] = {"request": msgspec.json.encode(call.body), "answer": answer}


def _repeat(kept: Body, call: Call) -> Body:
    if kept["request"] != msgspec.json.encode(call.body):
        raise answer_error(
            "IdempotentParameterMismatchException", "The request uses the same client token as a previous request"
        )
    answer: Body = kept["answer"]
    return answer
