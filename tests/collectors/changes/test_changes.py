from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.errors import DeniedError, MalformedError
from analyzer.model.instant import format_instant
from analyzer.model.sight import Covers, GapReason, SourceName
from analyzer.model.window import Window
from collectors.asking import Spot
from collectors.changes.collector import Changes
from collectors.changes.config import ChangesConfig
from tests.support.faults import FAULTS
from tests.support.scripted_aws import ScriptedAws

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.batch import Batch

DAY = 86_400_000
WINDOW = Window(100 * DAY, 100 * DAY + 300_000)
NEXT = Window(WINDOW.end, WINDOW.end + 300_000)
SPOT = Spot("us-east-1", "111122223333")


def event(number: int, time: int = WINDOW.start, name: str = "DeleteTable", table: str = "cases") -> dict[str, Any]:
    record = {
        "eventName": name,
        "eventTime": format_instant(time),
        "userIdentity": {"userName": "ada"},
        "requestParameters": {"tableName": table, "resourceId": f"table/{table}"},
    }
    return {"EventId": f"e{number}", "EventName": name, "CloudTrailEvent": json.dumps(record)}


def trail(*pages: Any) -> ScriptedAws:
    """Answer lookups of DynamoDB's own events with these pages, all others with nothing."""
    left = list(pages)

    def answer(asked: dict[str, Any]) -> Any:
        if asked["LookupAttributes"][0]["AttributeKey"] == "EventName":
            return {"Events": []}
        return left.pop(0) if len(left) > 1 else left[0]

    return ScriptedAws({"LookupEvents": answer})


def events(*listed: dict[str, Any], token: str | None = None) -> dict[str, Any]:
    return {"Events": list(listed)} | ({} if token is None else {"NextToken": token})


def changes(aws: ScriptedAws, **config: Any) -> Changes:
    return Changes(aws, ChangesConfig(**config), SPOT)


def told(batch: Batch) -> list[tuple[int, str | None, str]]:
    return [(change.time, change.table, change.what) for change in batch.changes]


async def test_changes_of_a_day_are_told_oldest_first() -> None:
    aws = trail(events(event(2, WINDOW.end), event(1, WINDOW.start - DAY)))
    batch = await changes(aws).collect(WINDOW)
    assert [change.time for change in batch.changes] == [WINDOW.start - DAY, WINDOW.end]
    assert batch.covers == (Covers(SourceName.CHANGES, Window(WINDOW.start - DAY, WINDOW.end)),)
    assert (batch.gaps, batch.region, batch.account) == ((), "us-east-1", "111122223333")


async def test_dynamodb_is_looked_up_by_source_and_autoscaling_by_the_names_of_its_calls() -> None:
    aws = trail(events())
    await changes(aws).collect(WINDOW)
    first, *others = aws.asked("LookupEvents")
    assert first == {
        "LookupAttributes": [{"AttributeKey": "EventSource", "AttributeValue": "dynamodb.amazonaws.com"}],
        "StartTime": (WINDOW.start - DAY) / 1000,
        "EndTime": WINDOW.end / 1000,
        "MaxResults": 50,
    }
    assert [asked["LookupAttributes"][0]["AttributeValue"] for asked in others] == [
        "RegisterScalableTarget",
        "DeregisterScalableTarget",
        "PutScalingPolicy",
        "DeleteScalingPolicy",
        "PutScheduledAction",
        "DeleteScheduledAction",
    ]


async def test_only_what_may_be_new_is_asked_for_and_what_came_late_is_found() -> None:
    late = event(3, WINDOW.end - 600_000)
    aws = trail(events(event(1)), events(event(1), late), events())
    source = changes(aws)
    await source.collect(WINDOW)
    assert told(await source.collect(NEXT)) == [
        (WINDOW.end - 600_000, "cases", "table-deleted"),
        (WINDOW.start, "cases", "table-deleted"),
    ]
    assert aws.asked("LookupEvents")[7]["StartTime"] == (WINDOW.end - 1_200_000) / 1000
    much_later = Window(WINDOW.end + 2 * DAY, WINDOW.end + 2 * DAY + 1)
    assert told(await source.collect(much_later)) == []


