"""Each collector × each fault: the right gap with a hint, nothing lost, nothing old told as new, and it recovers.

The table has a row for every AWS operation that a collector calls. A cell that cannot be has its reason in the row, and
one test holds the table against what was really asked. Everything goes over the wire, through the way to AWS.
"""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest
import pytest_asyncio

from analyzer.errors import CollectError
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.aws.config import AwsConfig
from collectors.aws.session import Aws
from tests.collectors.streams.conftest import NOW as OTLP_NOW
from tests.collectors.streams.test_otlp import export, listening, span
from tests.support.faulty_aws import FaultyAws
from tests.support.matrix_hands import HANDS, Hand
from tests.support.matrix_subjects import POLLED, STREAMS, Seen, open_subject
from tests.support.matrix_worlds import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

_in_one_loop = pytest.mark.asyncio(loop_scope="module")
"""Servers and clients are opened once."""

Reasons = frozenset[GapReason]
Cell = Reasons | str
"""The reasons of the gaps; or why there is no such cell."""

NOTHING: Reasons = frozenset()
"""Nobody can know of it: what was missing is there with the next look."""
DENIED, THROTTLED, TIMEOUT = ({one} for one in (GapReason.DENIED, GapReason.THROTTLED, GapReason.TIMEOUT))
WIRE: dict[str, Reasons] = {
    "denied": frozenset(DENIED),
    "throttled": frozenset(THROTTLED),
    "timeout": frozenset(TIMEOUT),
    "truncated": frozenset({GapReason.TIMEOUT, GapReason.MALFORMED}),
    "html": frozenset({GapReason.TIMEOUT, GapReason.MALFORMED}),
    "wrong": frozenset({GapReason.MALFORMED}),
    "expired": frozenset(DENIED),
}
"""Of two reasons either is right: half an answer is a connection that broke, 500 and HTML a service that fails."""
FAULTS = (*WIRE, "partial", "duplicate", "late")
READ_MS = 250
"""What a call that is held is given up after."""


class Row(NamedTuple):
    """What three of the faults do to an operation; the others do the same everywhere.

    `is_facet`: without it a collector still covers what it covers, and only that one thing is missing. `is_mute`: it
    asks for a number that it can do without, and says that it does not know it.
    """

    partial: Cell
    duplicate: Cell
    late: Cell
    is_facet: bool = False
    is_mute: bool = False


ONE = "one answer, without pages"
NOW = "it tells how things stand, and nothing that happened"
WRITE = "it writes, and tells nothing"
PAGES = Row(frozenset(THROTTLED), NOTHING, NOW)
SINGLE = Row(ONE, ONE, NOW)
WRITTEN = Row(WRITE, WRITE, WRITE)

