"""From one finished call to one raw record, in the application's thread: copies what is needed, keeps no reference.

A raw record is the record without what the key policy decides; `Finisher` adds that, in the writer thread.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

from dynascope_sampler.answers import consumed_units, statement_failures, table_name
from dynascope_sampler.expressions import bound, used_values
from dynascope_sampler.keys import Key, capture, capture_key
from dynascope_sampler.legacy import is_legacy, modernize
from dynascope_sampler.partiql import read_statement
from dynascope_sampler.parts import handed_back, index_keys_of, index_keys_of_update, item_key, parts_of
from dynascope_sampler.sizes import item_bytes, largest_item_bytes

if TYPE_CHECKING:
    from dynascope_sampler.schema import Schema, TableSchema

__all__ = ["OPERATIONS", "RETURNED_KEYS", "Call", "Raw", "build", "describe"]

RETURNED_KEYS = 25
"""Keys of returned items that a record holds; `count` tells where there were more."""

_ACCOUNT_OF_ARN = 4
_EXPIRY_LOOKED_AT = 1_000
_EMPTY: Mapping[str, Any] = {}
_AS_SENT: tuple[tuple[str, str, type], ...] = (
    ("ConsistentRead", "consistent", bool),
    ("ScanIndexForward", "forward", bool),
    ("Limit", "limit", int),
    ("Select", "select", str),
    ("Segment", "segment", int),
    ("TotalSegments", "total_segments", int),
)
_SELECTS = frozenset({"ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT", "SPECIFIC_ATTRIBUTES"})


class Call:
    """One call under way: what its hooks hand to one another through botocore's context."""

    __slots__ = (
        "began",
        "endpoint",
        "hides_capacity",
        "hooks",
        "operation",
        "params",
        "sent",
        "time",
        "token_sent",
        "tries",
    )

    def __init__(self, operation: str, params: Mapping[str, Any], hooks: Any = None, *, token_sent: bool) -> None:
        """Begin the clocks; `hooks` are those that saw it begin, to which its answer belongs."""
        self.hooks = hooks
        self.operation = operation
        self.params = params
        self.token_sent = token_sent
        self.hides_capacity = False
        self.endpoint: str | None = None
        self.tries: list[dict[str, Any]] | None = None
        self.time = time.time()
        self.began = self.sent = time.perf_counter()


class Raw:
    """A record before the key policy: `fields` are ready, the rest are captured values."""

    __slots__ = (
        "fields",
        "index_keys",
        "key",
        "names",
        "parts",
        "returned",
        "table",
        "time",
        "ttl",
        "values",
        "versions",
    )

    def __init__(self, when: float, operation: str) -> None:
        """Begin with what every record has."""
        self.time = when
        self.table: str | None = None
        self.fields: dict[str, Any] = {"op": operation}
        self.key: Key | None = None
        self.index_keys: dict[str, Key] | None = None
        self.values: Key | None = None
        self.names: Mapping[str, str] = _EMPTY
        self.parts: list[dict[str, Any]] | None = None
        self.returned: list[list[Any]] | None = None
        self.versions: list[tuple[str, str] | None] | None = None
        self.ttl: tuple[str, tuple[str, str] | None, int | None] | None = None


def build(call: Call, parsed: Mapping[str, Any], schema: Schema) -> Raw:
    """Copy what a record needs out of a call and its answer; `parsed` is empty for a call that failed."""
    raw = Raw(call.time, call.operation)
    params = modernize(call.params) if is_legacy(call.params) else call.params
    name = params.get("TableName")
    if name is not None:
        raw.table = raw.fields["table"] = table_name(name)
        if name.startswith("arn:"):
            parts = name.split(":")
            if len(parts) > _ACCOUNT_OF_ARN:
                raw.fields["account"] = parts[_ACCOUNT_OF_ARN]
    OPERATIONS[call.operation](raw, params, parsed, schema)
    consumed = parsed.get("ConsumedCapacity")
    if consumed:
        raw.fields["consumed"] = consumed_units(consumed)
    return raw


