from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import CollectError, DeniedError, ThrottledError
from analyzer.model.sight import GapReason
from collectors.request_log.xray.collector import XrayStream
from collectors.request_log.xray.config import XrayConfig
from tests.collectors.streams.conftest import NOW, FakeAws, Kept

if TYPE_CHECKING:
    from analyzer.model.batch import Position

OLD = NOW - 120_000
"""A time whose traces have settled."""


def trace_id(number: int, at: int = OLD) -> str:
    return f"1-{at // 1000:08x}-{number:024x}"


def trace(number: int, at: int = OLD) -> dict[str, Any]:
    call = {
        "id": f"{number:016x}",
        "name": "dynamodb",
        "namespace": "aws",
        "start_time": at / 1000,
        "end_time": at / 1000 + 0.01,
        "aws": {"operation": "Scan", "region": "us-east-1", "table_name": "cases", "request_id": f"r{number}"},
    }
    segment = {"id": "a" * 16, "name": "orders", "start_time": at / 1000, "end_time": at / 1000 + 1}
    document = json.dumps({**segment, "trace_id": trace_id(number, at), "subsegments": [call]})
    return {"Id": trace_id(number, at), "Segments": [{"Id": "a" * 16, "Document": document}]}


class Traces:
    """X-Ray with two summaries a page."""

    def __init__(self) -> None:
        self.traces: dict[str, dict[str, Any]] = {}
        self.held_back: set[str] = set()
        self.aws = FakeAws(GetTraceSummaries=self.summaries, BatchGetTraces=self.batch)

    def put(self, number: int, at: int = OLD) -> str:
        name = trace_id(number, at)
        self.traces[name] = trace(number, at)
        return name

    def summaries(self, StartTime: float, EndTime: float, NextToken: str = "0", **_: Any) -> dict[str, Any]:  # noqa: N803 -- AWS's names
        found = sorted(name for name in self.traces if StartTime <= int(name[2:10], 16) < EndTime)
        start = int(NextToken)
        answer: dict[str, Any] = {"TraceSummaries": [{"Id": name} for name in found[start : start + 2]]}
        if start + 2 < len(found):
            answer["NextToken"] = str(start + 2)
        return answer

    def batch(self, TraceIds: list[str], NextToken: str = "0", **_: Any) -> dict[str, Any]:  # noqa: N803 -- AWS's names
        assert len(TraceIds) <= 5
        names = [name for name in TraceIds if name not in self.held_back]
        start = int(NextToken)
        answer: dict[str, Any] = {
            "Traces": [self.traces[name] for name in names[start : start + 3]],
            "UnprocessedTraceIds": [name for name in TraceIds if name in self.held_back],
        }
        if start + 3 < len(names):
            answer["NextToken"] = str(start + 3)
        return answer

    def stream(self, positions: tuple[Position, ...] = (), now: int = NOW, **bounds: Any) -> XrayStream:
        return XrayStream(XrayConfig(**bounds), self.aws, positions, lambda: now)


async def test_every_trace_is_fetched_once_in_batches_of_five(kept: Kept) -> None:
    xray = Traces()
    for number in range(12):
        xray.put(number)
    stream = xray.stream()
    await kept.read(stream.look())
    await kept.read(stream.look())
    assert sorted(kept.ids) == sorted(f"r{number}" for number in range(12))
    batches = {tuple(params["TraceIds"]) for name, params in xray.aws.calls if name == "BatchGetTraces"}
    assert sorted(map(len, batches)) == [2, 5, 5]


async def test_a_young_trace_waits_for_its_segments(kept: Kept) -> None:
    xray = Traces()
    xray.put(1, NOW - 30_000)
    await kept.read(xray.stream().look())
    assert kept.ids == []
    await kept.read(xray.stream(now=NOW + 60_000).look())
    assert kept.ids == ["r1"]


async def test_the_filter_is_asked_with(kept: Kept) -> None:
    xray = Traces()
    stream = xray.stream(filter='service("orders")')
    await kept.read(stream.look())
    assert xray.aws.calls[0][1] == {
        "StartTime": (NOW - 300_000) / 1000,
        "EndTime": (NOW - 60_000) / 1000,
        "TimeRangeType": "TraceId",
        "FilterExpression": 'service("orders")',
    }
    assert stream.paths() == {"xray:///"}


async def test_unprocessed_traces_are_asked_for_again(kept: Kept) -> None:
    xray = Traces()
    xray.put(1)
    xray.held_back = {xray.put(2)}
    stream = xray.stream()
    await kept.read(stream.look())
    assert (kept.ids, stream.status().pending_bytes) == (["r1"], 1)
    xray.held_back = set()
    await kept.read(xray.stream(kept.checkpoint(), NOW + 300_000).look())
    assert kept.ids == ["r1", "r2"]