TABLE: dict[tuple[str, str, str], Row] = {
    ("cloudwatch_metrics", "monitoring", "ListMetrics"): PAGES._replace(is_facet=True),
    ("cloudwatch_metrics", "monitoring", "GetMetricData"): PAGES._replace(late=frozenset({GapReason.LATE})),
    ("contributor_insights", "dynamodb", "ListContributorInsights"): PAGES._replace(is_facet=True),
    ("contributor_insights", "dynamodb", "DescribeContributorInsights"): SINGLE,
    ("contributor_insights", "monitoring", "GetInsightRuleReport"): SINGLE._replace(late=NOTHING, is_facet=False),
    ("table_catalog", "dynamodb", "ListTables"): PAGES._replace(is_facet=True),
    ("table_catalog", "dynamodb", "DescribeTable"): SINGLE,
    ("table_catalog", "dynamodb", "DescribeTimeToLive"): SINGLE._replace(is_facet=True),
    ("table_catalog", "dynamodb", "ListTagsOfResource"): PAGES._replace(is_facet=True),
    ("table_catalog", "dynamodb", "DescribeLimits"): SINGLE._replace(is_facet=True),
    ("table_catalog", "application-autoscaling", "DescribeScalableTargets"): PAGES._replace(is_facet=True),
    ("table_catalog", "application-autoscaling", "DescribeScalingPolicies"): PAGES._replace(is_facet=True),
    ("table_catalog", "application-autoscaling", "DescribeScheduledActions"): PAGES._replace(is_facet=True),
    ("table_catalog", "application-autoscaling", "DescribeScalingActivities"): PAGES._replace(
        late=NOTHING, is_facet=True
    ),
    ("changes", "cloudtrail", "LookupEvents"): PAGES._replace(late=NOTHING),
    ("s3", "s3", "ListObjectsV2"): PAGES._replace(late=NOTHING),
    ("s3", "s3", "GetObject"): Row(
        frozenset({GapReason.MALFORMED}), "a part is asked for by its bytes", "an object is whole when it is listed"
    ),
    ("cloudwatch_logs", "logs", "FilterLogEvents"): PAGES._replace(late=NOTHING),
    ("xray", "xray", "GetTraceSummaries"): PAGES._replace(late=NOTHING),
    ("xray", "xray", "BatchGetTraces"): PAGES._replace(late=NOTHING),
    ("insights_watch", "sts", "GetCallerIdentity"): SINGLE,
    ("insights_watch", "dynamodb", "DescribeTable"): SINGLE,
    ("insights_watch", "dynamodb", "DescribeContributorInsights"): SINGLE,
    ("insights_watch", "dynamodb", "UpdateContributorInsights"): WRITTEN,
    ("insights_watch", "monitoring", "DescribeInsightRules"): PAGES._replace(is_mute=True),
    ("insights_watch", "monitoring", "GetMetricData"): SINGLE._replace(is_mute=True),
    ("canary", "sts", "GetCallerIdentity"): SINGLE,
    ("canary", "dynamodb", "DescribeTable"): SINGLE,
    ("canary", "dynamodb", "DescribeTimeToLive"): SINGLE,
    ("canary", "dynamodb", "PutItem"): WRITTEN,
    ("canary", "dynamodb", "Query"): Row("one item is asked for", "one item is asked for", "the lag is what it reads"),
    ("canary", "dynamodb", "DeleteItem"): WRITTEN,
}


def cells(*kinds: str) -> list[Any]:
    """Every cell that can be, of some collectors."""
    return [
        pytest.param((kind, service, operation), fault, id=f"{kind}-{operation}-{fault}")
        for (kind, service, operation), row in TABLE.items()
        if kind in kinds
        for fault in FAULTS
        if fault in WIRE or not isinstance(getattr(row, fault), str)
    ]


