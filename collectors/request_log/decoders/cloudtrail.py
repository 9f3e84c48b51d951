"""CloudTrail data events of DynamoDB: who called what, when, with which key; no counts, no units, no latency.

Shape: Developer Guide, "Understanding DynamoDB log file entries", read 2026-11-30. AWS's own samples write the names of
parameters with small and with capital first letters, so they are compared without regard to case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from analyzer.model.request import Part, RequestError
from analyzer.model.sight import Sight
from collectors.request_log.decoders.calls import is_request, place, record_of
from collectors.request_log.decoders.fields import listed, mapping, text
from collectors.request_log.decoders.json_logs import JsonDecoder
from collectors.request_log.decoders.messages import cancellation_in, error_code, masked_message, texts_in
from collectors.request_log.decoders.moments import instant_of
from collectors.request_log.decoders.parts import PARTED, table_of_parts
from collectors.request_log.decoders.seam import UnreadableError
from collectors.request_log.decoders.statements import key_of_statement, masked_statement
from collectors.request_log.decoders.values import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.request import RequestRecord
    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece, Reader

__all__ = ["CloudTrailDecoder"]

_SOURCE = "dynamodb.amazonaws.com"
_SERVICE = ".amazonaws.com"
_STREAM_CALLS = frozenset({"GetRecords", "GetShardIterator"})
_PARAMETERS = """
    TableName IndexName Key KeyConditionExpression FilterExpression ProjectionExpression UpdateExpression
    ConditionExpression ExpressionAttributeNames ExpressionAttributeValues ConsistentRead ScanIndexForward Limit
    Select Segment TotalSegments ClientRequestToken ExclusiveStartKey NextToken Statement AttributesToGet
    AttributeUpdates Expected KeyConditions QueryFilter ScanFilter ConditionalOperator
"""
_AS_THE_API_HAS_THEM = {name.lower(): name for name in _PARAMETERS.split()}
_OPERATIONS = {"put": "Put", "update": "Update", "delete": "Delete", "conditioncheck": "ConditionCheck", "get": "Get"}


class CloudTrailDecoder(JsonDecoder):
    """Data events, as `{"Records": [...]}` or one a line."""

    name: ClassVar[str] = "cloudtrail"
    title: ClassVar[str] = "CloudTrail data events"
    sights: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUESTS, Sight.REQUEST_KEYS})

    def claims(self, piece: Piece) -> bool:
        """Whether an object is an event of CloudTrail, of whatever service."""
        event = _event(piece.value)
        return "eventSource" in event and "eventName" in event

    def reader(self, names: KeyNames) -> Reader:
        """Return a reader that learns the keys of tables."""
        return _Reader(names)


def _event(value: dict[str, Any]) -> dict[str, Any]:
    """Return the event itself, also of one that EventBridge delivered."""
    detail = mapping(value.get("detail"))
    return detail if "eventSource" in detail else value


class _Reader:
    def __init__(self, names: KeyNames) -> None:
        self._names = names

    def read(self, piece: Piece) -> Iterable[RequestRecord] | None:
        event = _event(piece.value)
        operation = text(event.get("eventName")) or ""
        is_ours = event.get("eventSource") == _SOURCE and operation not in _STREAM_CALLS
        if not is_ours or not is_request(operation):
            return None
        at = instant_of(event.get("eventTime"))
        if at is None:
            raise UnreadableError("an event has no eventTime")
        given = _renamed(mapping(event.get("requestParameters")))
        record = record_of(operation, given, at, self._names)
        record.resumed = True if record.resumed else None  # absent may mean that CloudTrail leaves it out
        if operation in PARTED:
            record.parts = self._parts(operation, mapping(event.get("requestParameters")))
            record.table = table_of_parts(record.parts)
        _add_place(record, event)
        _add_caller(record, event)
        record.error = _error(event, given)
        record.request_id = text(event.get("requestID"))
        return (record,)

    def finish(self) -> Iterable[RequestRecord]:
        return ()

    def _parts(self, operation: str, given: dict[str, Any]) -> list[Part] | None:
        requested = next((value for name, value in given.items() if name.lower() == "requestitems"), None)
        if isinstance(requested, list):
            return [self._part(operation, _renamed(mapping(member)), mapping(member)) for member in requested] or None
        parts = [part for table, one in mapping(requested).items() for part in self._of_table(operation, table, one)]
        return parts or None

    def _part(self, operation: str, member: dict[str, Any], raw: dict[str, Any]) -> Part:
        word = next((str(value) for name, value in raw.items() if name.lower() == "operation"), "")
        op = _OPERATIONS.get(word.lower(), "Put" if operation in {"BatchWriteItem", "TransactWriteItems"} else "Get")
        statement = text(member.get("Statement"))
        table = text(member.get("TableName"))
        key = key_of(member.get("Key"))
        if statement is not None:
            key = key_of_statement(statement, [], self._names)
        self._names.learn(table, key if key is not None and statement is None else ())
        return Part(
            op,
            table,
            key,
            condition=text(member.get("ConditionExpression")),
            update=text(member.get("UpdateExpression")),
            statement=None if statement is None else masked_statement(statement),
        )

    def _of_table(self, operation: str, table: str, given: object) -> Iterable[Part]:
        """Yield the members of a batch that is written by table, as the API has it; none where only the table shows."""
        keys = given
        if isinstance(given, dict):
            keys = next((value for name, value in given.items() if name.lower() == "keys"), None)
        for member in listed(keys):
            yield (
                self._written(table, mapping(member))
                if operation == "BatchWriteItem"
                else Part("Get", table, key_of(member))
            )
        if not listed(keys):
            yield Part("Put" if operation == "BatchWriteItem" else "Get", table)

    def _written(self, table: str, member: dict[str, Any]) -> Part:
        for name, request in member.items():
            if name.lower() == "deleterequest":
                return Part("Delete", table, key_of(_renamed(mapping(request)).get("Key")))
        return Part("Put", table, key_of(_renamed(mapping(member)).get("Key")))


def _renamed(given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters under the API's own names; those that are none of them are left out."""
    return {known: value for name, value in given.items() if (known := _AS_THE_API_HAS_THEM.get(name.lower()))}


def _add_place(record: RequestRecord, event: dict[str, Any]) -> None:
    arns = [
        arn for one in map(mapping, listed(event.get("resources"))) if (arn := text(one.get("ARN") or one.get("arn")))
    ]
    if arns and record.table is None and record.parts is None and len(arns) == 1:
        place(record, arns[0])
    elif arns:
        table = record.table
        place(record, arns[0])
        record.table = table
    record.region = record.region or text(event.get("awsRegion"))
    record.account = record.account or text(event.get("recipientAccountId"))


def _add_caller(record: RequestRecord, event: dict[str, Any]) -> None:
    """Add who called: of an assumed role the role, for its session's name is another each time."""
    identity = mapping(event.get("userIdentity"))
    issuer = mapping(mapping(identity.get("sessionContext")).get("sessionIssuer"))
    record.principal = text(identity.get("arn"))
    record.caller = text(issuer.get("arn")) or record.principal or text(identity.get("principalId"))
    service = text(identity.get("invokedBy"))
    if service is not None and service.endswith(_SERVICE):
        record.via = service.removesuffix(_SERVICE)
    record.user_agent = text(event.get("userAgent"))


def _error(event: dict[str, Any], given: dict[str, Any]) -> RequestError | None:
    code = error_code(event.get("errorCode"))
    if code is None:
        return None
    told = text(event.get("errorMessage"))
    return RequestError(
        code, masked_message(told, texts_in(given.get("Key"))), cancellation=cancellation_in(code, told)
    )