async def test_names_decide_whose_changes_are_told() -> None:
    aws = trail(events(event(1), event(2, table="other"), event(3, table="orders")))
    batch = await changes(aws, include=("c*", "o*"), exclude=("other",)).collect(WINDOW)
    assert {change.table for change in batch.changes} == {"cases", "orders"}


async def test_an_event_that_comes_on_two_pages_is_told_once() -> None:
    aws = trail(events(event(1), token="a"), events(event(1), event(2)))
    assert len((await changes(aws).collect(WINDOW)).changes) == 2


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failure_is_a_gap_and_the_next_poll_reads_from_where_it_would_have(fault: str) -> None:
    answer, reason = FAULTS[fault]
    aws = trail(answer, events(event(1, WINDOW.start - 3_600_000)))
    source = changes(aws)
    batch = await source.collect(WINDOW)
    (gap,) = batch.gaps
    assert (gap.source, gap.reason, bool(gap.hint)) == (SourceName.CHANGES, reason, True)
    assert (gap.start, gap.end, batch.covers, batch.changes) == (WINDOW.start - DAY, WINDOW.end, (), ())
    batch = await source.collect(NEXT)
    assert (batch.gaps, len(batch.changes)) == ((), 1)


async def test_after_a_failure_nothing_more_is_asked_until_the_next_poll() -> None:
    denied = DeniedError("LookupEvents: AccessDenied", hint="grant cloudtrail:LookupEvents")
    aws = ScriptedAws({"LookupEvents": denied})
    (gap,) = (await changes(aws).collect(WINDOW)).gaps
    assert len(aws.calls) == 1
    assert (gap.detail, gap.hint) == ("LookupEvents: AccessDenied", "grant cloudtrail:LookupEvents")


async def test_pages_before_a_failure_are_kept() -> None:
    aws = trail(events(event(1), token="a"), MalformedError("broken", hint="it is asked again"), events(event(2)))
    source = changes(aws)
    batch = await source.collect(WINDOW)
    assert (len(batch.changes), [gap.detail for gap in batch.gaps]) == (1, ["broken"])
    assert len((await source.collect(NEXT)).changes) == 2


async def test_an_event_that_cannot_be_read_hides_no_other() -> None:
    aws = trail(events(event(1), {"EventId": "x"}), events())
    source = changes(aws)
    batch = await source.collect(WINDOW)
    assert (len(batch.changes), [gap.reason for gap in batch.gaps]) == (1, [GapReason.MALFORMED])
    assert (await source.collect(NEXT)).gaps == ()


def endless() -> Callable[[dict[str, Any]], dict[str, Any]]:
    numbers = iter(range(10_000))

    def page(asked: dict[str, Any]) -> dict[str, Any]:
        if asked["LookupAttributes"][0]["AttributeKey"] == "EventName":
            return {"Events": []}
        return events(event(number := next(numbers)), token=str(number))

    return page


async def test_too_many_events_are_cut_and_told() -> None:
    aws = ScriptedAws({"LookupEvents": endless()})
    batch = await changes(aws).collect(WINDOW)
    (gap,) = batch.gaps
    assert (gap.reason, len(batch.changes)) == (GapReason.LOW_COVERAGE, 40)
    assert gap.detail == "LookupEvents: more than 2,000 events of dynamodb.amazonaws.com; the oldest are left out"


async def test_doctor_tries_a_lookup() -> None:
    (good,) = await changes(ScriptedAws({"LookupEvents": events()})).check()
    assert (good.name, good.state) == ("changes: LookupEvents", "ok")
    (bad,) = await changes(ScriptedAws({"LookupEvents": DeniedError("no", hint="grant it")})).check()
    assert (bad.state, bad.hint) == ("error", "grant it")