def expected(row: tuple[str, str, str], fault: str) -> Reasons:
    found: Reasons = WIRE[fault] if fault in WIRE else getattr(TABLE[row], fault)
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wire() -> AsyncIterator[FaultyAws]:
    running = await FaultyAws().start()
    yield running
    await running.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def aws(wire: FaultyAws) -> AsyncIterator[Aws]:
    """The way to AWS as the daemon has it, but that nothing is tried twice, and nobody waits for a turn."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patched.setenv(name, "test")
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
            patched.delenv(name, raising=False)
        opened = Aws(
            AwsConfig(("us-east-1",), endpoint_url=wire.url, attempts=1, rate_share=1000.0, max_usd_per_day=None)
        )
        yield opened
        await opened.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def truths(wire: FaultyAws, aws: Aws) -> Callable[[str], Any]:
    """What three looks tell when nothing fails."""
    known: dict[str, list[Seen]] = {}

    async def of(kind: str) -> list[Seen]:
        if kind not in known:
            world = World(wire)
            one = open_subject(kind, world, aws)
            known[kind] = [await one.look()]
            for minutes in (5, 6):
                world.go(minutes)
                known[kind].append(await one.look())
        return known[kind]

    return of


class Patience:
    """While a fault lasts a call that is held is given up soon."""

    def __init__(self, aws: Aws, fault: str) -> None:
        self._aws, self._is_short = aws, fault == "timeout"
        self._config = aws.config

    def __enter__(self) -> None:
        if self._is_short:
            self._aws.config = msgspec.structs.replace(self._config, connect_ms=0, read_ms=READ_MS)

    def __exit__(self, *_: object) -> None:
        self._aws.config = self._config


@_in_one_loop
@pytest.mark.parametrize(("row", "fault"), cells(*POLLED, *STREAMS))
async def test_a_fault_is_a_gap_and_the_next_look_has_all_that_was_missed(
    wire: FaultyAws, aws: Aws, truths: Callable[[str], Any], row: tuple[str, str, str], fault: str
) -> None:
    kind, *api = row
    truth = await truths(kind)
    world = World(wire)
    one = open_subject(kind, world, aws)
    assert (await one.look()).facts == truth[0].facts
    world.go(5)
    with wire.struck(fault, (api[0], api[1])), Patience(aws, fault):
        during = await one.look()
    reasons = expected(row, fault)
    assert {gap.reason for gap in during.gaps} <= reasons
    assert bool(during.gaps) == bool(reasons)
    assert all(gap.hint and gap.detail for gap in during.gaps)
    assert during.facts <= truth[1].facts, "something old is told as new, or twice"
    if reasons and not TABLE[row].is_facet and kind in POLLED:
        assert not truth[1].covers <= during.covers
    world.go(6)
    after = await one.look()
    assert after.gaps == ()
    assert after.facts == truth[2].facts, "something is lost, or told twice"
    assert after.covers == truth[2].covers


def told_of(error: CollectError) -> set[GapReason]:
    gap = Gap.from_error(SourceName.CANARY, error)
    assert gap.hint
    return {gap.reason}


@_in_one_loop
@pytest.mark.parametrize(("row", "fault"), cells(*HANDS))
async def test_a_hand_that_fails_leaves_nothing_behind_that_the_next_does_not_undo(
    wire: FaultyAws, aws: Aws, tmp_path: Path, row: tuple[str, str, str], fault: str
) -> None:
    kind, *api = row
    hand = Hand(kind, wire, aws, tmp_path)
    before, healthy = hand.traces(), await hand.plan()
    with wire.struck(fault, (api[0], api[1])), Patience(aws, fault):
        reasons: set[GapReason] = set()
        try:
            plan = await hand.plan()
            assert hand.traces() == before, "a plan changes nothing"
            if TABLE[row].is_mute:
                unknown = plan.rules_used if api[1] == "DescribeInsightRules" else plan.requests_a_second
                assert unknown == (12 if fault == "duplicate" else None), "what came twice is counted once"
                reasons |= expected(row, fault)
            else:
                await hand.run(plan)
        except CollectError as error:
            reasons |= told_of(error)
            assert bool(hand.notes()) or hand.traces() == before, "what is not undone is on disk"
    assert reasons <= expected(row, fault)
    assert bool(reasons) == bool(expected(row, fault))
    assert await hand.undo() == ()
    assert hand.notes() == []
    assert hand.traces() == before
    again = await hand.plan()
    assert again == healthy
    await hand.run(again)
    assert (hand.traces(), hand.notes()) == (before, [])


class Sent(NamedTuple):
    """What a client sends to the receiver, whether it sends it again, and what is counted in the end."""

    bodies: tuple[Any, ...]
    statuses: tuple[int, ...]
    encoding: str | None = None
    bounds: dict[str, Any] | None = None
    bad: int = 0


WHOLE = export(span(1), span(2))
PACKED = gzip.compress(WHOLE)
OLD = {**span(2), "startTimeUnixNano": str((OTLP_NOW - 600_000) * 1_000_000)}
NOBODY_IS_ASKED = "it is asked, and asks nobody: it has no permissions and no credentials"
RECEIVED: dict[str, Sent | str] = {
    "denied": NOBODY_IS_ASKED,
    "expired": NOBODY_IS_ASKED,
    "throttled": Sent((WHOLE, WHOLE), (429, 200), bounds={"most_requests": 0}),
    "timeout": Sent(("slow", WHOLE), (408, 200), bounds={"body_ms": 50}),
    "truncated": Sent((PACKED[: len(PACKED) // 2], PACKED), (400, 200), "gzip"),
    "html": Sent((b"<!doctype html><h1>Bad Gateway</h1>", WHOLE), (400, 200)),
    "wrong": Sent((b'{"resourceSpans": 1}', WHOLE), (400, 200)),
    "partial": Sent((export(span(1), {**span(7), "startTimeUnixNano": "0"}, span(2)),), (200,), bad=1),
    "duplicate": Sent((WHOLE, WHOLE), (200, 200)),
    "late": Sent((export(span(1), OLD),), (200,)),
}
"""The receiver of traces: a body that was refused is sent again by its client, as OTLP has it.

