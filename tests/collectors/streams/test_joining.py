from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.batch import Block, Position
from analyzer.model.sight import GapReason
from collectors.request_log.joining import CLAIMS, Joiner
from tests.collectors.streams.conftest import NOW, lines_of, record

MINUTE = 60_000
FILES, SPANS, TRAIL = "files", "otlp://127.0.0.1:4318", "s3://trails/"


class Logs:
    """Logs that are joined, and what is counted of them."""

    def __init__(self, *sources: str, restored: Position | None = None, **bounds: int) -> None:
        self.joiner = Joiner(sources or (FILES, SPANS, TRAIL), MINUTE, restored, **bounds)
        self.counted: list[dict[str, Any]] = []
        self.positions: dict[str, Position] = {}
        self.offsets: Counter[str] = Counter()

    def put(self, source: str, *records: dict[str, Any], now: int = NOW) -> None:
        self.offsets[source] += 1
        self.joiner.add(source, Block(lines_of(records), Position(source, 0, self.offsets[source])), now)

    def release(self, now: int = NOW + MINUTE, *, everything: bool = False) -> list[Block]:
        blocks = list(self.joiner.release(now, everything=everything))
        for block in blocks:
            self.counted += [json.loads(line) for line in block.lines.splitlines()]
            if block.position is not None:
                self.positions[block.position.path] = block.position
        return blocks

    def ids(self) -> list[str]:
        return [one["request_id"] for one in self.counted]


def test_a_request_seen_twice_is_counted_once_with_what_both_know() -> None:
    logs = Logs()
    logs.put(FILES, record(1, filter="a"))
    logs.put(TRAIL, record(1, principal="role/api", filter="b"))
    logs.release()
    assert logs.counted == [record(1, filter="a", principal="role/api")]
    assert logs.joiner.counts.joined == 1


def test_a_log_that_never_has_a_request_in_common_may_be_other_traffic_and_is_told() -> None:
    logs = Logs()
    logs.put(FILES, record(1), record(2))
    logs.put(TRAIL, record(3))
    logs.release()
    (gap,) = logs.joiner.gaps()
    assert gap.detail.startswith("1 records of s3://trails/ are not counted: another log tells of their tables")
    assert gap.hint is not None
    assert "join: 0s" in gap.hint


def test_a_log_that_had_a_request_in_common_is_the_same_traffic() -> None:
    logs = Logs()
    logs.put(FILES, record(1), record(2))
    logs.put(TRAIL, record(3), record(1))
    logs.release()
    assert logs.joiner.gaps() == ()
    assert logs.joiner.counts.set_aside == 1


def test_it_does_not_matter_which_of_the_two_comes_first() -> None:
    logs = Logs()
    logs.put(TRAIL, record(1, principal="role/api"))
    logs.put(FILES, record(1, filter="a"), now=NOW + 50_000)
    logs.release(NOW + 60_000)
    assert logs.counted == []
    logs.release(NOW + 110_000)
    assert logs.counted == [record(1, filter="a", principal="role/api")]
    assert logs.joiner.counts.joined == 1


def test_nothing_is_let_go_before_its_time() -> None:
    logs = Logs()
    logs.put(FILES, record(1))
    assert logs.joiner.next_due() == NOW + MINUTE
    assert logs.release(NOW + MINUTE - 1) == []
    assert logs.joiner.held_bytes > 0
    logs.release()
    assert (logs.ids(), logs.joiner.held_bytes, logs.joiner.next_due()) == (["r1"], 0, None)


def test_a_clock_that_went_back_holds_nothing_up() -> None:
    logs = Logs()
    logs.put(FILES, record(1))
    logs.release(NOW - 1)
    assert logs.ids() == ["r1"]


def test_of_a_table_and_minute_only_the_primary_log_is_counted() -> None:
    logs = Logs()
    logs.put(FILES, record(1), record(2))
    logs.put(TRAIL, record(2), record(3))
    logs.release()
    assert logs.ids() == ["r1", "r2"]
    assert (logs.joiner.counts.joined, logs.joiner.counts.set_aside) == (1, 1)


def test_a_table_that_only_one_log_sees_is_counted_from_it() -> None:
    logs = Logs()
    logs.put(FILES, record(1))
    logs.put(TRAIL, record(2, table="other"), record(3, NOW + 2 * MINUTE))
    logs.release()
    assert logs.ids() == ["r1", "r2", "r3"]


