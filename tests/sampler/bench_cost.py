"""What the sampler costs a call: its handlers alone, the writer's CPU included, and the share of a stubbed boto3 call.

python tests/sampler/bench_cost.py [--batches 30] [--calls 2000]
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import boto3
import dynascope_sampler
from botocore.awsrequest import AWSResponse

UNSAMPLED_LIMIT_US = 8.0
KEPT_LIMIT_US = 60.0
_CHUNK = 100
"""Calls prepared at a time: few enough to be as fresh in the processor's cache as an answer just parsed."""

SCHEMA = {
    "cases": {
        "partition_key": "PK",
        "sort_key": "SK",
        "indexes": {"GSI1": ["GSI1PK", "GSI1SK"], "GSI2": ["GSI2PK", "GSI2SK"]},
        "literals": ["CASE", "META", "INVESTIGATOR", "STATUS", "ACTIVE", "DUE", "AUDIT"],
        "ttl_attribute": "expiresAt",
    }
}
CAPACITY = {"TableName": "cases", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}


@lru_cache(maxsize=256)
def item(number: int) -> dict[str, Any]:
    """Return an item of twelve attributes, some 500 bytes; neighbors share theirs, to stay in the processor's cache."""
    texts = {"PK": f"CASE#{number % 5000}", "SK": f"AUDIT#{number}", "title": "t" * 60, "note": "n" * 200}
    return {
        **{name: {"S": text} for name, text in texts.items()},
        "GSI1PK": {"S": f"INVESTIGATOR#{number % 50}#STATUS#ACTIVE"},
        "GSI1SK": {"S": f"DUE#2026-11-{number % 28:02d}"},
        "amount": {"N": "1299.50"},
        "version": {"N": str(number % 9)},
        "open": {"BOOL": True},
        "tags": {"L": [{"S": "urgent"}, {"S": "fraud"}]},
        "address": {"M": {"city": {"S": "Springfield"}, "zip": {"S": "12345"}}},
        "expiresAt": {"N": "1999999999"},
    }


def calls(kind: str) -> tuple[str, Any, Any]:
    """Return the operation, its parameters by number, and its answer by number."""
    if kind == "get":
        return (
            "GetItem",
            lambda n: {"TableName": "cases", "Key": {"PK": {"S": f"CASE#{n % 5000}"}, "SK": {"S": "META"}}},
            lambda n: {"Item": item(n), "ConsumedCapacity": CAPACITY},
        )
    if kind == "put":
        return (
            "PutItem",
            lambda n: {"TableName": "cases", "Item": item(n), "ConditionExpression": "attribute_not_exists(PK)"},
            lambda n: {"ConsumedCapacity": CAPACITY},
        )
    if kind == "query":
        return (
            "Query",
            lambda n: {
                "TableName": "cases",
                "KeyConditionExpression": "#n0 = :v0 AND begins_with(#n1, :v1)",
                "ExpressionAttributeNames": {"#n0": "PK", "#n1": "SK"},
                "ExpressionAttributeValues": {":v0": {"S": f"CASE#{n % 5000}"}, ":v1": {"S": "AUDIT#"}},
                "Limit": 25,
            },
            lambda n: {"Items": [item(n + k) for k in range(10)], "Count": 10, "ScannedCount": 10},
        )
    return (
        "Query",
        lambda n: {
            "TableName": "cases",
            "IndexName": "GSI1",
            "KeyConditionExpression": "#n0 = :v0 AND begins_with(#n1, :v1)",
            "ExpressionAttributeNames": {"#n0": "GSI1PK", "#n1": "GSI1SK"},
            "ExpressionAttributeValues": {
                ":v0": {"S": f"INVESTIGATOR#{n % 50}#STATUS#ACTIVE"},
                ":v1": {"S": "DUE#"},
            },
            "Limit": 25,
        },
        lambda n: {"Items": [item(n + k) for k in range(10)], "Count": 10, "ScannedCount": 10},
    )


