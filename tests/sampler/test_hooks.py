"""Inside the application's call: idempotent, invisible, and never the cause of a failure."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import aioboto3
import boto3
import dynascope_sampler
import pytest
from dynascope_sampler import hooks

if TYPE_CHECKING:
    from tests.sampler.conftest import Log
    from tests.sampler.stub_dynamodb import StubDynamoDB

CASE = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}


def get(client: Any) -> Any:
    return client.get_item(TableName="cases", Key=CASE)


def test_a_second_time_changes_nothing(log: Log) -> None:
    client = log.start()
    assert dynascope_sampler.instrument(log.session) is log.sampler
    assert dynascope_sampler.instrument(client) is log.sampler
    get(client)
    assert len(log.records()) == 1


def test_a_client_or_a_resource_alone_can_be_instrumented(log: Log) -> None:
    client = log.start(on_client=True)
    get(client)
    get(log.client())
    assert len(log.records()) == 1
    resource = log.session.resource("dynamodb", endpoint_url=log.url)
    sampler = dynascope_sampler.instrument(resource, sink=log.take)
    assert dynascope_sampler.instrument(resource.meta.client) is sampler
    resource.Table("cases").get_item(Key={"PK": "a", "SK": "b"})
    assert sampler.close()
    assert sampler.stats.written == 1


def test_after_close_nothing_is_logged(log: Log) -> None:
    client = log.start()
    get(client)
    assert log.sampler is not None
    assert log.sampler.close()
    get(client)
    get(log.client())
    assert log.stats.written == 1
    assert log.stats.failures == 0


def test_other_services_and_the_control_plane_are_not_logged(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start()
    dynamodb.answer = lambda *_: {"TableNames": []}
    client.list_tables()
    assert log.records() == []


@pytest.mark.parametrize("broken", ["build", "describe", "learn_from_call", "table_name"])
def test_a_fault_of_ours_is_counted_and_never_seen(log: Log, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug of the sampler")

    client = log.start()
    module = hooks if hasattr(hooks, broken) else sys.modules["dynascope_sampler.learning"]
    monkeypatch.setattr(module, broken, fail)
    assert get(client)["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert log.stats.failures == 1


def fail() -> str:
    raise RuntimeError("not today")


@pytest.mark.parametrize(
    ("option", "failures"),
    [
        ({"pattern": fail}, 1),
        ({"trace": fail}, 1),
        ({"trace": fail, "trace_rate": 0.0, "request_rate": 0.0, "key_rate": 1.0}, 2),
        ({"pattern": object}, 1),
        ({"trace": lambda: b"x"}, 1),
        ({"trace": None}, 0),
        ({"caller": b"x"}, 0),
        ({"account": 5}, 0),
        ({"salt": lambda: 5}, 0),
    ],
)
def test_what_the_user_gave_that_fails_costs_a_field_and_no_record(
    log: Log, option: dict[str, Any], failures: int
) -> None:
    get(log.start(**option))
    assert log.sampler is not None
    assert log.sampler.flush(10)
    assert (log.stats.written, log.stats.failures) == (1, failures)
    assert not {"pattern", "trace_id", "account"} & json.loads(log.lines).keys()


def test_a_malformed_arn_costs_no_record(log: Log) -> None:
    log.start().get_item(TableName="arn:x", Key=CASE)
    assert "account" not in log.record()


def test_after_close_a_client_made_before_can_be_instrumented_again(log: Log) -> None:
    client = log.start()
    first = log.sampler
    assert first is not None
    first.close()
    log.sampler = dynascope_sampler.instrument(client, sink=log.take)
    assert log.sampler is not first
    get(client)
    assert len(log.records()) == 1


@pytest.mark.parametrize("again", [False, True])
def test_a_call_under_way_at_the_close_still_hides_the_capacity(
    log: Log, dynamodb: StubDynamoDB, *, again: bool
) -> None:
    client = log.start(capacity=True, on_client=True)

    def answer(_operation: str, _body: Any) -> Any:
        assert log.sampler is not None
        log.sampler.close()
        if again:
            log.sampler = dynascope_sampler.instrument(client, sink=log.take)
        return {"ConsumedCapacity": {"TableName": "cases", "CapacityUnits": 1.0}}

    dynamodb.answer = answer
    assert "ConsumedCapacity" not in get(client)
    assert log.stats.failures == 0


@pytest.mark.parametrize(
    "option",
    [
        {"request_rate": 1.5},
        {"request_rate": "0.5"},
        {"key_rate": -1},
        {"keys": "clear"},
        {"queue_size": 0},
        {"queue_size": "x"},
        {"salt": 5},
        {"sink": 5},
        {"sink": b"log"},
        {"pattern": 5},
        {"trace": 5},
        {"backups": None},
    ],
)
def test_an_option_that_makes_no_sense_is_refused_at_once(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=str(next(iter(option)))):
        dynascope_sampler.instrument(boto3.Session(), **option)


def test_what_cannot_be_instrumented_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="int is no session"):
        dynascope_sampler.instrument(5)


def test_a_schema_that_cannot_be_read_stops_nobody(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    get(log.start(schema="/nowhere/at/all.json"))
    assert log.record()["op"] == "GetItem"
    assert "FileNotFoundError" in caplog.text


def test_calls_inside_a_pattern_are_tagged_with_it(log: Log) -> None:
    client = log.start(pattern="always")
    with dynascope_sampler.pattern("outer"):
        with dynascope_sampler.pattern("inner"):
            get(client)
        get(client)
    get(client)
    assert [record["pattern"] for record in log.records()] == ["inner", "outer", "always"]


def test_the_trace_comes_from_lambda_or_from_a_callable(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8")
    get(log.start())
    assert log.record()["trace_id"] == "1-5759e988-bd862e3fe1be46a994272793"


def test_the_trace_of_open_telemetry_wins(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    class Span:
        is_valid = True
        trace_id = 0xABC

        @classmethod
        def get_span_context(cls) -> type[Span]:
            return cls

    class Telemetry:
        get_current_span = staticmethod(lambda: Span)

    monkeypatch.setitem(sys.modules, "opentelemetry.trace", Telemetry)
    get(log.start())
    assert log.record()["trace_id"] == f"{0xABC:032x}"


def test_caller_and_account_are_on_every_record(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNASCOPE_CALLER", "from-environment")
    monkeypatch.setenv("DYNASCOPE_CALLER_VERSION", "7")
    get(log.start(caller=None, account="111122223333"))
    record = log.record()
    assert (record["caller"], record["caller_version"], record["account"]) == ("from-environment", "7", "111122223333")


async def test_aioboto3_sessions_log_like_boto3s(log: Log) -> None:
    session = aioboto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    log.sampler = dynascope_sampler.instrument(session, sink=log.take, salt="pepper", capacity=True)
    assert dynascope_sampler.instrument(session) is log.sampler

    async def tagged(client: Any, pattern: str) -> None:
        async with dynascope_sampler.pattern(pattern):
            await client.get_item(TableName="cases", Key=CASE)

    async with session.client("dynamodb", endpoint_url=log.url) as client:
        assert dynascope_sampler.instrument(client) is log.sampler
        await asyncio.gather(*[tagged(client, f"p{number}") for number in range(5)])
    async with session.resource("dynamodb", endpoint_url=log.url) as resource:
        table = await resource.Table("cases")
        assert "ConsumedCapacity" not in await table.get_item(Key={"PK": "CASE#1", "SK": "META"})
    records = await asyncio.to_thread(log.records)
    assert sorted(record.get("pattern", "") for record in records) == ["", "p0", "p1", "p2", "p3", "p4"]
    assert len({record["key"]["PK"]["S"] for record in records}) == 1


def test_it_imports_with_botocore_alone_and_little_else() -> None:
    program = (
        "import sys, botocore.session; before = set(sys.modules); import dynascope_sampler;"
        "print([name for name in sys.modules if name.partition('.')[0] in {'boto3', 'aiobotocore', 'aiohttp'}],"
        "len({name.partition('.')[0] for name in set(sys.modules) - before}) < 15)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True"


def test_libraries_that_make_their_own_sessions_are_logged_too(log: Log, dynamodb: StubDynamoDB) -> None:
    """PynamoDB keeps its sessions to itself: `instrument()` without one attaches to every session to come."""
    program = f"""
