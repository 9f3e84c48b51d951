"""Maps of what a daemon knows: the place that is asked for, from the log, from Contributor Insights, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from analyzer.exporters.api import patterns_object
from analyzer.exporters.asked import MapQuestion
from analyzer.maps import Ask, Maps
from analyzer.model.finding import Direction
from analyzer.model.heatmap import KeysFrom
from analyzer.model.sight import Sight
from analyzer.render.json import report_object
from analyzer.watch import Watch
from tests.figures.test_insight_map import key as insight
from tests.support import evidence
from tests.support.evidence import CASES
from tests.test_watch import HEALTH, NOW, Place, block, settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from analyzer.model.report import Report

WRITES = {"op": "PutItem", "consumed": {"total": 50.0}}


def asked(watch: Watch) -> Ask:
    """Return what asks a watch that nobody else works on."""

    async def ask(question: Callable[[Watch], Any]) -> Any:
        return question(watch)

    return ask


class Judged:
    """A watch that read some blocks, and its report."""

    def __init__(self, folder: Path) -> None:
        self.watch = Watch(Place(folder).setup(), None)
        for number in range(4):
            self.watch.take(block(3, NOW + number * 2000, number), NOW)
        self.watch.take(block(2, NOW, 5, **WRITES), NOW)
        self.report = settle(self.watch).report
        self.maps = Maps(asked(self.watch), lambda: HEALTH)


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    return Judged(tmp_path)


async def test_a_map_is_drawn_from_what_was_read(judged: Judged) -> None:
    drawn = await judged.maps.heat_map(MapQuestion(table="cases", direction=Direction.READ), judged.report)
    assert drawn is not None
    assert (len(drawn.rows), drawn.columns, drawn.keys) == (3, 360, KeysFrom.REQUEST_LOG)
    assert {row.pattern for row in drawn.rows} == {"load-case"}
    assert drawn.units[:, -1].tolist() == [0.4] * 3


async def test_without_a_table_the_hottest_place_is_shown(judged: Judged) -> None:
    drawn = await judged.maps.heat_map(MapQuestion(), judged.report)
    assert drawn is not None
    assert (drawn.target.table, drawn.direction) == ("cases", Direction.WRITE)


async def test_what_nobody_declared_has_no_pattern(judged: Judged) -> None:
    drawn = await judged.maps.heat_map(MapQuestion(table="cases", direction=Direction.WRITE), judged.report)
    assert drawn is not None
    assert [row.pattern for row in drawn.rows] == [None, None]


@pytest.mark.parametrize(
    "question",
    [
        MapQuestion(table="other"),
        MapQuestion(table="cases", index="GSI1"),
        MapQuestion(table="cases", region="eu-west-1"),
        MapQuestion(table="cases", account="999999999999"),
        MapQuestion(region="eu-west-1"),
        MapQuestion(account="999999999999"),
    ],
)
async def test_another_place_has_no_map(judged: Judged, question: MapQuestion) -> None:
    assert await judged.maps.heat_map(question, judged.report) is None


async def test_a_table_that_is_quiet_now_is_known_by_its_last_hour(judged: Judged) -> None:
    drawn = await judged.maps.heat_map(MapQuestion(table="cases"), replace(judged.report, traffic=()))
    assert drawn is not None
    assert drawn.rows != ()


async def test_a_table_that_does_nothing_has_a_map_all_the_same(judged: Judged) -> None:
    quiet = evidence.traffic(replace(evidence.CASES, table="quiet"), rows=())
    drawn = await judged.maps.heat_map(MapQuestion(table="quiet"), replace(judged.report, traffic=(quiet,)))
    assert drawn is not None
    assert (drawn.rows, drawn.direction) == ((), Direction.READ)


def told(report: Report, **fields: object) -> Report:
    traffic = evidence.traffic(report.traffic[0].target, frozenset({Sight.METRICS}), rows=(), **fields)
    return replace(report, traffic=(traffic,))


async def test_keys_of_contributor_insights_have_minutes(judged: Judged) -> None:
    report = told(judged.report, insights=(insight("A", (NOW // 60_000, 0.5)),))
    drawn = await judged.maps.heat_map(MapQuestion(table="cases"), report)
    assert drawn is not None
    assert (drawn.keys, drawn.step_ms) == (KeysFrom.CONTRIBUTOR_INSIGHTS, 60_000)
    judged.maps.note(told(judged.report, insights=(insight("B", (NOW // 60_000 - 30, 0.5)),)))
    judged.maps.note(report)
    later = await judged.maps.heat_map(MapQuestion(table="cases"), report)
    assert later is not None
    assert [row.key["PK"] for row in later.rows] == ["A", "B"]


async def test_metrics_alone_say_how_keys_would_be_seen(judged: Judged) -> None:
    drawn = await judged.maps.heat_map(MapQuestion(table="cases"), told(judged.report))
    assert drawn is not None
    assert (drawn.keys, drawn.rows) == (KeysFrom.NOT_VISIBLE, ())
    assert drawn.hint is not None


async def test_keys_that_had_rows_are_remembered_of_so_many_places(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analyzer.maps._MOST_REMEMBERED", 1)
    for direction in Direction:
        await judged.maps.heat_map(MapQuestion(table="cases", direction=direction), judged.report)
    ((_, direction, _),) = judged.maps._own
    assert direction is Direction.WRITE


async def test_calls_are_told_by_the_minute_of_every_pattern(judged: Judged) -> None:
    report = replace(judged.report, as_of=NOW + 60_000)
    calls = await judged.maps.calls(report)
    assert calls.series.keys() == {
        (replace(CASES, index=line.index), line.pattern or line.fingerprint) for line in report.patterns
    }
    reads = calls.series[CASES, "load-case"]
    assert (await judged.maps.calls(replace(report, patterns=()))).series == {}
    assert (len(reads), reads[0], sum(rate or 0 for rate in reads)) == (60, None, 12 / 60)


async def test_calls_of_one_name_in_two_regions_are_two_rows(tmp_path: Path) -> None:
    watch = Watch(Place(tmp_path).setup(), None)
    watch.take(block(3, NOW), NOW)
    watch.take(block(5, NOW, 1, region="eu-west-1"), NOW)
    report = replace(settle(watch).report, as_of=NOW + 60_000)
    calls = await Maps(asked(watch), lambda: HEALTH).calls(report)
    told = {target.region: sum(rate or 0 for rate in rates) * 60 for (target, _), rates in calls.series.items()}
    assert told == {"us-east-1": pytest.approx(3), "eu-west-1": pytest.approx(5)}
    told = {row["region"]: _sum(row) for row in patterns_object(report_object(report), calls)["patterns"]}
    assert told == {"us-east-1": pytest.approx(3, abs=0.1), "eu-west-1": pytest.approx(5, abs=0.1)}


def _sum(row: dict[str, Any]) -> float:
    return sum(rate or 0 for rate in row["calls"]["values"]) * 60


@pytest.mark.parametrize(("regions", "rows"), [(("us-east-1",), 1), (("us-east-1", "eu-west-1"), 0)])
async def test_calls_of_a_log_that_tells_no_place_are_of_the_one_row_that_they_can_be(
    tmp_path: Path, regions: tuple[str, ...], rows: int
) -> None:
    watch = Watch(Place(tmp_path).setup(), None)
    watch.take(block(3, NOW, region=None, account=None), NOW)
    report = replace(settle(watch).report, as_of=NOW + 60_000)
    (line,) = report.patterns
    assert (line.account, line.region) == (None, None)
    homes = tuple(replace(line, account=CASES.account, region=region) for region in regions)
    calls = await Maps(asked(watch), lambda: HEALTH).calls(replace(report, patterns=homes))
    assert len(calls.series) == rows


async def test_before_anything_was_read_no_call_is_known(tmp_path: Path) -> None:
    watch = Watch(Place(tmp_path).setup(), None)
    maps = Maps(asked(watch), lambda: HEALTH)
    assert (await maps.calls(settle(watch).report)).series == {}
    assert maps.health() is HEALTH
