"""Drives boto3 and aiobotocore of whatever version is installed through the sampler; a plain script, no pytest.

It is run twice: by the interpreter of `.venv`, and by that of `.venv-newest`. Prints the versions, fails by assertion.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "deploy" / "sampler")]

import aiobotocore  # noqa: E402 - after the path is set
import aiobotocore.session  # noqa: E402 - same
import boto3  # noqa: E402 - same
import botocore  # noqa: E402 - same
import dynascope_sampler  # noqa: E402 - same
from botocore.config import Config  # noqa: E402 - same
from botocore.exceptions import ClientError  # noqa: E402 - same

from tests.sampler.stub_dynamodb import CUT, StubDynamoDB, failure  # noqa: E402 - same

KEY = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}
UNITS = {"TableName": "cases", "CapacityUnits": 0.5, "Table": {"CapacityUnits": 0.5}}
REASON = {"reason": "TableReadKeyRangeThroughputExceeded", "resource": "arn:x"}
SCHEMA = {"cases": {"partition_key": "PK", "sort_key": "SK", "literals": ["CASE", "META"]}}


class Log:
    """A sampler that writes into memory."""

    def __init__(self, target: Any) -> None:
        self.lines = b""
        self.sampler = dynascope_sampler.instrument(
            target, sink=self.take, salt="pepper", schema=SCHEMA, capacity=True, caller="compatibility"
        )

    def take(self, lines: bytes) -> None:
        """Serve as the sink."""
        self.lines += lines

    def records(self) -> list[dict[str, Any]]:
        """Close and return all records."""
        assert self.sampler.close(10)
        assert self.sampler.stats.failures == 0, self.sampler.stats
        return [json.loads(line) for line in self.lines.splitlines()]


def script(stub: StubDynamoDB) -> None:
    """Let the stub answer a throttle, a cut, then success; and capacity where it is asked for."""
    stub.requests.clear()
    throttled = failure("ProvisionedThroughputExceededException", ThrottlingReasons=[REASON])
    stub.script = [throttled, CUT]
    stub.answer = lambda _operation, body: (
        failure("ConditionalCheckFailedException", "failed for CASE#1")
        if "ConditionExpression" in body
        else {"Item": KEY, **({"ConsumedCapacity": UNITS} if "ReturnConsumedCapacity" in body else {})}
    )


def check(records: list[dict[str, Any]]) -> None:
    """Check what both clients have to leave behind: a get that was retried, a failed condition."""
    retried, condition = records[:2]
    assert retried["op"] == "GetItem"
    assert retried["attempts"] == 3, retried
    assert [failed.get("reason") for failed in retried["tries"]] == [REASON["reason"], None]
    assert retried["consumed"] == {"total": 0.5, "table": 0.5}
    assert retried["key"]["SK"] == {"S": "META"}
    assert retried["key"]["PK"]["S"].startswith("CASE#~d")
    assert condition["op"] == "PutItem"
    assert condition["error"]["code"] == "ConditionalCheckFailedException"
    assert condition["key"] == retried["key"]
    assert "CASE#1" not in json.dumps(records)


def drive_boto3(stub: StubDynamoDB, config: Config) -> None:
    """Client, resource and presigned URL."""
    script(stub)
    session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    log = Log(session)
    client = session.client("dynamodb", endpoint_url=stub.url, config=config)
    assert "ConsumedCapacity" not in client.get_item(TableName="cases", Key=KEY)
    try:
        client.put_item(TableName="cases", Item=KEY, ConditionExpression="attribute_not_exists(PK)")
    except ClientError:
        pass
    else:
        raise AssertionError("the condition must fail")
    client.generate_presigned_url("get_item", Params={"TableName": "cases", "Key": KEY})
    table = session.resource("dynamodb", endpoint_url=stub.url, config=config).Table("cases")
    answer = table.get_item(Key={"PK": "CASE#1", "SK": "META"})
    assert answer["Item"] == {"PK": "CASE#1", "SK": "META"}
    assert "ConsumedCapacity" not in answer
    records = log.records()
    check(records)
    assert len(records) == 3
    assert records[2]["key"] == records[0]["key"]
    assert all(body.get("ReturnConsumedCapacity") == "INDEXES" for _, body in stub.requests)


async def drive_aiobotocore(stub: StubDynamoDB) -> None:
    """The asynchronous client, of a session that was instrumented."""
    script(stub)
    session = aiobotocore.session.get_session()
    log = Log(session)
    assert dynascope_sampler.instrument(session) is log.sampler
    options = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    async with session.create_client("dynamodb", endpoint_url=stub.url, **options) as client:
        assert dynascope_sampler.instrument(client) is log.sampler
        with dynascope_sampler.pattern("load-case"):
            assert "ConsumedCapacity" not in await client.get_item(TableName="cases", Key=KEY)
        try:
            await client.put_item(TableName="cases", Item=KEY, ConditionExpression="attribute_not_exists(PK)")
        except ClientError:
            pass
        else:
            raise AssertionError("the condition must fail")
    records = await asyncio.to_thread(log.records)
    check(records)
    assert records[0]["pattern"] == "load-case"


def main() -> None:
    """Run all."""
    stub = StubDynamoDB()
    try:
        for mode in ("legacy", "standard"):
            drive_boto3(stub, Config(retries={"mode": mode, "max_attempts": 4}))
        asyncio.run(drive_aiobotocore(stub))
    finally:
        stub.close()
    print(f"boto3 {boto3.__version__} botocore {botocore.__version__} aiobotocore {aiobotocore.__version__}")


if __name__ == "__main__":
    main()
