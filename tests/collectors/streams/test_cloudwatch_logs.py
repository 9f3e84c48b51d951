from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import AbsentError, CollectError, DeniedError, ThrottledError, UnreachableError, UnsupportedError
from analyzer.model.batch import Position
from analyzer.model.sight import GapReason
from collectors.request_log.cloudwatch_logs.collector import CloudwatchLogsStream
from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
from tests.collectors.streams.conftest import NOW, FakeAws, Kept, record

PATH = "logs:///aws/lambda/orders"


class Group:
    """A log group that answers a few events a page, and begins and ends with an empty page that leads on."""

    def __init__(self, page: int = 2) -> None:
        self.events: list[dict[str, Any]] = []
        self.page = page
        self.aws = FakeAws(FilterLogEvents=self.filter)
        self.visible_from: dict[str, int] = {}

    def put(self, number: int, at: int, message: str | None = None, stream: str = "s") -> None:
        text = json.dumps(record(number, at)) if message is None else message
        event = {"eventId": f"e{len(self.events)}", "logStreamName": stream, "timestamp": at, "message": text}
        self.events.append(event)

    def filter(self, startTime: int, endTime: int, nextToken: str = "", **_: Any) -> dict[str, Any]:  # noqa: N803 -- AWS's names
        found = [one for one in self.events if startTime <= one["timestamp"] <= endTime]
        if not nextToken:
            return {"events": [], "searchedLogStreams": [], "nextToken": "0"}
        start = int(nextToken)
        if start >= len(found):
            return {"events": []}
        return {"events": found[start : start + self.page], "nextToken": str(start + self.page)}

    def stream(self, positions: tuple[Position, ...] = (), now: int = NOW, **bounds: Any) -> CloudwatchLogsStream:
        config = CloudwatchLogsConfig("/aws/lambda/orders", **bounds)
        return CloudwatchLogsStream(config, self.aws, positions, lambda: now)


async def test_events_are_read_once_through_empty_pages(kept: Kept) -> None:
    group = Group()
    for number in range(7):
        group.put(number, NOW - 1000 * (10 - number))
    stream = group.stream()
    await kept.read(stream.look())
    await kept.read(stream.look())
    assert kept.ids == [f"r{number}" for number in range(7)]


async def test_without_a_checkpoint_reading_begins_a_while_ago(kept: Kept) -> None:
    group = Group()
    group.put(1, NOW - 3_600_000)
    group.put(2, NOW - 1000)
    stream = group.stream()
    assert stream.begin() == (Position(PATH, 0, 0, modified=NOW - 300_000),)
    await kept.read(stream.look())
    assert kept.ids == ["r2"]


async def test_an_event_that_comes_late_is_read(kept: Kept) -> None:
    group = Group()
    now = NOW
    config = CloudwatchLogsConfig("/aws/lambda/orders")
    stream = CloudwatchLogsStream(config, group.aws, (), lambda: now)
    await kept.read(stream.look())
    group.put(1, NOW - 5000)
    group.put(2, NOW - 90_000)
    now += 10_000
    await kept.read(stream.look())
    assert kept.ids == ["r1"]
    now += 60_000
    await kept.read(stream.look())
    assert kept.ids == ["r1", "r2"]


async def test_a_kill_after_any_block_loses_and_doubles_nothing(kept: Kept) -> None:
    group = Group()
    for number in range(20):
        group.put(number, NOW - 1000 * (60 - number))
    for _ in range(20):
        await kept.read(group.stream(kept.checkpoint()).look(), most=1)
    assert kept.ids == [f"r{number}" for number in range(20)]


async def test_what_came_while_the_daemon_was_down_is_read_in_steps(kept: Kept) -> None:
    group = Group(page=50)
    kept.positions = {PATH: Position(PATH, 0, 0, modified=NOW - 3_600_000)}
    for number in range(100):
        group.put(number, NOW - 3_600_000 + 36_000 * number)
    await kept.read(group.stream(kept.checkpoint()).look())
    assert kept.ids == [f"r{number}" for number in range(100)]
    (position,) = kept.checkpoint()
    assert position.modified == NOW - 900_000
    assert len(position.seen) < 30


async def test_the_horizon_moves_over_what_is_too_much_to_remember_and_steps_get_shorter(kept: Kept) -> None:
    group = Group(page=500)
    for number in range(1000):
        group.put(number, NOW - 100_000 + 100 * number)
    stream = group.stream(most_seen=100)
    await kept.read(stream.look())
    assert sorted(kept.ids) == sorted(f"r{number}" for number in range(1000))
    assert len(stream.position().seen) <= 100
    group.aws.calls.clear()
    await kept.read(group.stream(kept.checkpoint(), NOW + 1).look())
    assert len(kept.ids) == 1000


