from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from analyzer.reports.week import report_week
from analyzer.reports.week_json import render_week_json
from tests.support.history_weeks import Weeks, eight_weeks
from tests.support.week_schema import week_schema

PUBLISHED = Path(__file__).parents[2] / "docs/reference/week.schema.json"


@pytest.fixture(scope="module")
def printed() -> Any:
    weeks: Weeks = eight_weeks()
    return json.loads(render_week_json(report_week(*weeks.week_and_past(), weeks.contract)))


def test_the_published_schema_is_that_of_the_values(request: pytest.FixtureRequest) -> None:
    text = json.dumps(week_schema(), indent=2) + "\n"
    if request.config.getoption("--rewrite-golden"):
        PUBLISHED.write_text(text, "utf-8")
    assert text == PUBLISHED.read_text("utf-8")


def test_a_report_fits_the_published_schema(printed: Any) -> None:
    schema = json.loads(PUBLISHED.read_text("utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(printed)) == []


def test_times_are_of_the_calendar_and_estimates_have_bounds(printed: Any) -> None:
    assert printed["window"] == {"start": "2026-11-23T00:00:00.000Z", "end": "2026-11-30T00:00:00.000Z"}
    rate = next(one["ratio"] for item in printed["items"] for one in item["moved"] if one["name"] == "rate")
    assert rate["low"] < rate["value"] < rate["high"]
    assert printed["heat"]["rows"][0]["hottest_at"].startswith("2026-11-")
