from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.request_log.cloudwatch_logs.collector import CloudwatchLogsStream
from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
from collectors.request_log.depths import Depths
from collectors.request_log.xray.collector import XrayStream
from collectors.request_log.xray.config import XrayConfig
from tests.collectors.streams.conftest import NOW, Kept
from tests.collectors.streams.test_cloudwatch_logs import Group
from tests.collectors.streams.test_xray import Traces


def test_each_stretch_is_read_again_when_half_of_it_has_passed() -> None:
    depths = Depths(900, 10, 100)
    read = []
    for now in range(0, 1000, 10):
        read.append(depths.next_ms(now))
        depths.note(read[-1], now)
    assert [now * 10 for now, depth in enumerate(read) if depth == 900] == [0, 450, 900]
    assert [now * 10 for now, depth in enumerate(read) if depth >= 100][:11] == [
        0,
        50,
        100,
        150,
        200,
        250,
        300,
        350,
        400,
        450,
        500,
    ]
    assert set(read) == {10, 100, 900}


def test_what_was_not_read_to_its_end_is_due_still_and_a_clock_set_back_makes_all_due() -> None:
    depths = Depths(900, 100)
    assert [depths.next_ms(0), depths.next_ms(1)] == [900, 900]
    depths.note(900, 1000)
    assert (depths.next_ms(1001), depths.next_ms(999)) == (100, 900)


def test_steps_that_are_no_shorter_than_the_whole_are_none() -> None:
    depths = Depths(50, 50, 100)
    depths.note(50, 0)
    assert depths.next_ms(1) == 50


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 840)), max_size=30))
async def test_whatever_comes_up_to_the_overlap_late_is_read_once(arrivals: list[tuple[int, int]]) -> None:
    """Seconds between looks, and how many seconds before the look an event of it happened."""
    group, xray, now = Group(page=50), Traces(), [NOW]
    logs = CloudwatchLogsStream(CloudwatchLogsConfig("/aws/lambda/orders"), group.aws, (), lambda: now[0])
    traces = XrayStream(XrayConfig(), xray.aws, (), lambda: now[0])
    told: dict[Any, Kept] = {logs: Kept(), traces: Kept()}
    for stream, kept in told.items():
        await kept.read(stream.look())
    for number, (pause, late) in enumerate([*arrivals, *[(60, 0)] * 10]):
        now[0] += pause * 1000
        at = max(now[0] - late * 1000 - 1000, NOW - 200_000)
        if number < len(arrivals):
            group.put(number, at)
            xray.put(number, at)
        for stream, kept in told.items():
            await kept.read(stream.look())
    for kept in told.values():
        assert sorted(kept.ids) == sorted(f"r{number}" for number in range(len(arrivals)))


async def test_what_is_remembered_between_two_whole_looks_is_bounded(kept: Kept) -> None:
    group, now = Group(page=500), [NOW]
    config = CloudwatchLogsConfig("/aws/lambda/orders", most_seen=100)
    stream = CloudwatchLogsStream(config, group.aws, (), lambda: now[0])
    await kept.read(stream.look())
    for look in range(10):
        now[0] += 10_000
        for number in range(80):
            group.put(80 * look + number, now[0] - 9000 + number)
        await kept.read(stream.look())
        assert len(stream.position().seen) <= 100
    assert sorted(kept.ids) == sorted(f"r{number}" for number in range(800))