class Emitter:
    """Stands for botocore's emitter and keeps the handlers, so that nothing but them is measured."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    def register(self, event: str, handler: Any, unique_id: str) -> None:
        self.handlers[event.partition(".")[0]] = handler

    register_first = register_last = register

    def unregister(self, event: str, unique_id: str) -> None:
        """Forget a handler, if there is one."""
        self.handlers.pop(event.partition(".")[0], None)

    def emit(self, _event: str) -> list[Any]:
        """Answer as an emitter that nobody has instrumented."""
        return []


def handlers_us(kind: str, batches: int, size: int, **options: Any) -> float:
    """Return CPU microseconds a call of handlers and writer together: the least of all batches."""
    emitter = Emitter()
    target = SimpleNamespace(meta=SimpleNamespace(events=emitter))
    sampler = dynascope_sampler.instrument(
        target, sink=lambda _lines: None, schema=SCHEMA, salt="bench", queue_size=size * 2, **options
    )
    on = emitter.handlers
    operation, params_of, answer_of = calls(kind)
    model = SimpleNamespace(name=operation)
    response = SimpleNamespace(status_code=200)
    received = {"status_code": 200}
    best = float("inf")
    for batch in range(batches):
        spent = 0.0
        for first in range(batch * size, (batch + 1) * size, _CHUNK):
            prepared = []
            for number in range(first, first + _CHUNK):
                metadata = {"RequestId": "R" * 52, "HTTPHeaders": {"content-length": "900"}, "RetryAttempts": 0}
                context = {"client_region": "us-east-1"}
                answer = {**answer_of(number), "ResponseMetadata": metadata}
                prepared.append(
                    (params_of(number), context, SimpleNamespace(context=context, url="https://x/"), answer)
                )
            gc.freeze()  # the prepared calls are the bench's, not the handlers' garbage to search
            began = time.process_time()
            for params, context, request, parsed in prepared:
                on["before-parameter-build"](params=params, model=model, context=context, event_name="e")
                on["request-created"](request=request, operation_name=operation, event_name="e")
                on["response-received"](
                    response_dict=received, parsed_response=parsed, context=context, exception=None, event_name="e"
                )
                on["after-call"](http_response=response, parsed=parsed, model=model, context=context, event_name="e")
            sampler.flush(10)
            spent += time.process_time() - began
            gc.unfreeze()
        best = min(best, spent / size * 1e6)
    assert sampler.stats.failures == 0
    assert sampler.stats.dropped == 0
    sampler._emitters.clear()
    sampler.close()
    return best


class Body:
    """The raw body of a stubbed answer."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, *_: Any, **__: Any) -> Any:
        """Yield the content once."""
        yield self._content


def stubbed_call_us(rounds: int, size: int, **options: Any) -> float:
    """Return CPU microseconds of a boto3 GetItem whose answer is made up in before-send; without options, bare."""
    session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    sampler = None
    if options:
        sampler = dynascope_sampler.instrument(
            session, sink=lambda _lines: None, schema=SCHEMA, salt="bench", **options
        )
    client = session.client("dynamodb")
    content = json.dumps({"Item": item(1)}).encode()
    headers = {"content-length": str(len(content)), "x-amzn-requestid": "R" * 52}
    client.meta.events.register(
        "before-send.dynamodb", lambda request, **_: AWSResponse(request.url, 200, headers, Body(content))
    )
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        for number in range(size):
            client.get_item(TableName="cases", Key={"PK": {"S": f"CASE#{number}"}, "SK": {"S": "META"}})
        if sampler is not None:
            sampler.flush(5)
        best = min(best, (time.process_time() - began) / size * 1e6)
    if sampler is not None:
        sampler.close()
    return best


def main() -> int:
    """Print the figures; 1 if a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--calls", type=int, default=2_000)
    options = parser.parse_args()
    failed = False
    print(f"handlers alone, writer's CPU included: least of {options.batches} batches of {options.calls}, µs a call")
    for kind, label in (
        ("get", "GetItem"),
        ("put", "PutItem, 2 indexes"),
        ("query", "Query, 10 items"),
        ("index", "Query of an index, 10 items"),
    ):
        unsampled = handlers_us(kind, options.batches, options.calls, request_rate=0.0)
        kept = handlers_us(kind, options.batches, options.calls, request_rate=1.0)
        traced = handlers_us(kind, options.batches, options.calls, request_rate=0.0, trace_rate=0.0, key_rate=0.0)
        failed |= unsampled > UNSAMPLED_LIMIT_US or kept > KEPT_LIMIT_US
        print(f"  {label:28} unsampled {unsampled:5.1f}   with trace and key strata {traced:5.1f}   kept {kept:5.1f}")
    print(f"  limits{'':22} unsampled {UNSAMPLED_LIMIT_US:5.1f}   {'':32} kept {KEPT_LIMIT_US:5.1f}")
    size = max(200, options.calls // 5)
    bare = stubbed_call_us(10, size)
    unsampled = stubbed_call_us(10, size, request_rate=0.001)
    kept = stubbed_call_us(10, size, request_rate=1.0)
    print("a boto3 GetItem with a made-up answer, µs of CPU a call, and what the sampler adds")
    print(f"  bare {bare:6.1f}   1 in 1,000 kept {unsampled:6.1f} ({unsampled / bare - 1:+.1%})", end="")
    print(f"   all kept {kept:6.1f} ({kept / bare - 1:+.1%})")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
