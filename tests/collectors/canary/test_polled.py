from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.sight import Covers, GapReason, SourceName
from analyzer.model.window import Window
from analyzer.traffic.gsi_lag import estimate_lag
from analyzer.traffic.lag_pairs import probe_pairs
from collectors.asking import Spot
from collectors.canary.config import CanaryPlace, PolledCanaryConfig
from collectors.canary.polled import PolledCanary
from tests.collectors.canary.conftest import ACCOUNT, Clock, LaggingTable

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.batch import Batch

PLACE = CanaryPlace("orders", "by-status")


@pytest.fixture
def clock() -> Clock:
    return Clock()


def polled(aws: LaggingTable, clock: Clock, folder: Path, **config: Any) -> PolledCanary:
    given: dict[str, Any] = {"places": (PLACE,), "dry_run": False, "probes": 10} | config
    told = PolledCanaryConfig(folder=folder, **given)
    return PolledCanary(aws, told, Spot("us-east-1"), ACCOUNT, clock, clock.sleep)


async def collected(one: PolledCanary, clock: Clock) -> Batch:
    now = round(clock())
    return await one.collect(Window(now - 300_000, now))


async def test_it_writes_nothing_until_told_so_and_says_what_it_would(tmp_path: Path, clock: Clock) -> None:
    aws = LaggingTable(clock)
    batch = await collected(polled(aws, clock, tmp_path, dry_run=True), clock)
    (gap,) = batch.gaps
    assert (gap.source, gap.reason, gap.index) == (SourceName.CANARY, GapReason.NOT_ENABLED, "by-status")
    assert gap.detail.startswith("a dry run: 10 items every 5 min, at most 0.0")
    assert gap.hint == "set canary.dry_run: false; it needs the permissions of tier writes"
    assert (aws.ever, batch.probes) == ([], ())
    assert batch.covers[0].window.seconds == 0


async def test_its_probes_are_kept_for_an_hour_and_leave_nothing_behind(tmp_path: Path, clock: Clock) -> None:
    aws = LaggingTable(clock)
    one = polled(aws, clock, tmp_path)
    first = await collected(one, clock)
    assert (len(first.probes), first.gaps, aws.items) == (10, (), {})
    second = await collected(one, clock)
    assert second.covers == (
        Covers(SourceName.CANARY, Window(first.probes[0].time, second.window.end), "orders", "by-status"),
    )
    assert len(second.probes) == 20
    lag = estimate_lag(probe_pairs(second.probes))
    assert lag is not None
    assert lag.p50 is not None
    clock.now += 3_600_000
    assert len((await collected(one, clock)).probes) == 10


async def test_over_the_dollars_of_a_day_it_writes_nothing(tmp_path: Path, clock: Clock) -> None:
    aws = LaggingTable(clock)
    one = polled(aws, clock, tmp_path, most_usd_per_day=0.0001)
    batch = await collected(one, clock)
    assert ([gap.reason for gap in batch.gaps], batch.covers, aws.ever) == ([GapReason.BUDGET], (), [])
    assert "over the bound of 0.0001" in batch.gaps[0].detail


async def test_an_index_that_is_not_there_is_a_gap_of_its_own_and_delays_no_other(tmp_path: Path, clock: Clock) -> None:
    both = (CanaryPlace("orders", "by-day"), PLACE)
    batch = await collected(polled(LaggingTable(clock), clock, tmp_path, places=both), clock)
    assert [gap.index for gap in batch.gaps] == ["by-day"]
    assert len(batch.probes) == 10


def test_an_index_is_probed_where_it_was_said_to_be_and_nowhere_else(tmp_path: Path, clock: Clock) -> None:
    said = [(None, None), (ACCOUNT, "us-east-1"), (None, "eu-west-1"), ("999988887777", None)]
    places = tuple(CanaryPlace("orders", "by-status", account, region) for account, region in said)
    assert polled(LaggingTable(clock), clock, tmp_path, places=places).places == places[:2]


async def test_doctor_is_told_what_it_writes_and_what_that_costs(tmp_path: Path, clock: Clock) -> None:
    aws = LaggingTable(clock)
    places = (PLACE, CanaryPlace("orders", "by-day"))
    dry, absent = await polled(aws, clock, tmp_path, places=places, dry_run=True).check()
    assert (dry.name, dry.state) == ("canary: orders/by-status", "ok")
    assert dry.message.startswith("a dry run: 10 items")
    assert (absent.state, absent.message) == ("warning", "orders has no global index by-day")
    (wet,) = await polled(aws, clock, tmp_path).check()
    assert wet.message.startswith("it WRITES: 10 items every 5 min")
    assert aws.ever == []