def describe(raw: Raw, call: Call, parsed: Mapping[str, Any], error: dict[str, Any] | None) -> None:
    """Add how a call went as such: its duration, tries, failure and ids."""
    fields = raw.fields
    fields["latency_ms"] = round((time.perf_counter() - call.began) * 1000, 3)
    metadata = parsed.get("ResponseMetadata")
    if metadata is not None:
        fields["attempts"] = metadata.get("RetryAttempts", 0) + 1
        if "RequestId" in metadata:
            fields["request_id"] = metadata["RequestId"]
        length = metadata.get("HTTPHeaders", _EMPTY).get("content-length")
        if length is not None and error is None:
            fields["returned_bytes"] = int(length)
    elif call.tries is not None:
        fields["attempts"] = len(call.tries)
    if call.tries is not None:
        fields["tries"] = call.tries
    if error is not None:
        fields["error"] = error
    if call.token_sent:
        fields["token_sent"] = True


def _read_shared(raw: Raw, params: Mapping[str, Any]) -> None:
    fields = raw.fields
    for parameter, field, kind in _AS_SENT:
        if parameter in params:
            value = params[parameter]
            if type(value) is kind and (kind is not str or value in _SELECTS):
                fields[field] = value
    projection = params.get("ProjectionExpression")
    if projection:
        fields["projection"] = projection
    raw.names = dict(params.get("ExpressionAttributeNames") or _EMPTY)


def _get(raw: Raw, params: Mapping[str, Any], parsed: Mapping[str, Any], schema: Schema) -> None:
    _read_shared(raw, params)
    raw.key = capture_key(params["Key"])
    if parsed:
        item = parsed.get("Item")
        raw.fields["count"] = 0 if item is None else 1
        if item is not None:
            raw.fields["item_bytes"] = item_bytes(item)
            _see_expired(raw, (item,), schema.table(raw.table or ""))


def _query(raw: Raw, params: Mapping[str, Any], parsed: Mapping[str, Any], schema: Schema) -> None:
    _read_shared(raw, params)
    fields = raw.fields
    condition = params.get("KeyConditionExpression")
    if condition:
        fields["key_condition"] = condition
        values = params.get("ExpressionAttributeValues") or _EMPTY
        raw.key = bound(condition, raw.names, values)
        raw.values = used_values(condition, values)
    if params.get("FilterExpression"):
        fields["filter"] = params["FilterExpression"]
    fields["resumed"] = "ExclusiveStartKey" in params
    index = params.get("IndexName")
    if index is not None:
        fields["index"] = index
    if parsed:
        if "Count" in parsed:
            fields["count"] = parsed["Count"]
            fields["scanned"] = parsed.get("ScannedCount", parsed["Count"])
        fields["more"] = "LastEvaluatedKey" in parsed
        items = parsed.get("Items") or ()
        table = schema.table(raw.table or "")
        largest = largest_item_bytes(items)
        if largest is not None:
            fields["item_bytes"] = largest
        if index is not None and items:
            _see_returned(raw, items, table)
        _see_expired(raw, items, table)


def _search(raw: Raw, params: Mapping[str, Any], parsed: Mapping[str, Any], _schema: Schema) -> None:
    _read_shared(raw, params)
    if params.get("IndexName"):
        raw.fields["index"] = params["IndexName"]
    if "SearchResults" in parsed:
        raw.fields["count"] = len(parsed["SearchResults"])


def _write(raw: Raw, params: Mapping[str, Any], parsed: Mapping[str, Any], schema: Schema) -> None:
    raw.names = dict(params.get("ExpressionAttributeNames") or _EMPTY)
    if params.get("ConditionExpression"):
        raw.fields["condition"] = params["ConditionExpression"]
    table = schema.table(raw.table or "")
    item = params.get("Item")
    if item is not None:
        raw.key = item_key(item, table)
        raw.fields["item_bytes"] = item_bytes(item)
    else:
        raw.key = capture_key(params["Key"])
    update = params.get("UpdateExpression")
    if update:
        raw.fields["update"] = update
        if params.get("ReturnValues") == "ALL_NEW" and parsed.get("Attributes"):
            item = parsed["Attributes"]
        elif table.indexes:
            raw.index_keys = index_keys_of_update(params["Key"], params, table)
    if item is not None:
        raw.index_keys = index_keys_of(item, table)
        if table.ttl_attribute in item:
            raw.ttl = (table.ttl_attribute or "", capture(item[table.ttl_attribute]), None)