async def test_steps_grow_again_when_events_are_few(kept: Kept) -> None:
    group = Group(page=500)
    for number in range(200):
        group.put(number, NOW - 290_000 + number)
    stream = group.stream(most_seen=100)
    await kept.read(stream.look())
    asked = [params for _, params in group.aws.calls if "nextToken" not in params]
    spans = [params["endTime"] + 1 - params["startTime"] for params in asked]
    assert spans[0] == 60_000
    assert spans[1] == 30_000
    assert max(spans[2:]) == 60_000


async def test_a_javascript_log_gets_its_time_from_the_event(kept: Kept) -> None:
    call = {
        "clientName": "DynamoDBClient",
        "commandName": "GetItemCommand",
        "input": {"TableName": "cases", "Key": {"PK": {"S": "a"}}},
        "output": {},
        "metadata": {"httpStatusCode": 200, "requestId": "js1", "attempts": 1, "totalRetryDelay": 0},
    }
    group = Group()
    group.put(0, NOW - 4000, "START RequestId: 1 Version: $LATEST\n")
    group.put(0, NOW - 3000, f"2025-11-30T10:53:17.000Z\tid\tINFO\t{json.dumps(call)}\n")
    await kept.read(group.stream().look())
    assert kept.ids == ["js1"]


async def test_our_own_records_are_found_behind_what_a_logger_puts_before_them(kept: Kept) -> None:
    group = Group()
    group.put(0, NOW - 4000, f"[INFO]\t2025-11-30T10:53:16Z\tid\t{json.dumps(record(1))}\n")
    group.put(0, NOW - 3000, json.dumps(record(2), indent=1))
    group.put(0, NOW - 2000, '{"level": "INFO", "message": "not ours"}')
    group.put(0, NOW - 1000, "END RequestId: 1")
    await kept.read(group.stream().look())
    await kept.read(group.stream(shape="native").look())
    assert kept.ids == ["r1", "r2", "r1", "r2"]


async def test_requests_and_answers_of_one_log_stream_find_one_another(kept: Kept) -> None:
    def electro(kind: str, **fields: Any) -> str:
        return json.dumps({"type": kind, "method": "query", **fields})

    question = {"TableName": "cases", "KeyConditionExpression": "#pk = :pk", "ExpressionAttributeNames": {"#pk": "pk"}}
    group = Group(page=1)
    for stream in ("a", "b"):
        group.put(0, NOW - 4000, electro("query", params=question), stream)
    for stream in ("a", "b"):
        answer = electro("results", success=True, results={"Items": [], "Count": 0, "ScannedCount": 7})
        group.put(0, NOW - 3000, answer, stream)
    blocks = [block async for block in group.stream().look()]
    found = [json.loads(line) for block in blocks for line in block.lines.splitlines()]
    assert [one["scanned"] for one in found] == [7, 7]


async def test_a_failure_amid_pages_keeps_what_waits_for_its_answer(kept: Kept) -> None:
    question = json.dumps({"type": "query", "method": "query", "params": {"TableName": "cases"}})
    group = Group(page=1)
    group.put(0, NOW - 4000, question)
    group.put(0, NOW - 3000, question)
    stream = group.stream()
    answers = iter([group.filter, group.filter])

    def failing(**params: Any) -> dict[str, Any]:
        answer = next(answers, None)
        if answer is None:
            raise UnreachableError("FilterLogEvents: no answer in time", hint="check the network")
        return answer(**params)

    group.aws.operations["FilterLogEvents"] = failing
    with pytest.raises(UnreachableError):
        await kept.read(stream.look())
    group.aws.operations["FilterLogEvents"] = group.filter
    await kept.read(stream.look())
    assert kept.operations.count("Query") == 2


async def test_more_log_streams_than_the_bound_are_decoded_too() -> None:
    group = Group(page=1000)
    question = json.dumps({"type": "query", "method": "query", "params": {"TableName": "cases"}})
    for number in range(250):
        group.put(0, NOW - 4000, question, f"s{number}")
    found = [block.lines async for block in group.stream().look()]
    assert b"".join(found).count(b'"op":"Query"') == 250


async def test_a_group_without_requests_says_so(kept: Kept) -> None:
    group = Group()
    for _ in range(3):
        group.put(0, NOW - 1000, "hello")
    stream = group.stream()
    await kept.read(stream.look())
    (gap,) = stream.status().gaps
    assert (gap.reason, gap.detail) == (
        GapReason.MALFORMED,
        f"{PATH}: none of 3 events is a request log of a shape that is known",
    )
    group.put(1, NOW - 500)
    await kept.read(stream.look())
    assert stream.status().gaps == ()


