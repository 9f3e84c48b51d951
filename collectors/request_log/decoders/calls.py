"""One call of DynamoDB's API, its parameters and its answer in the API's own JSON, made a request record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from analyzer.knowledge.names import table_name
from analyzer.knowledge.throttling import target_of_arn
from analyzer.model.request import RequestError, RequestRecord, ThrottleReason
from collectors.request_log.decoders.capacity import consumed_of
from collectors.request_log.decoders.fields import flag, listed, mapping, text, whole
from collectors.request_log.decoders.legacy import is_legacy, modernize
from collectors.request_log.decoders.messages import error_code, masked_message, texts_in
from collectors.request_log.decoders.moments import time_of
from collectors.request_log.decoders.parts import PARTED, handed_back, parts_of, table_of_parts
from collectors.request_log.decoders.statements import key_of_statement, masked_statement
from collectors.request_log.decoders.values import item_bytes, key_of, scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from analyzer.model.instant import Instant
    from analyzer.model.request import AttributeValue
    from collectors.request_log.decoders.schema import KeyNames

__all__ = ["add_answer", "error_of", "is_request", "place", "record_of"]

_CONTROL = re.compile(
    r"(?:Describe|List|Create|Restore|Tag|Untag|Export|Import|Enable|Disable)\w+"
    r"|(?:Update|Delete|Put|Get)(?!Item)\w+"
)
"""Operations of the control plane and of streams: they are no requests of the application's access patterns."""

_NAME = re.compile(r"[A-Za-z]{1,64}")
_PLACEHOLDER = re.compile(r":[\w.\-]+")
_AS_SENT: tuple[tuple[str, str, Callable[[object], Any]], ...] = (
    ("index", "IndexName", text),
    ("key_condition", "KeyConditionExpression", text),
    ("filter", "FilterExpression", text),
    ("projection", "ProjectionExpression", text),
    ("update", "UpdateExpression", text),
    ("condition", "ConditionExpression", text),
    ("consistent", "ConsistentRead", flag),
    ("forward", "ScanIndexForward", flag),
    ("limit", "Limit", whole),
    ("select", "Select", text),
    ("segment", "Segment", whole),
    ("total_segments", "TotalSegments", whole),
)
_PAGED = frozenset({"Query", "Scan", "ExecuteStatement"})


def is_request(operation: str) -> bool:
    """Whether an operation is one of the data plane, or none that is known: those are counted too."""
    return _NAME.fullmatch(operation) is not None and _CONTROL.fullmatch(operation) is None


def record_of(operation: str, request: Mapping[str, Any], at: Instant, names: KeyNames) -> RequestRecord:
    """Return the record of a call whose parameters are known whole; what it answered is not known yet."""
    if is_legacy(request):
        request = modernize(request)
    given = text(request.get("TableName"))
    record = RequestRecord(time=time_of(at), op=operation, v=1)
    if given is not None:
        place(record, given)
    for field, parameter, read in _AS_SENT:
        if parameter in request:
            setattr(record, field, read(request[parameter]))
    names_given = mapping(request.get("ExpressionAttributeNames"))
    record.names = {holder: name for holder, name in names_given.items() if isinstance(name, str)} or None
    record.values = _key_values(record.key_condition, mapping(request.get("ExpressionAttributeValues")))
    record.token_sent = True if text(request.get("ClientRequestToken")) else None
    if operation in _PAGED:
        record.resumed = bool(request.get("ExclusiveStartKey") or request.get("NextToken"))
    _add_keys(record, request, names)
    return record


def place(record: RequestRecord, table: str) -> None:
    """Set a record's table from a name or an ARN, which tells account and region too."""
    record.table = table_name(table)
    target = target_of_arn(table)
    if target is not None:
        record.account = record.account or target.account
        record.region = record.region or target.region


def _key_values(condition: str | None, values: Mapping[str, Any]) -> dict[str, AttributeValue] | None:
    """Return the values that a key condition uses, and no others."""
    if condition is None:
        return None
    used = {name: scalar(values.get(name)) for name in _PLACEHOLDER.findall(condition)}
    return {name: value for name, value in used.items() if value is not None} or None


def _add_keys(record: RequestRecord, request: Mapping[str, Any], names: KeyNames) -> None:
    operation = record.op
    if operation in PARTED:
        record.parts, found = parts_of(operation, request, names)
        record.names = {**(record.names or {}), **found} or None
        record.table = record.table or table_of_parts(record.parts)
        if operation == "BatchGetItem":
            asked = [
                flag(mapping(entry).get("ConsistentRead")) for entry in mapping(request.get("RequestItems")).values()
            ]
            record.consistent = True if True in asked else record.consistent
        return
    statement = text(request.get("Statement"))
    if statement is not None:
        record.statement = masked_statement(statement)
        record.key = key_of_statement(statement, listed(request.get("Parameters")), names)
        return
    record.key = key_of(request.get("Key"))
    if record.key is not None:
        names.learn(record.table, record.key)
    item = mapping(request.get("Item"))
    if item:
        record.key = names.key_in(record.table, item)
        record.index_keys = names.index_keys_in(record.table, item)
        record.item_bytes = item_bytes(item)


def add_answer(record: RequestRecord, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Add what DynamoDB answered to a call that did not fail."""
    operation = record.op
    record.count = whole(answer.get("Count"))
    record.scanned = whole(answer.get("ScannedCount"))
    record.consumed = consumed_of(answer.get("ConsumedCapacity"))
    if operation == "GetItem":
        item = mapping(answer.get("Item"))
        record.count = int(bool(item))
        record.item_bytes = item_bytes(item) if item else None
    elif operation == "BatchGetItem":
        record.count = sum(len(listed(items)) for items in mapping(answer.get("Responses")).values())
    elif operation == "ExecuteStatement" and "Items" in answer:
        record.count = len(listed(answer["Items"]))
    if operation in _PAGED:
        record.more = bool(answer.get("LastEvaluatedKey") or answer.get("NextToken"))
    if operation in {"BatchGetItem", "BatchWriteItem"}:
        record.unprocessed, record.handed_back = handed_back(operation, request, answer)


def error_of(error: Mapping[str, Any], request: Mapping[str, Any]) -> RequestError:
    """Read an error as the SDKs serialise it: a name or code, a message, reasons of throttles and of cancellations."""
    code = error_code(error.get("name")) or error_code(error.get("code")) or error_code(error.get("__type")) or "Error"
    values = texts_in(
        request.get("Key"), request.get("Item"), request.get("ExpressionAttributeValues"), request.get("RequestItems")
    )
    told = listed(error.get("ThrottlingReasons")) or listed(error.get("throttlingReasons"))
    reasons = [
        ThrottleReason(reason, text(entry.get("resource")))
        for entry in told
        if isinstance(entry, dict) and (reason := text(entry.get("reason"))) is not None
    ]
    canceled = [_canceled(mapping(one).get("Code")) for one in listed(error.get("CancellationReasons"))]
    message = masked_message(error.get("message") or error.get("Message"), values)
    return RequestError(code, message, reasons or None, canceled or None)


def _canceled(code: object) -> str | None:
    return None if code == "None" else error_code(code)
