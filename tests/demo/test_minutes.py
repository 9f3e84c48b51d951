"""Minutes: statistics of many small counts, and how many keys of closed minutes are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.demo.emulator.charges import Charge
from deploy.demo.emulator.journal import Served
from deploy.demo.emulator.meter import Meter
from deploy.demo.emulator.minutes import Minutes, Ranked, Resource, Stat, top
from deploy.demo.emulator.store import Table

TABLE = Table(
    {
        "TableName": "orders",
        "TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/orders",
        "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    }
)
RANKED = Ranked(Resource(("123456789012", "us-east-1"), "orders"), "PKC")
DAY = 86_400


@given(st.lists(st.floats(0, 1e6), min_size=1), st.integers(0, 20))
def test_merged_statistics_are_those_of_all_values(values: list[float], cut: int) -> None:
    parts = [Stat(values={}), Stat(values={})]
    for place, value in enumerate(values):
        parts[place < cut].add(value)
    merged, whole = Stat(), Stat(values={})
    for part in parts:
        merged.merge(part)
    for value in values:
        whole.add(value)
    for statistic in ("SampleCount", "Minimum", "Maximum", "p50", "p99"):
        assert merged.tell(statistic) == whole.tell(statistic)
    assert merged.tell("Sum") == pytest.approx(sum(values))


def test_a_percentile_needs_single_values() -> None:
    stat = Stat()
    assert stat.tell("Sum") is None
    stat.add(5.0)
    assert (stat.tell("Sum"), stat.tell("p99")) == (5.0, None)


def serve(meter: Meter, minute: int, keys: int) -> None:
    charges = tuple(Charge(TABLE, None, "read", (str(number).encode(),), number + 1.0) for number in range(keys))
    meter.listen(Served(minute, "Scan", "orders", charges))


def test_closed_minutes_keep_their_top_keys_and_old_ones_none_but_planted_ones_stay() -> None:
    meter = Meter(Minutes())
    meter.minutes.ranking(RANKED, 60)["planted",] = 1.0
    for minute in (0, 2 * DAY, 2 * DAY + 60):
        serve(meter, minute, 150)
    told = meter.minutes.keys[RANKED]
    assert {minute: len(keys) for minute, keys in told.items()} == {60: 1, 0: 0, 2 * DAY: 100, 2 * DAY + 60: 150}
    assert top(told[2 * DAY], 1) == [(("149",), 150.0)]
    assert meter.minutes.trimmed == 200