A body that is sent again though it was taken comes twice, with the request ids by which the digest counts it once.
"""


async def slow() -> AsyncIterator[bytes]:
    yield b"{"
    await asyncio.Event().wait()


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if not isinstance(RECEIVED[fault], str)])
async def test_the_receiver_refuses_what_it_cannot_take_and_counts_what_is_sent_again(fault: str) -> None:
    sent = RECEIVED[fault]
    assert isinstance(sent, Sent)
    async with listening(**(sent.bounds or {})) as receiver:
        statuses = []
        for body in sent.bodies:
            status, _, headers = await receiver.post(slow() if body == "slow" else body, encoding=sent.encoding)
            statuses.append(status)
            assert status != 429 or headers["Retry-After"]
            receiver.stream._config = msgspec.structs.replace(receiver.stream._config, most_requests=4)
        gaps = receiver.stream.status().gaps
    assert tuple(statuses) == sent.statuses
    refused = [status for status in sent.statuses if status != 200]
    assert [(gap.reason, str(status) in gap.detail) for gap, status in zip(gaps, refused, strict=True)] == [
        (GapReason.LOW_COVERAGE, True) for _ in refused
    ]
    assert all(gap.hint and gap.start is not None for gap in gaps)
    taken = len(sent.statuses) - len(refused)
    assert sorted(receiver.kept.ids) == sorted(["r1", "r2"] * taken)
    assert sum(receiver.kept.bad.values()) == sent.bad


@_in_one_loop
async def test_the_table_has_every_operation_that_is_called_and_no_other(
    wire: FaultyAws, aws: Aws, truths: Callable[[str], Any], tmp_path: Path
) -> None:
    called: set[tuple[str, str, str]] = set()
    for kind in (*POLLED, *STREAMS):
        wire.asked.clear()
        world = World(wire)
        one = open_subject(kind, world, aws)
        for _ in range(3):
            await one.look()
            world.go(5)
        called |= {(kind, *api) for api in wire.asked}
    for kind in HANDS:
        wire.asked.clear()
        hand = Hand(kind, wire, aws, tmp_path / kind)
        await hand.run(await hand.plan())
        await hand.undo()
        called |= {(kind, *api) for api in wire.asked}
    assert called == set(TABLE)


def test_every_cell_is_either_tried_or_has_its_reason() -> None:
    tried = {tuple(cell.id.split("-", 1)) for cell in cells(*{kind for kind, *_ in TABLE})}
    for (kind, _, operation), row in TABLE.items():
        for fault in FAULTS:
            reason = None if fault in WIRE else getattr(row, fault)
            assert ((kind, f"{operation}-{fault}") in tried) != isinstance(reason, str), (kind, operation, fault)
            assert reason != ""
    assert set(RECEIVED) == set(FAULTS)