async def test_the_sample_of_a_group_is_bounded(kept: Kept) -> None:
    group = Group(page=5000)
    for number in range(200):
        group.put(number, NOW - 1000, json.dumps(record(number, filter="x" * 8000)))
    await kept.read(group.stream().look())
    assert len(kept.ids) == 200


async def test_an_event_without_an_id_is_bad(kept: Kept) -> None:
    group = Group(page=10)
    group.put(1, NOW - 1000)
    group.events += [{"timestamp": NOW - 900, "message": "x"}]
    del group.events[-1]["message"]
    await kept.read(group.stream().look())
    assert kept.ids == ["r1"]
    assert kept.bad == {"an event of the log group has no id, time or message": 1}


async def test_a_duplicate_page_is_read_once(kept: Kept) -> None:
    group = Group(page=10)
    group.put(1, NOW - 1000)
    group.events.append(group.events[0])
    await kept.read(group.stream().look())
    assert kept.ids == ["r1"]


@pytest.mark.parametrize("answer", [{}, {"events": None}, {"events": [], "nextToken": "same"}])
async def test_half_an_answer_is_a_failure(kept: Kept, answer: dict[str, Any]) -> None:
    group = Group()
    group.aws.operations["FilterLogEvents"] = lambda **_: answer
    with pytest.raises(CollectError, match="FilterLogEvents"):
        await kept.read(group.stream().look())


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DeniedError("FilterLogEvents: AccessDeniedException", hint="grant logs:FilterLogEvents"), GapReason.DENIED),
        (ThrottledError("FilterLogEvents: ThrottlingException", hint="look less often"), GapReason.THROTTLED),
        (AbsentError("FilterLogEvents: ResourceNotFoundException", hint="check the name"), GapReason.NOT_ENABLED),
        (UnsupportedError("FilterLogEvents: InvalidParameterException", hint="check"), GapReason.UNSUPPORTED),
    ],
)
async def test_a_failure_is_a_gap_while_it_lasts_and_nothing_is_lost(
    kept: Kept, error: CollectError, reason: GapReason
) -> None:
    group = Group()
    group.put(1, NOW - 1000)
    group.aws.fail("FilterLogEvents", error)
    stream = group.stream(poll_ms=1)
    told: list[GapReason] = []

    def filtered(**params: Any) -> dict[str, Any]:
        told.extend(gap.reason for gap in stream.status().gaps)
        return group.filter(**params)

    group.aws.operations["FilterLogEvents"] = filtered
    async for block in stream.blocks():
        kept.take(block)
        if kept.ids:
            stream.stop()
    assert kept.ids == ["r1"]
    assert set(told) == {reason}


async def test_the_group_is_asked_for_as_it_is_named() -> None:
    group = Group()
    arn = "arn:aws:logs:eu-west-1:111122223333:log-group:orders"
    config = CloudwatchLogsConfig(arn, "web/", "TableName", "eu-west-1", "111122223333")
    stream = CloudwatchLogsStream(config, group.aws, (), lambda: NOW)
    assert [block async for block in stream.look() if block.lines] == []
    _, params = group.aws.calls[0]
    assert {name: params[name] for name in ("logGroupIdentifier", "logStreamNamePrefix", "filterPattern")} == {
        "logGroupIdentifier": arn,
        "logStreamNamePrefix": "web/",
        "filterPattern": "TableName",
    }
    assert stream.paths() == {f"logs://eu-west-1@111122223333/{arn}"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["put", "late", "look", "kill", "wait"]), st.integers(0, 9))))
async def test_whatever_happens_every_event_is_read_once(steps: list[tuple[str, int]]) -> None:
    group, kept, now, number = Group(page=3), Kept(), NOW, 0
    kept.positions = {one.path: one for one in group.stream().begin()}
    for step, size in [*steps, ("look", 0)]:
        if step == "wait":
            now += size * 20_000
        elif step in {"look", "kill"}:
            stream = group.stream(kept.checkpoint(), now)
            await kept.read(stream.look(), most=size if step == "kill" else 10**9)
        else:
            for _ in range(size):
                group.put(number, now - (size * 10_000 if step == "late" else 1))
                number += 1
    assert sorted(kept.ids) == sorted(f"r{one}" for one in range(number))


async def test_doctor_is_told_whether_the_group_may_be_read() -> None:
    group = Group()
    assert [(one.name, one.state) for one in await group.stream().check()] == [("request-log: FilterLogEvents", "ok")]
    group.aws.fail("FilterLogEvents", DeniedError("no", hint="grant logs:FilterLogEvents"))
    assert [(one.state, one.hint) for one in await group.stream().check()] == [("error", "grant logs:FilterLogEvents")]
