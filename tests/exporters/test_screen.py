"""What the page reads: made once a judgement, shown as the policy allows, refused in words."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from msgspec.structs import replace

from analyzer.exporters.api import honesty_object
from analyzer.exporters.assemble import SourceHealth, Spent
from analyzer.exporters.server import Server
from analyzer.model.report import Mode
from analyzer.render.json import report_object
from tests.support.page_report import AS_OF, made_report
from tests.support.page_server import MadeAtlas

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from analyzer.exporters.asked import MapQuestion
    from analyzer.model.heatmap import HeatMap
    from analyzer.model.report import Report

PATHS = ("patterns", "changes", "targets", "heatmap", "gsi", "honesty", "figures/top", "figures/gsi-lag")


class Counting(MadeAtlas):
    """Counts the maps that it draws, and fails the first where told so."""

    def __init__(self, *, fails: bool = False) -> None:
        self.drawn = 0
        self.fails = fails

    async def heat_map(self, question: MapQuestion, report: Report) -> HeatMap | None:
        self.drawn += 1
        if self.fails:
            self.fails = False
            raise RuntimeError("a bug")
        return await super().heat_map(question, report)


@asynccontextmanager
async def served(atlas: MadeAtlas | None = None, report: Report | None = None) -> AsyncIterator[Any]:
    server = Server({})
    server.screen.atlas = atlas
    port = await server.start("127.0.0.1", 0)
    if report is not None:
        await server.export(report)
    async with aiohttp.ClientSession() as session:

        async def get(path: str) -> tuple[int, str]:
            async with session.get(f"http://127.0.0.1:{port}/api/v1/{path}") as answer:
                return answer.status, await answer.text()

        yield server, get
    await server.stop()


@pytest.mark.parametrize("path", PATHS)
async def test_before_the_first_judgement_there_is_nothing(path: str) -> None:
    async with served(MadeAtlas()) as (_, get):
        assert await get(path) == (503, "nothing judged yet\n")


async def test_a_map_is_drawn_once_a_judgement_whoever_asks() -> None:
    atlas = Counting()
    async with served(atlas, made_report()) as (server, get):
        for path in ("heatmap", "heatmap", "figures/heatmap", "figures/shares"):
            assert (await get(path))[0] == 200
        assert atlas.drawn == 1
        await server.export(made_report(AS_OF + 10_000))
        await get("heatmap")
        assert atlas.drawn == 2


async def test_what_failed_once_is_tried_again() -> None:
    async with served(Counting(fails=True), made_report()) as (_, get):
        assert [(await get("heatmap"))[0] for _ in range(2)] == [500, 200]


async def test_the_oldest_answer_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.exporters.screen._MOST_KEPT", 2)
    atlas = Counting()
    async with served(atlas, made_report()) as (_, get):
        for direction in ("read", "write", "read"):
            await get(f"heatmap?direction={direction}")
        assert atlas.drawn == 3


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("heatmap?table=other", 404, "no such table or index was seen; see /api/v1/targets"),
        ("heatmap?step=5s", 400, "step is one of: 10s, 1s"),
        ("figures/pie", 404, "no such figure; known: heatmap, top, shares, gsi-lag"),
        ("figures/top?mode=x", 400, "mode is one of: ceiling, relative"),
        ("figures/top?table=other", 404, "no such table or index was seen; see /api/v1/targets"),
    ],
)
async def test_what_cannot_be_shown_is_refused_in_words(path: str, status: int, told: str) -> None:
    async with served(MadeAtlas(), made_report()) as (_, get):
        assert await get(path) == (status, f"{told}\n")


async def test_without_an_atlas_there_is_a_report_and_no_map() -> None:
    async with served(None, made_report()) as (_, get):
        assert (await get("heatmap"))[0] == 404
        patterns = json.loads((await get("patterns"))[1])["patterns"]
        assert {row["calls"] for row in patterns} == {None}
        assert json.loads((await get("honesty"))[1])["sources"] == []


async def test_another_way_of_showing_keys_holds_at_once() -> None:
    async with served(MadeAtlas(), made_report()) as (server, get):
        assert "ORDER#<id> · 1" in json.loads((await get("heatmap"))[1])["text"][19]
        server.look("reveal")
        assert "ORDER#~kaaaaaaac" in json.loads((await get("heatmap"))[1])["text"][19]


async def test_patterns_without_units_have_no_share() -> None:
    report = made_report()
    lines = tuple(replace(line, units=None) for line in report.patterns)
    async with served(MadeAtlas(), replace(report, patterns=lines)) as (_, get):
        assert {row["share"] for row in json.loads((await get("patterns"))[1])["patterns"]} == {None}


def test_honesty_tells_every_source_what_it_costs_and_until_when_nothing_pages() -> None:
    health = MadeAtlas().health()
    assert health is not None
    polled = SourceHealth("cloudwatch-metrics", is_up=False, last_success_seconds=None, delay_seconds=None)
    report = replace(made_report(), mode=Mode.OBSERVE, observing_until=AS_OF)
    told = honesty_object(
        report,
        report_object(report),
        replace(health, polled=(polled,), reads_log=False, spent=Spent(usd={"GetMetricData": 0.25})),
    )
    assert [(one["source"], one["up"], one["last_success"]) for one in told["sources"]] == [
        ("cloudwatch-metrics", False, None)
    ]
    assert (told["cost_usd"], told["observing"], told["observing_until"]) == (0.25, True, "2026-06-01T14:06:00.000Z")
    assert (told["sampling"], round(told["sketch_error"], 4)) == ({"sampled": True, "lowest_rate": 0.01}, 0.0031)
