"""The way to AWS on a real wire: answers, faults by kind, retries, roles."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.errors import (
    AbsentError,
    BudgetError,
    CollectError,
    DeniedError,
    MalformedError,
    ThrottledError,
    UnreachableError,
    UnsupportedError,
    UsageError,
)
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.aws.config import AwsAccount, AwsConfig
from collectors.aws.session import Aws, Place
from tests.support.wire_aws import CLOUDWATCH_FAULTS, JSON_FAULTS, WireAws, error_xml, json_error, json_text, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.metric_world import MetricWorld

    Connect = Callable[..., Aws]

QUERY: dict[str, Any] = {
    "MetricDataQueries": [
        {
            "Id": "m0",
            "MetricStat": {
                "Metric": {
                    "Namespace": "AWS/DynamoDB",
                    "MetricName": "ConsumedReadCapacityUnits",
                    "Dimensions": [{"Name": "TableName", "Value": "orders"}],
                },
                "Period": 60,
                "Stat": "Sum",
            },
        }
    ],
    "StartTime": 1_796_032_500,
    "EndTime": 1_796_032_800,
}
ROLE = "arn:aws:iam::111122223333:role/dynascope"


async def get(aws: Aws, **place: Any) -> dict[str, Any]:
    return await aws.call("cloudwatch", "GetMetricData", **place, **QUERY)


async def test_what_is_ungated_is_called_and_paid_for_whoever_makes_the_other_calls(connect: Connect) -> None:
    def refuse() -> None:
        raise UnsupportedError("standby", hint="nothing is wrong")

    aws = connect()
    aws.permit = refuse
    with pytest.raises(UnsupportedError):
        await get(aws)
    await aws.ungated.call("cloudwatch", "GetMetricData", **QUERY)
    assert sum(aws.budget.spent()[0].values()) == 1


async def describe(aws: Aws, **place: Any) -> dict[str, Any]:
    return await aws.call("dynamodb", "DescribeTable", TableName="orders", **place)


async def failure(aws: Aws, ask: Any = get, **place: Any) -> CollectError:
    with pytest.raises(CollectError) as caught:
        await ask(aws, **place)
    return caught.value


def reason(error: CollectError) -> GapReason:
    gap = Gap.from_error(SourceName.CLOUDWATCH_METRICS, error)
    assert gap.hint
    return gap.reason


async def test_an_answer_is_its_members_and_times_are_times(connect: Connect, world: MetricWorld) -> None:
    world.table("orders")
    answer = await get(connect())
    assert set(answer) == {"MetricDataResults"}
    (result,) = answer["MetricDataResults"]
    assert result["Values"] == [600.0] * 4
    assert result["Timestamps"][0] == datetime(2026, 11, 30, 9, 55, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fault", "kind", "gap", "says"),
    [
        ("denied", DeniedError, GapReason.DENIED, "grant cloudwatch:GetMetricData"),
        ("throttled", ThrottledError, GapReason.THROTTLED, "look less often"),
        ("timeout", UnreachableError, GapReason.TIMEOUT, "check the network"),
        ("connection lost", UnreachableError, GapReason.TIMEOUT, "check region, endpoint"),
        ("truncated body", UnreachableError, GapReason.TIMEOUT, "check region, endpoint"),
        ("half an answer", MalformedError, GapReason.MALFORMED, "check endpoint_url and proxies"),
        ("500 HTML", MalformedError, GapReason.MALFORMED, "check endpoint_url and proxies"),
        ("200 HTML", MalformedError, GapReason.MALFORMED, "check endpoint_url and proxies"),
        ("wrong XML", MalformedError, GapReason.MALFORMED, "check endpoint_url and proxies"),
        ("wrong values", MalformedError, GapReason.MALFORMED, "check endpoint_url and proxies"),
        ("service fault", UnreachableError, GapReason.TIMEOUT, "a fault of its own"),
        ("expired token", DeniedError, GapReason.DENIED, "renew the credentials"),
        ("clock skew", DeniedError, GapReason.DENIED, "set the clock"),
        ("unknown key", DeniedError, GapReason.DENIED, "check the access key"),
    ],
)
async def test_a_fault_of_cloudwatch_is_told_by_its_kind_with_the_mend(
    fault: str, kind: type[CollectError], gap: GapReason, says: str, connect: Connect, wire: WireAws
) -> None:
    wire.faults["GetMetricData"] = CLOUDWATCH_FAULTS[fault]
    error = await failure(connect(read_ms=200 if fault == "timeout" else 10_000))
    assert type(error) is kind
    assert reason(error) is gap
    assert says in error.hint
    assert str(error).startswith("GetMetricData in us-east-1: ")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("denied", DeniedError),
        ("throttled", ThrottledError),
        ("absent", AbsentError),
        ("unsupported", UnsupportedError),
        ("half an answer", MalformedError),
        ("200 HTML", MalformedError),
        ("500 HTML", MalformedError),
        ("wrong JSON", MalformedError),
        ("clock skew", DeniedError),
    ],
)
async def test_a_fault_of_dynamodb_is_told_by_its_kind(
    fault: str, kind: type[CollectError], connect: Connect, wire: WireAws
) -> None:
    wire.faults["DescribeTable"] = JSON_FAULTS[fault]
    assert type(await failure(connect(), describe)) is kind


async def test_nothing_that_dynamodb_says_of_a_request_is_repeated(connect: Connect, wire: WireAws) -> None:
    wire.faults["DescribeTable"] = json_error("ValidationException", message="the key CASE#4711 is wrong")
    assert "4711" not in str(await failure(connect(), describe))


async def test_a_fault_that_passes_is_not_seen_from_outside(
    connect: Connect, wire: WireAws, world: MetricWorld
) -> None:
    world.table("orders")
    wire.script = [CLOUDWATCH_FAULTS[name] for name in ("throttled", "500 HTML", "service fault", "connection lost")]
    aws = connect(attempts=5)
    assert (await get(aws))["MetricDataResults"]
    assert aws.slept == [0.1, 0.2, 0.4, 0.8]  # type: ignore[attr-defined]


@pytest.mark.parametrize("fault", ["denied", "expired token", "clock skew"])
async def test_what_another_try_cannot_mend_is_tried_once(fault: str, connect: Connect, wire: WireAws) -> None:
    wire.faults["GetMetricData"] = CLOUDWATCH_FAULTS[fault]
    await failure(connect(attempts=5))
    assert len(wire.requests) == 1


async def test_when_everything_fails_the_retries_run_dry(connect: Connect, wire: WireAws) -> None:
    wire.faults["GetMetricData"] = CLOUDWATCH_FAULTS["service fault"]
    aws = connect(attempts=5)
    for _ in range(20):
        await failure(aws)
    assert len(wire.requests) == 20 + 20


async def test_a_call_is_given_up_at_its_deadline(connect: Connect, wire: WireAws) -> None:
    wire.faults["GetMetricData"] = CLOUDWATCH_FAULTS["throttled"]
    await failure(connect(attempts=50, deadline_ms=1000))
    assert len(wire.requests) == 4


@pytest.mark.parametrize("endpoint", ["localhost:5555", "nonsense", "http://", "http://127.0.0.1:99999"])
async def test_an_endpoint_that_is_no_address_is_usage(
    endpoint: str, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    aws = connect(endpoint_url=None)
    with pytest.raises(UsageError, match=r"the endpoint of AWS is no address: .*; write it whole, such as http://"):
        await aws.call("dynamodb", "ListTables")


async def test_nobody_at_the_endpoint_is_unreachable(connect: Connect, wire: WireAws) -> None:
    await wire.stop()
    assert reason(await failure(connect())) is GapReason.TIMEOUT


async def test_without_credentials_the_hint_says_where_to_get_some(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    error = await failure(connect())
    assert isinstance(error, DeniedError)
    assert "AWS_PROFILE" in error.hint


async def test_a_parameter_that_is_wrong_is_a_fault_of_ours(connect: Connect, wire: WireAws) -> None:
    with pytest.raises(UnsupportedError, match="TableNames"):
        await connect().call("dynamodb", "DescribeTable", TableNames="orders")
    assert wire.requests == []


async def test_a_body_that_streams_comes_back_whole(connect: Connect, wire: WireAws) -> None:
    wire.script = [text("line 1\nline 2\n")]
    answer = await connect().call("s3", "GetObject", Bucket="logs", Key="a/b")
    assert answer["Body"] == b"line 1\nline 2\n"
    assert wire.requests[0][0] == "/logs/a/b"


async def test_money_that_is_spent_stops_what_costs_and_nothing_else(
    connect: Connect, wire: WireAws, world: MetricWorld
) -> None:
    world.table("orders")
    aws = connect(max_usd_per_day=0.00002)
    await get(aws)
    await get(aws)
    error = await failure(aws)
    assert isinstance(error, BudgetError)
    assert reason(error) is GapReason.BUDGET
    assert len(wire.requests) == 2
    assert await describe(aws)
    assert aws.budget.spent().billed_metrics["GetMetricData"] == 2


async def test_what_aws_refused_costs_nothing_and_what_broke_off_may_have(connect: Connect, wire: WireAws) -> None:
    aws = connect()
    wire.script = [CLOUDWATCH_FAULTS[name] for name in ("throttled", "denied", "truncated body")]
    for _ in range(3):
        await failure(aws)
    spent = aws.budget.spent()
    assert (spent.calls["GetMetricData"], spent.billed_metrics["GetMetricData"]) == (3, 1)


async def test_calls_wait_for_their_turn(connect: Connect) -> None:
    aws = connect()
    for _ in range(14):
        await aws.call("cloudwatch", "ListMetrics")
    assert len(aws.slept) == 2  # type: ignore[attr-defined]


def assume(wire: WireAws, minutes: int = 60) -> None:
    def role(params: dict[str, Any]) -> dict[str, Any]:
        expires = datetime(2026, 11, 30, 10, tzinfo=UTC) + timedelta(minutes=minutes)
        name = params["RoleArn"].split(":")[4]
        given = {"AccessKeyId": f"AKID{name}", "SecretAccessKey": "s", "SessionToken": "t", "Expiration": expires}
        return {"Credentials": given}

    wire.answers["AssumeRole"] = role


def signed_by(wire: WireAws) -> list[str]:
    return [headers["Authorization"].split("Credential=")[1].split("/")[0] for headers in wire.headers]


async def test_a_role_is_assumed_once_with_its_external_id(connect: Connect, wire: WireAws) -> None:
    assume(wire)
    aws = connect(accounts=(AwsAccount("111122223333", ROLE, "shared-secret"),))
    for _ in range(3):
        await describe(aws, account="111122223333")
    (asked,) = wire.asked("AssumeRole")
    assert (asked["RoleArn"], asked["ExternalId"], asked["RoleSessionName"]) == (ROLE, "shared-secret", "dynascope")
    assert signed_by(wire) == ["AKIDTEST", *["AKID111122223333"] * 3]


async def test_calls_side_by_side_open_one_client_and_assume_one_role(connect: Connect, wire: WireAws) -> None:
    assume(wire)
    aws = connect(accounts=(AwsAccount("111122223333", ROLE),))
    await asyncio.gather(*(describe(aws, account="111122223333") for _ in range(5)))
    assert len(wire.asked("AssumeRole")) == 1
    assert len(aws._accounts["111122223333"].clients) == 1


def test_a_role_needs_its_account() -> None:
    with pytest.raises(ValueError, match="twelve digits"):
        AwsAccount(role=ROLE)


async def test_times_may_be_seconds_or_text(connect: Connect, wire: WireAws) -> None:
    for told in (1_796_032_800, 1_796_032_800.0, "2026-11-30T10:00:00Z", "Mon, 30 Nov 2026 10:00:00 GMT"):
        wire.script = [json_text(json.dumps({"Table": {"CreationDateTime": told}}))]
        answer = await describe(connect())
        assert answer["Table"]["CreationDateTime"] == datetime(2026, 11, 30, 10, tzinfo=UTC)


async def test_a_cold_start_on_many_tables_stays_below_the_rates(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = connect()
    sent: list[tuple[int, str]] = []

    async def send(_: Any, __: Any, ___: str, operation: str, ____: Any) -> dict[str, Any]:
        sent.append((aws._clock(), operation))
        return {}

    monkeypatch.setattr(aws, "_send", send)
    for table in range(500):
        await aws.call("dynamodb", "DescribeTable", TableName=f"table-{table}")
        for index in range(4):
            await aws.call("dynamodb", "DescribeContributorInsights", TableName=f"table-{table}", IndexName=f"i{index}")
    for operation, published in (("DescribeTable", 50), ("DescribeContributorInsights", 20)):
        seconds = [time // 1000 for time, name in sent if name == operation]
        assert max(Counter(seconds).values()) <= published


async def test_a_role_that_runs_out_is_assumed_again(connect: Connect, wire: WireAws) -> None:
    assume(wire, minutes=1)
    aws = connect(accounts=(AwsAccount("111122223333", ROLE),))
    await describe(aws, account="111122223333")
    await describe(aws, account="111122223333")
    assert len(wire.asked("AssumeRole")) == 2
    assert "ExternalId" not in wire.asked("AssumeRole")[0]


async def test_a_role_that_is_refused_names_the_permission_and_is_left_alone_for_a_while(
    connect: Connect, wire: WireAws
) -> None:
    wire.faults["AssumeRole"] = error_xml("AccessDenied", 403)
    aws = connect(accounts=(AwsAccount("111122223333", ROLE), AwsAccount("444455556666", ROLE.replace("1", "4"))))
    for _ in range(3):
        error = await failure(aws, describe, account="111122223333")
        assert "grant sts:AssumeRole" in error.hint
    assert len(wire.asked("AssumeRole")) == 1
    del wire.faults["AssumeRole"]
    assume(wire)
    assert await describe(aws, account="444455556666")
    await aws._sleep(11)
    assert await describe(aws, account="111122223333")


async def test_an_account_that_fails_uses_up_nothing_of_another(connect: Connect, wire: WireAws) -> None:
    assume(wire)
    aws = connect(attempts=3, accounts=(AwsAccount("111122223333", ROLE), AwsAccount()))
    wire.faults["DescribeTable"] = JSON_FAULTS["throttled"]
    for _ in range(20):
        await failure(aws, describe, account="111122223333")
    del wire.faults["DescribeTable"]
    wire.script = [JSON_FAULTS["throttled"], JSON_FAULTS["throttled"]]
    assert await describe(aws)


async def test_an_account_that_nobody_configured_is_refused(connect: Connect) -> None:
    assert "aws.accounts" in (await failure(connect(), account="999999999999")).hint


@pytest.mark.parametrize(
    ("config", "places"),
    [
        ({}, [Place(None, "us-east-1")]),
        ({"regions": ("eu-west-1", "us-east-1")}, [Place(None, "eu-west-1"), Place(None, "us-east-1")]),
        (
            {"accounts": (AwsAccount("1", ROLE, regions=("eu-west-1",)), AwsAccount("2", ROLE))},
            [Place("1", "eu-west-1"), Place("2", "us-east-1")],
        ),
    ],
)
def test_places_are_every_account_in_each_of_its_regions(config: dict[str, Any], places: list[Place]) -> None:
    assert list(Aws(AwsConfig(**config)).places()) == places


def test_without_a_region_the_environment_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ap-south-1")
    assert Aws(AwsConfig()).places() == (Place(None, "ap-south-1"),)


@pytest.mark.parametrize("fault", ["throttled", "500 HTML"])
async def test_an_api_that_may_be_called_once_in_a_while_is_not_waited_for_beyond_the_deadline(
    connect: Connect, wire: WireAws, fault: str
) -> None:
    wire.faults["DescribeLimits"] = JSON_FAULTS[fault]
    aws = connect(attempts=5)
    deadline = aws.config.deadline_ms / 1000
    for _ in range(6):  # again and again, so that the pace is at its slowest
        before = sum(aws.slept)  # type: ignore[attr-defined]
        with pytest.raises((ThrottledError, MalformedError)):
            await aws.call("dynamodb", "DescribeLimits")
        assert sum(aws.slept) - before <= deadline  # type: ignore[attr-defined]
    del wire.faults["DescribeLimits"]
    wire.answers["DescribeLimits"] = lambda _: {"AccountMaxReadCapacityUnits": 80_000}
    await aws._sleep(3600)
    assert await aws.call("dynamodb", "DescribeLimits") == {"AccountMaxReadCapacityUnits": 80_000}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"Credentials": {}},
        {"Credentials": {"AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c"}},
        {"Credentials": {"SessionToken": "c", "Expiration": datetime(2026, 11, 30, 11, tzinfo=UTC)}},
    ],
)
async def test_half_an_answer_to_who_assumes_a_role_is_a_failure_of_its_account_alone(
    connect: Connect, wire: WireAws, given: dict[str, Any]
) -> None:
    wire.answers["AssumeRole"] = lambda _: given
    aws = connect(accounts=(AwsAccount("111122223333", ROLE),))
    error = await failure(aws, describe, account="111122223333")
    assert isinstance(error, MalformedError)
    assert reason(error) is GapReason.MALFORMED
    assert await describe(aws)
    assume(wire)
    await aws._sleep(60)
    assert await describe(aws, account="111122223333")


@pytest.mark.parametrize("code", ["ExpiredTokenException", "UnrecognizedClientException"])
async def test_a_role_whose_credentials_aws_takes_no_more_is_assumed_again(
    connect: Connect, wire: WireAws, code: str
) -> None:
    assume(wire)
    aws = connect(accounts=(AwsAccount("111122223333", ROLE),))
    await describe(aws, account="111122223333")
    await aws._sleep(60)
    wire.faults["DescribeTable"] = json_error(code)
    for _ in range(5):  # of a region that is not enabled AWS says so every time: no role is asked for each time
        await failure(aws, describe, account="111122223333")
    del wire.faults["DescribeTable"]
    assert await describe(aws, account="111122223333")
    assert len(wire.asked("AssumeRole")) == 2


@pytest.mark.parametrize(
    "body",
    [
        '{"Table": {"CreationDateTime": 1e999}}',
        '{"Table": {"CreationDateTime": -1e30}}',
        '{"Table": {"TableName": ["orders"]}}',
        '{"Table": {"ItemCount": {"a": 1}}}',
        '{"Table": {"ItemCount": Infinity}}',
        '{"Table": {"GlobalSecondaryIndexes": [null]}}',
        '{"Table": {"GlobalSecondaryIndexes": [{"Projection": {"NonKeyAttributes": [1]}}]}}',
        '{"Table": ' + '{"a":' * 100_000 + "1" + "}" * 100_001,
    ],
    ids=["time", "time before all", "text", "number", "infinity", "nothing", "texts", "nesting"],
)
async def test_members_of_other_types_than_aws_publishes_are_no_answer(
    connect: Connect, wire: WireAws, body: str
) -> None:
    wire.script = [json_text(body)]
    error = await failure(connect(), describe)
    assert isinstance(error, MalformedError)
    assert len(str(error)) < 100


async def test_maps_of_texts_are_read_and_those_of_other_types_refused(connect: Connect, wire: WireAws) -> None:
    asked: dict[str, Any] = {"Key": {"PK": {"S": "a"}}, "TableName": "orders"}
    wire.script = [json_text('{"Item": {"PK": {"S": "a"}}}'), json_text('{"Item": {"PK": {"S": 1}}}')]
    aws = connect()
    assert (await aws.call("dynamodb", "GetItem", **asked))["Item"] == {"PK": {"S": "a"}}
    with pytest.raises(MalformedError):
        await aws.call("dynamodb", "GetItem", **asked)
