"""Calls DynamoDB as an instrumented Python service would: `python instrumented.py DYNAMODB_URL RECEIVER_URL`."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.botocore import BotocoreInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor


def main(url: str, receiver: str) -> None:
    provider = TracerProvider(resource=Resource.create({"service.name": "shop", "service.version": "1.4.2"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=receiver)))
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
    BotocoreInstrumentor().instrument(tracer_provider=provider)  # type: ignore[no-untyped-call]
    client = boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="demo",
        aws_secret_access_key="demo",
        config=Config(retries={"max_attempts": 0}),
    )
    call_all(client)
    provider.shutdown()


def call_all(client: Any) -> None:
    table: dict[str, Any] = {"TableName": "orders", "ReturnConsumedCapacity": "INDEXES"}
    key = {"PK": {"S": "CUSTOMER#9"}, "SK": {"S": "ORDER#1"}}
    put = {"Put": {"TableName": "orders", "Item": {**key, "n": {"N": "2"}}}}
    client.put_item(Item={**key, "n": {"N": "1"}}, **table)
    client.get_item(Key=key, ConsistentRead=True, **table)
    client.query(
        KeyConditionExpression="PK = :p",
        FilterExpression="n > :n",
        ExpressionAttributeValues={":p": {"S": "CUSTOMER#9"}, ":n": {"N": "5"}},
        ScanIndexForward=False,
        **table,
    )
    client.query(
        IndexName="GSI1",
        KeyConditionExpression="GSI1PK = :p",
        ExpressionAttributeValues={":p": {"S": "OPEN"}},
        Limit=5,
        **table,
    )
    client.scan(**table)
    client.batch_get_item(RequestItems={"orders": {"Keys": [key]}})
    client.transact_write_items(TransactItems=[put])
    with contextlib.suppress(ClientError):
        client.put_item(TableName="orders", Item=key, ConditionExpression="attribute_not_exists(PK)")
    client.describe_table(TableName="orders")


if __name__ == "__main__":
    main(*sys.argv[1:])
