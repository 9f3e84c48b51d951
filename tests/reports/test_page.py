"""What the page says of each part, in each way that it can be."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction, Severity
from analyzer.model.window import Window
from analyzer.render.blocks_text import render_text_page
from analyzer.reports.page import week_page
from analyzer.reports.week_values import (
    FilterWaste,
    IndexUse,
    Item,
    ItemKind,
    KeyForecast,
    KeyRow,
    Quieted,
    Together,
    Togetherness,
    TransactionUse,
    Undeclared,
    Unseen,
    WeekMap,
    WeekReport,
)

START = 1_795_392_000_000


def said(**fields: Any) -> str:
    values: dict[str, Any] = {"week": "2026-W48", "window": Window(START, START + 604_800_000), "weeks": 0}
    values |= {"covered_share": 1.0, "growth": 1.0, "requests": 100.0, "dollars": None, "basis": "list price"}
    report = WeekReport(**(values | {"has_contract": True} | fields))
    return " ".join(render_text_page(week_page(report)).split())


def unseen(number: int) -> Unseen:
    return Unseen(
        table="t",
        index="G",
        pattern=f"p{number}",
        owner=None,
        is_dead=False,
        last_seen="never",
        declared_rate=2.0,
    )


def undeclared(*, is_ad_hoc: bool) -> Undeclared:
    return Undeclared(
        table="t",
        index=None,
        fingerprint="f",
        text="GetItem t",
        callers=(),
        requests=30.0,
        dollars=None,
        is_ad_hoc=is_ad_hoc,
        yaml="- id: get-t",
        yaml_table="t",
    )


def index(**fields: Any) -> IndexUse:
    values: dict[str, Any] = {"unit_dollars": 1.5, "storage_dollars": None, "reads": 0.0, "patterns": ()}
    return IndexUse(table="t", index="G", kind="gsi", **(values | fields))


def transaction(**fields: Any) -> TransactionUse:
    values: dict[str, Any] = {"items_each": None, "declared_items": None, "because": None, "dollars_more": None}
    names = {"table": "t", "caller": None, "operation": "TransactWriteItems", "pattern": None}
    return TransactionUse(**(names | {"requests": 10.0, "share": 0.1} | values | fields))


def together(how: Togetherness) -> Together:
    names = {"one_table": "t", "one_entity": "", "other_table": "t", "other_entity": "USER"}
    return Together(how=how, traces=0, of_traces=500, advice="one Query", **names)


def row(hottest: float) -> KeyRow:
    return KeyRow(
        label="A#<id>",
        table="t",
        index=None,
        direction=Direction.WRITE,
        heat=(hottest,),
        hottest=hottest,
        hottest_at=START,
        units=1.0,
        is_second=False,
    )


def forecast(**fields: Any) -> KeyForecast:
    values: dict[str, Any] = {"days": 100.0, "days_low": 60.0, "days_high": 200.0, "is_near": False}
    names = {"label": "A#<id>", "table": "t", "index": None, "direction": Direction.READ, "heat": 0.5}
    growth = Estimate(1.05, 1.02, 1.08)
    return KeyForecast(growth_a_week=growth, days_fitted=30, **(names | values | fields))


WASTE = FilterWaste(
    table="t", index="G", pattern="p", attributes=(), callers=(), wasted_units=10.0, share=0.5, dollars=0.004
)
ITEM = Item(id="i", kind=ItemKind.MIX, severity=Severity.LOW, summary="the mix shifted", table="t", extra_usd=-3.0)
QUIET = Quieted(id="q", summary="it moved", reason="the sale", who=None, acknowledged_at=START)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Nothing to know. Readiness"),
        ({"weeks": 1}, "beside 1 earlier week ·"),
        ({"items": (ITEM,)}, "1 thing to know: 1 low"),
        ({"items": (ITEM,)}, "low: $3.00 a month less · t · id i"),
        ({"items": (ITEM,)}, "caller: not known · owner not declared · first seen: not known"),
        ({"quieted": (QUIET,)}, "it moved (id q, the sale)"),
        ({"quieted": (QUIET,)}, "Known, and not moved by another half since"),
        ({"unseen": tuple(unseen(n) for n in range(22))}, "And 2 more."),
        ({"unseen": (unseen(1),)}, "p1 t/G not declared never 2/s may be chance"),
        ({"has_contract": False}, "No contract was given."),
        ({"undeclared": (undeclared(is_ad_hoc=True),)}, "Besides 1 that came a few times"),
        ({"undeclared": (undeclared(is_ad_hoc=False),)}, "30 requests of callers not recorded. If it is meant, add it"),
        ({"undeclared": (undeclared(is_ad_hoc=False),), "has_contract": False}, "All 1 patterns: no contract"),
        ({"heat": None}, "Not observable: no key was tracked"),
        ({"heat": WeekMap(start=START, step_ms=1, columns=1, rows=())}, "No key came to a hundredth"),
        ({"heat": WeekMap(start=START, step_ms=1, columns=1, rows=(row(0.5),), left_out=2)}, "2 cooler keys"),
        ({"heat": WeekMap(start=START, step_ms=1, columns=1, rows=(row(0.5),))}, "50% Mon 23 Nov 00:00 the hour"),
        ({"forecasts": None}, "two weeks of days"),
        ({"forecasts": ()}, "No key surely grows"),
        ({"forecasts": (forecast(),)}, "100 days [60–200] 30 days"),
        ({"forecasts": (forecast(days_high=None, is_near=True),)}, "100 days [60–for ever] — within four"),
        ({"waste": None}, "no source counts what was scanned"),
        ({"waste": ()}, "Nothing worth a line."),
        ({"waste": (), "covered_share": 0.0}, "Nobody looked."),
        ({"waste": (WASTE,)}, "p t/G ? ? 10 units 50% <$0.01"),
        ({"indexes": None}, "no index is declared, and none was asked"),
        ({"indexes": ()}, "There is none."),
        ({"indexes": (index(),)}, "t/G $1.50 ? 0 nobody"),
        ({"indexes": (index(days_unread=21.0, is_unused=True),)}, "t/G is unused: nobody read it in 21 days"),
        ({"indexes": (index(days_unread=7.0),)}, "whether it is unused, two weeks tell"),
        ({"transactions": ()}, "None was seen."),
        ({"transactions": (transaction(),)}, "? t TransactWriteItems 10% ? ? ?"),
        ({"transactions": (transaction(items_each=Estimate(3, 2, 4), declared_items=3),)}, "2–4 3: no reason"),
        ({"transactions": (transaction(items_each=Estimate(2, 2, 2)),)}, "10% 2 ?"),
        ({"together": None}, "history holds no traces"),
        ({"together": ()}, "No two entities are read together always"),
        ({"together": (together(Togetherness.NEVER),)}, "items of t and USER of t are never read together (0 of 500"),
        ({"together": (together(Togetherness.ALWAYS),)}, "are always read together"),
    ],
)
def test_the_page_says(fields: dict[str, Any], text: str) -> None:
    assert text in said(**fields)


def test_of_nothing_without_a_contract_the_page_is_a_remark() -> None:
    text = said(covered_share=0.0, has_contract=False, remarks=("nobody looked",), requests=0.0)
    assert text.endswith("! nobody looked")


def test_of_a_declaration_that_no_page_should_hold_the_first_lines_are_shown() -> None:
    long = replace(undeclared(is_ad_hoc=False), yaml="\n".join(f"line{n}" for n in range(200)))
    text = said(undeclared=(long,))
    assert "line59 # and 140 more lines: the JSON has them" in text
    assert "line60" not in text