def test_the_log_that_saw_far_more_is_primary() -> None:
    logs = Logs()
    logs.put(FILES, record(1))
    logs.put(TRAIL, *(record(number) for number in range(1, 5)))
    logs.release()
    assert logs.ids() == ["r1", "r2", "r3", "r4"]


def test_a_sampled_log_is_as_whole_as_what_it_stands_for() -> None:
    logs = Logs()
    logs.put(FILES, record(1, sample_rate=0.25))
    logs.put(TRAIL, *(record(number, principal="p") for number in range(1, 5)))
    logs.release()
    assert logs.counted == [record(1, sample_rate=0.25, principal="p")]


def test_records_without_an_id_are_counted_from_the_primary_log() -> None:
    anonymous = {name: value for name, value in record(0).items() if name != "request_id"}
    logs = Logs()
    logs.put(FILES, anonymous, anonymous)
    logs.put(SPANS, anonymous, anonymous)
    logs.release()
    assert logs.counted == [anonymous, anonymous]
    assert logs.joiner.counts.set_aside == 2


def test_what_was_said_of_a_minute_stands_when_more_comes_late() -> None:
    logs = Logs()
    logs.put(TRAIL, record(1))
    logs.release()
    logs.put(FILES, *(record(number) for number in range(2, 9)), now=NOW + 5 * MINUTE)
    logs.release(NOW + 6 * MINUTE)
    assert logs.ids() == ["r1"]


@pytest.mark.parametrize(
    "where",
    [
        ({"region": "us-east-1"}, {"region": "eu-west-1"}),
        ({"account": "1"}, {"account": "2"}),
        ({"table": "arn:aws:dynamodb:us-east-1:1:table/cases"}, {"table": "arn:aws:dynamodb:us-east-1:2:table/cases"}),
    ],
)
def test_tables_of_one_name_elsewhere_are_others(where: tuple[dict[str, Any], dict[str, Any]]) -> None:
    logs = Logs()
    logs.put(FILES, record(1, **where[0]))
    logs.put(TRAIL, record(2, **where[1]))
    logs.release()
    assert logs.ids() == ["r1", "r2"]


def test_a_table_whose_region_is_not_known_may_be_any() -> None:
    logs = Logs()
    logs.put(FILES, record(1))
    logs.put(TRAIL, record(2, region="us-east-1", account="1"))
    logs.put(SPANS, record(3, table="arn:aws:dynamodb:us-east-1:1:table/cases/index/g"), record(4, table="arn:x"))
    logs.release()
    assert logs.ids() == ["r1", "r4"]


def test_a_span_that_names_no_table_is_joined_with_what_does() -> None:
    bare = {**record(1), "table": None}
    for first, second in ((SPANS, TRAIL), (TRAIL, SPANS)):
        logs = Logs()
        for source in (first, second):
            logs.put(source, bare if source == SPANS else record(1, principal="p"))
        logs.release()
        assert len(logs.counted) == 1
        assert logs.counted[0]["table"] == "cases"


def test_a_request_id_with_another_operation_is_another_request() -> None:
    logs = Logs()
    logs.put(FILES, record(1))
    logs.put(TRAIL, record(1, op="GetItem", principal="p"))
    logs.release()
    assert logs.counted == [record(1)]


def test_a_request_on_the_edge_of_two_minutes_is_counted_once() -> None:
    edge = NOW - NOW % MINUTE
    logs = Logs()
    logs.put(FILES, record(1, edge - 1))
    logs.put(TRAIL, record(1, edge))
    logs.release()
    assert len(logs.counted) == 1


@pytest.mark.parametrize(
    "line",
    [
        b"junk\n",
        b'{"v": 1}\n',
        b'{"op": "Scan", "time": "x"}\n',
        b'{"v": 1, "counter": "dropped", "count": 3}\n',
        b"[]\n",
    ],
)
def test_lines_that_are_no_requests_pass(line: bytes) -> None:
    logs = Logs()
    logs.joiner.add(TRAIL, Block(line, overlong=2, bad={"x": 1}), NOW)
    assert list(logs.joiner.release(NOW + MINUTE)) == [Block(line, None, 2, {"x": 1})]