import dynascope_sampler, json
lines = []
sampler = dynascope_sampler.instrument(sink=lines.append, salt="s", caller="pynamodb")
assert dynascope_sampler.instrument() is sampler
from pynamodb.models import Model
from pynamodb.attributes import UnicodeAttribute
class Case(Model):
    class Meta:
        table_name, region, host = "cases", "us-east-1", "{log.url}"
        aws_access_key_id = aws_secret_access_key = "x"
    id = UnicodeAttribute(hash_key=True)
Case("CASE#1").save()
Case.get("CASE#1")
list(Case.query("CASE#1"))
assert sampler.close(10)
assert sampler.stats.failures == 0
print(json.dumps([json.loads(line) for line in b"".join(lines).splitlines()]))
"""
    item = {"id": {"S": "CASE#1"}}

    def answer(operation: str, _body: Any) -> Any:
        table = {"TableName": "cases", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}
        attributes = [{"AttributeName": "id", "AttributeType": "S"}]
        described = {"Table": {**table, "TableStatus": "ACTIVE", "AttributeDefinitions": attributes}}
        return (
            described
            if operation == "DescribeTable"
            else {"Item": item, "Items": [item], "Count": 1, "ScannedCount": 1}
        )

    dynamodb.answer = answer
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    assert [record["op"] for record in records] == ["PutItem", "GetItem", "Query"]
    assert len({record.get("key", {}).get("id", {}).get("S") for record in records[1:]}) == 1


@pytest.mark.parametrize("on_client", [True, False])
async def test_an_asynchronous_client_describes_a_table_beside_the_call(
    log: Log, dynamodb: StubDynamoDB, *, on_client: bool
) -> None:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer(operation: str, _body: Any) -> Any:
        if operation != "DescribeTable":
            return {}
        loop.call_soon_threadsafe(asked.set)
        return {"Table": {"TableName": "t", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}}

    dynamodb.answer = answer
    session = aioboto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    options: dict[str, Any] = {"sink": log.take, "salt": "pepper", "describe": True}
    if not on_client:
        log.sampler = dynascope_sampler.instrument(session, **options)
    async with session.client("dynamodb", endpoint_url=log.url) as client:
        if on_client:
            log.sampler = dynascope_sampler.instrument(client, **options)
        await client.put_item(TableName="t", Item={"id": {"S": "a"}})
        await asyncio.wait_for(asked.wait(), 10)
        await asyncio.gather(*[task for task in asyncio.all_tasks() if task is not asyncio.current_task()])
        await client.put_item(TableName="t", Item={"id": {"S": "a"}})
    before, after = await asyncio.to_thread(log.records)
    assert "key" not in before
    assert after["key"]["id"]["S"].startswith("~k")
