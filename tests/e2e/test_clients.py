from __future__ import annotations

import json
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

import aioboto3
import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from dynascope_sampler import Sampler, instrument
from pynamodb.attributes import UnicodeAttribute
from pynamodb.models import Model

from deploy.demo.processes import Emulator
from tests.e2e.conftest import Daemon, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

REGION = "us-east-1"
KEYS = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": REGION}
CONFIG = Config(retries={"max_attempts": 1})


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with Emulator() as emulator:
        client = boto3.client("dynamodb", endpoint_url=emulator.url, config=CONFIG, **KEYS)
        client.create_table(
            TableName="cases",
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
            BillingMode="PAY_PER_REQUEST",
        )
        yield emulator.url


def sample(target: Any, daemon: Daemon, caller: str) -> Sampler:
    return instrument(target, str(daemon.log), capacity=True, caller=caller, salt="e2e", account="111122223333")


def case(number: int) -> dict[str, Any]:
    return {"PK": f"CASE#{number}", "SK": "META"}


def wire(number: int) -> dict[str, Any]:
    return {name: {"S": value} for name, value in case(number).items()}


def use_client(url: str, daemon: Daemon) -> Sampler:
    client = boto3.session.Session().client("dynamodb", endpoint_url=url, config=CONFIG, **KEYS)
    sampler = sample(client, daemon, "client")
    for number in range(20):
        client.put_item(TableName="cases", Item={**wire(number), "state": {"S": "OPEN"}})
        client.get_item(TableName="cases", Key=wire(number))
    client.query(
        TableName="cases",
        KeyConditionExpression="PK = :pk",
        ExpressionAttributeValues={":pk": {"S": "CASE#1"}},
    )
    pages = client.get_paginator("scan").paginate(TableName="cases", PaginationConfig={"PageSize": 10})
    assert sum(page["Count"] for page in pages) == 20
    client.batch_get_item(RequestItems={"cases": {"Keys": [wire(1), wire(2)]}})
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "cases", "Item": wire(100)}}])
    with pytest.raises(ClientError):
        client.put_item(TableName="cases", Item=wire(1), ConditionExpression="attribute_not_exists(PK)")
    return sampler


def use_resource(url: str, daemon: Daemon) -> Sampler:
    resource = boto3.session.Session().resource("dynamodb", endpoint_url=url, config=CONFIG, **KEYS)
    sampler = sample(resource, daemon, "resource")
    table = resource.Table("cases")
    for number in range(10):
        table.update_item(
            Key=case(number),
            UpdateExpression="SET #s = :s",
            ExpressionAttributeNames={"#s": "state"},
            ExpressionAttributeValues={":s": "CLOSED"},
        )
        table.get_item(Key=case(number), ConsistentRead=True)
    with table.batch_writer() as batch:
        for number in range(200, 230):
            batch.put_item(Item=case(number))
    return sampler


async def use_aioboto3(url: str, daemon: Daemon) -> Sampler:
    session = aioboto3.Session()
    async with session.client("dynamodb", endpoint_url=url, config=CONFIG, **KEYS) as client:
        sampler = sample(client, daemon, "aioboto3")
        for number in range(10):
            await client.get_item(TableName="cases", Key=wire(number))
        await client.delete_item(TableName="cases", Key=wire(100))
    return sampler


def use_pynamodb(url: str, daemon: Daemon) -> Sampler:
    class Case(Model):
        class Meta:
            table_name = "cases"
            region = REGION
            host = url
            aws_access_key_id = "x"
            aws_secret_access_key = "x"

        PK = UnicodeAttribute(hash_key=True)
        SK = UnicodeAttribute(range_key=True)

    sampler = sample(None, daemon, "pynamodb")
    Case(uuid.uuid4().hex, "META").save()
    for number in range(5):
        Case.get(f"CASE#{number}", "META")
    assert len(list(Case.query("CASE#1", Case.SK.startswith("ME")))) == 1
    return sampler


async def test_what_real_clients_send_is_counted_to_the_last_request(endpoint: str, daemon: Daemon) -> None:
    daemon.configure(salt="e2e")
    daemon.start()
    samplers = [use_client(endpoint, daemon), use_resource(endpoint, daemon), await use_aioboto3(endpoint, daemon)]
    samplers.append(use_pynamodb(endpoint, daemon))
    for sampler in samplers:
        assert sampler.close()
        assert (sampler.stats.dropped, sampler.stats.failures) == (0, 0)
    records = [json.loads(line) for line in daemon.log.read_text().splitlines()]
    written = Counter(record["op"] for record in records if "op" in record)
    assert {"client", "resource", "aioboto3", "pynamodb"} == {record["caller"] for record in records}
    assert written["GetItem"] == 45
    assert written["BatchWriteItem"] == 2
    daemon.listening()
    wait_until(lambda: daemon.requests() >= written.total(), "all is counted")
    counted: Counter[str] = Counter()
    for sample_ in daemon.samples("dynascope_requests_total"):
        counted[sample_.labels["operation"]] += round(sample_.value)
    assert counted == written
    assert daemon.records("bad") == 0
    reads = [record for record in records if record.get("op") in {"GetItem", "Query", "Scan", "BatchGetItem"}]
    units = sum(record["consumed"]["total"] for record in reads)
    assert daemon.sum("dynascope_read_units_total") == units > 0
    assert daemon.sum("dynascope_requests_total", pattern="load-case", operation="GetItem") == 45
    assert daemon.sum("dynascope_request_errors_total", code="ConditionalCheckFailedException") == 1
    assert daemon.sum("dynascope_request_duration_seconds_count", operation="GetItem") == 45
    assert daemon.stop()[0] == 0