def _many(raw: Raw, params: Mapping[str, Any], parsed: Mapping[str, Any], schema: Schema) -> None:
    operation = raw.fields["op"]
    raw.parts, raw.names = parts_of(operation, params, schema)
    tables = {part.get("table") for part in raw.parts}
    if len(tables) == 1:
        raw.table = tables.pop()
        if raw.table is not None:
            raw.fields["table"] = raw.table
    if operation == "BatchGetItem":
        _describe_batch_get(raw, params)
    if not parsed:
        return
    if operation in {"BatchGetItem", "BatchWriteItem"}:
        count, places = handed_back(operation, params, parsed)
        _hand_back(raw, count, places)
    _describe_responses(raw, parsed.get("Responses"))


def _describe_responses(raw: Raw, responses: Any) -> None:
    if isinstance(responses, dict):
        items: list[Any] = [item for found in responses.values() for item in found]
    else:
        items = [response["Item"] for response in responses or () if response.get("Item")]
        if raw.fields["op"] == "BatchExecuteStatement":
            throttled, failure = statement_failures(responses or ())
            _hand_back(raw, len(throttled), throttled)
            if failure is not None:
                raw.fields["error"] = failure
    if responses is not None:
        raw.fields["count"] = len(items)
        largest = largest_item_bytes(items)
        if largest is not None:
            raw.fields["item_bytes"] = largest


def _hand_back(raw: Raw, count: int, places: list[int] | None) -> None:
    raw.fields["unprocessed"] = count
    if places:
        raw.fields["handed_back"] = places


def _describe_batch_get(raw: Raw, params: Mapping[str, Any]) -> None:
    """Note what a batch asks of its tables, as far as it holds for the whole call."""
    requests = list(params["RequestItems"].values())
    consistent = {bool(request.get("ConsistentRead")) for request in requests}
    if len(consistent) == 1:
        raw.fields["consistent"] = consistent.pop()
    if len(requests) == 1:
        request = modernize(requests[0]) if is_legacy(requests[0]) else requests[0]
        if request.get("ProjectionExpression"):
            raw.fields["projection"] = request["ProjectionExpression"]
            raw.names = dict(request.get("ExpressionAttributeNames") or _EMPTY)


def _statement(raw: Raw, params: Mapping[str, Any], parsed: Mapping[str, Any], schema: Schema) -> None:
    statement = read_statement(
        params["Statement"], params.get("Parameters"), lambda table, index: schema.table(table).attributes(index)
    )
    fields = raw.fields
    fields["statement"] = statement.text
    if statement.table is not None:
        raw.table = fields["table"] = table_name(statement.table)
    if statement.secondary is not None:
        fields["index"] = statement.secondary
    raw.key, raw.values = statement.key, statement.values
    _read_shared(raw, params)
    fields["resumed"] = "NextToken" in params
    if parsed:
        fields["more"] = "NextToken" in parsed or "LastEvaluatedKey" in parsed
        items = parsed.get("Items")
        if items is not None and statement.operation == "Get":
            fields["count"] = len(items)
            largest = largest_item_bytes(items)
            if largest is not None:
                fields["item_bytes"] = largest


def _see_returned(raw: Raw, items: Any, table: TableSchema) -> None:
    names = table.key
    if not names:
        return
    seen = items[:RETURNED_KEYS]
    try:  # nearly all keys are strings, and this is run for every item that an index returns
        raw.returned = [[item[name]["S"] for name in names] for item in seen]
    except KeyError:
        raw.returned = [[capture(item[name]) or "" for name in names if name in item] for item in seen]
    version = table.version_attribute
    if version is not None:
        raw.versions = [capture(item[version]) if version in item else None for item in seen]


def _see_expired(raw: Raw, items: Any, table: TableSchema) -> None:
    attribute = table.ttl_attribute
    if attribute is None or not items or len(items) > _EXPIRY_LOOKED_AT:
        return
    expired = seen = 0
    for item in items:
        number = (item.get(attribute) or _EMPTY).get("N")
        if number is not None:
            seen += 1
            expired += 0 < float(number) < raw.time
    if seen:
        raw.ttl = (attribute, None, expired)


Builder = Callable[[Raw, Mapping[str, Any], Mapping[str, Any], "Schema"], None]

OPERATIONS: dict[str, Builder] = {
    "GetItem": _get,
    "Query": _query,
    "Scan": _query,
    "PutItem": _write,
    "UpdateItem": _write,
    "DeleteItem": _write,
    "BatchGetItem": _many,
    "BatchWriteItem": _many,
    "TransactGetItems": _many,
    "TransactWriteItems": _many,
    "ExecuteStatement": _statement,
    "BatchExecuteStatement": _many,
    "ExecuteTransaction": _many,
    "SearchVectors": _search,
}