async def test_a_trace_that_is_never_handed_out_is_lost_in_the_end(kept: Kept) -> None:
    xray = Traces()
    xray.held_back = {xray.put(1)}
    await kept.read(xray.stream().look())
    late = xray.stream(kept.checkpoint() or xray.stream().begin(), NOW + 900_000)
    await kept.read(late.look())
    assert late.status().lost == 1
    xray.held_back = set()
    await kept.read(late.look())
    assert kept.ids == []


async def test_traces_that_are_named_and_never_there_lie_elsewhere(kept: Kept) -> None:
    xray = Traces()
    for number in range(20):
        xray.put(number)
    xray.aws.operations["BatchGetTraces"] = lambda **_: {"Traces": []}
    stream = xray.stream()
    await kept.read(stream.look())
    (gap,) = stream.status().gaps
    assert gap.reason == GapReason.UNSUPPORTED
    assert "aws/spans" in str(gap.hint)


async def test_a_trace_that_is_too_large_is_said_to_be_cut(kept: Kept) -> None:
    xray = Traces()
    xray.traces[xray.put(1)]["LimitExceeded"] = True
    await kept.read(xray.stream().look())
    assert kept.ids == ["r1"]
    assert kept.bad == {"a trace is too large for X-Ray, and lacks segments": 1}


async def test_what_is_no_trace_id_is_not_asked_for(kept: Kept) -> None:
    xray = Traces()
    xray.aws.operations["GetTraceSummaries"] = lambda **_: {"TraceSummaries": [{"Id": "x"}, {}, None]}
    await kept.read(xray.stream().look())
    assert xray.aws.count("BatchGetTraces") == 0


@pytest.mark.parametrize("operation", ["GetTraceSummaries", "BatchGetTraces"])
@pytest.mark.parametrize("kind", ["empty", "round"])
async def test_half_an_answer_is_a_failure(kept: Kept, operation: str, kind: str) -> None:
    xray = Traces()
    xray.put(1)
    answers = {"empty": {}, "round": {"TraceSummaries": [], "Traces": [], "NextToken": "same"}}
    xray.aws.operations[operation] = lambda **_: answers[kind]
    with pytest.raises(CollectError, match=operation):
        await kept.read(xray.stream().look())


@pytest.mark.parametrize("operation", ["GetTraceSummaries", "BatchGetTraces"])
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DeniedError("AccessDeniedException", hint="grant it"), GapReason.DENIED),
        (ThrottledError("ThrottledException", hint="look less often"), GapReason.THROTTLED),
    ],
)
async def test_a_failure_is_a_gap_while_it_lasts_and_nothing_is_lost(
    kept: Kept, operation: str, error: CollectError, reason: GapReason
) -> None:
    xray = Traces()
    xray.put(1)
    xray.aws.fail(operation, error)
    stream = xray.stream(poll_ms=1)
    told: list[GapReason] = []

    def batch(**params: Any) -> dict[str, Any]:
        told.extend(gap.reason for gap in stream.status().gaps)
        return xray.batch(**params)

    xray.aws.operations["BatchGetTraces"] = batch
    async for block in stream.blocks():
        kept.take(block)
        if kept.ids:
            stream.stop()
    assert (kept.ids, told) == (["r1"], [reason])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["put", "hold", "look", "kill", "wait"]), st.integers(0, 9))))
async def test_whatever_happens_every_trace_is_read_once(steps: list[tuple[str, int]]) -> None:
    xray, kept, now, number = Traces(), Kept(), NOW, 0
    kept.positions = {one.path: one for one in xray.stream().begin()}
    for step, size in [*steps, ("release", 0), ("wait", 9), ("look", 0)]:
        if step == "wait":
            now += size * 10_000
        elif step == "release":
            xray.held_back = set()
        elif step in {"look", "kill"}:
            stream = xray.stream(kept.checkpoint(), now, patience_ms=10**9)
            await kept.read(stream.look(), most=size if step == "kill" else 10**9)
        else:
            for _ in range(size):
                name = xray.put(number, now - 1000)
                number += 1
                if step == "hold":
                    xray.held_back.add(name)
    assert sorted(kept.ids) == sorted(f"r{one}" for one in range(number))


async def test_doctor_is_told_whether_traces_may_be_read() -> None:
    xray = Traces()
    xray.aws.operations["BatchGetTraces"] = lambda **_: {"Traces": []}
    xray.aws.fail("GetTraceSummaries", DeniedError("no", hint="grant xray:GetTraceSummaries"))
    assert [(one.name, one.state, one.hint) for one in await xray.stream().check()] == [
        ("request-log: GetTraceSummaries", "error", "grant xray:GetTraceSummaries"),
        ("request-log: BatchGetTraces", "ok", None),
    ]