def test_a_counter_line_with_a_time_passes() -> None:
    logs = Logs()
    logs.joiner.add(TRAIL, Block(lines_of([record(1, counter="dropped")])), NOW)
    (block,) = logs.joiner.release(NOW + MINUTE)
    assert block.lines


def test_too_much_that_waits_is_let_go_early_and_counted() -> None:
    logs = Logs(most_bytes=100)
    logs.put(FILES, record(1))
    logs.put(TRAIL, record(1))
    assert logs.joiner.next_due() == 0
    assert logs.joiner.gaps() == ()
    logs.release(NOW)
    assert logs.ids() == ["r1"]
    assert logs.joiner.counts.early == 1
    (gap,) = logs.joiner.gaps()
    assert (gap.reason, gap.start, gap.end) == (GapReason.LOW_COVERAGE, NOW + 1 - MINUTE, NOW + 1)


def test_a_restart_goes_on_with_what_was_said() -> None:
    first = Logs()
    first.put(TRAIL, record(1, region="us-east-1"))
    first.release()
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(first.positions[CLAIMS]), type=Position)
    second = Logs(restored=stored)
    assert second.joiner.position() == stored
    second.put(FILES, *(record(number) for number in range(2, 9)))
    second.release()
    assert second.ids() == []
    assert Logs(FILES, SPANS, restored=stored).joiner.position() == Position(CLAIMS, 0, 0)


def test_who_is_primary_is_told_before_the_records_that_rest_on_it() -> None:
    logs = Logs()
    logs.put(FILES, record(1))
    logs.put(FILES, record(2))
    told = [(block.position.path, bool(block.lines)) for block in logs.release() if block.position is not None]
    assert told == [(CLAIMS, False), (FILES, True), (FILES, True)]


def test_the_oldest_minutes_beyond_the_bound_are_forgotten() -> None:
    logs = Logs(most_claims=2)
    for minute in range(5):
        logs.put(FILES, record(minute, NOW + minute * MINUTE))
        logs.put(TRAIL, record(minute + 100, NOW + minute * MINUTE))
    logs.release(everything=True)
    assert len(logs.joiner.position().seen) == 2
    assert logs.ids() == [f"r{minute}" for minute in range(5)]


SOURCES = (FILES, SPANS, TRAIL)
SEEN = st.lists(
    st.tuples(
        st.sampled_from(SOURCES),
        st.integers(0, 12),
        st.integers(0, 2),
        st.sampled_from(["a", "b"]),
        st.sampled_from([1.0, 0.5, 0.1]),
    ),
    unique_by=lambda one: (one[0], one[1]),
    max_size=40,
)


def thing(number: int, minute: int, table: str, rate: float) -> dict[str, Any]:
    return record(number, NOW + minute * MINUTE, table=table, sample_rate=rate)


@settings(max_examples=150, deadline=None)
@given(SEEN, st.integers(1, 5), st.booleans())
def test_of_every_table_and_minute_exactly_one_log_is_counted_whole(
    seen: list[tuple[str, int, int, str, float]], size: int, is_apart: Any
) -> None:
    logs = Logs()
    given_of: dict[tuple[str, int], dict[str, Counter[float]]] = {}
    for at in range(0, len(seen), size):
        for source, number, _, _, rate in seen[at : at + size]:
            minute, table = number % 3, "ab"[number % 2]
            logs.put(source, thing(number, minute, table, rate), now=NOW + at * 10_000 * bool(is_apart))
            given_of.setdefault((table, minute), {}).setdefault(source, Counter())[rate] += 1
        logs.release(NOW + at * 10_000 * bool(is_apart))
    logs.release(everything=True)
    assert len(logs.ids()) == len(set(logs.ids()))
    counted: dict[tuple[str, int], Counter[float]] = {}
    for one in logs.counted:
        number = int(one["request_id"][1:])
        counted.setdefault((one["table"], number % 3), Counter())[one["sample_rate"]] += 1
    claims = {}
    for claim in logs.joiner.position().seen:
        source, minute_text, table, _, _ = claim.split("\t")
        claims[table, int(minute_text) - NOW // MINUTE] = source
    for place, sources in given_of.items():
        assert counted.get(place, Counter()) == sources[claims[place]]
    for source in SOURCES:
        assert logs.offsets[source] == (logs.positions[source].offset if source in logs.positions else 0)
