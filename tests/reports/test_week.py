from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from ruamel.yaml import YAML

from analyzer.contract.load import contract_from
from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.history.columns import Kind
from analyzer.model.finding import Advice, Change, Confidence, Finding, Severity, Status
from analyzer.model.prices import Prices
from analyzer.model.window import Window
from analyzer.render.blocks import Heading, Snippet
from analyzer.render.blocks_markdown import render_markdown_page
from analyzer.render.blocks_text import render_text_page
from analyzer.reports.frame import frame_of
from analyzer.reports.page import week_page
from analyzer.reports.week import Known, report_week
from analyzer.reports.week_values import Item, ItemKind, WeekReport
from analyzer.reports.weeks import WEEK_MS
from tests.support.history_weeks import PLANTED, WEEK, Weeks, contract_document, eight_weeks

if TYPE_CHECKING:
    from analyzer.reports.frame import Frame


@pytest.fixture(scope="module")
def weeks() -> Weeks:
    return eight_weeks()


@pytest.fixture(scope="module")
def found(weeks: Weeks) -> WeekReport:
    return report_week(*weeks.week_and_past(), weeks.contract)


def told(**fields: Any) -> Finding:
    return Finding(
        **{
            "detector": "hot-key",
            "severity": Severity.HIGH,
            "confidence": Confidence.CERTAIN,
            "table": "orders",
            "id": "0123456789ab",
            "summary": "one key takes all",
        }
        | fields
    )


def item_of(report: WeekReport, name: str) -> Item:
    return next(item for item in report.items if name in {item.pattern, item.fingerprint})


def text_of(report: WeekReport) -> str:
    return " ".join(render_text_page(week_page(report)).split())


def test_an_item_has_all_that_a_team_asks(found: WeekReport) -> None:
    item = item_of(found, "list-orders")
    assert item.owner == "team-orders"
    assert item.caller == "web"
    assert item.change is not None
    assert item.change.startswith("from Mon 23 Nov on: ")
    assert (item.days_seen, item.days_covered) == (7, 7)
    assert item.extra_usd == pytest.approx(1.27, abs=0.3)
    assert [advice.action for advice in item.advice] == ["check-client", "update-declaration"]
    (past, declared) = item.moved
    assert (past.against, declared.against, declared.declared) == ("past", "declared", "p95 5, peak 12")


def test_what_hurts_most_of_a_pattern_is_said_first_and_the_rest_behind_it(found: WeekReport) -> None:
    item = item_of(found, "load-cart")
    assert "one call in twenty takes longer than" in item.summary
    assert [text.split(", ")[0] for text in item.also] == ["a request takes 1.25 units", "a request takes 2,250 bytes"]


def test_a_stranger_comes_with_the_declaration_that_takes_it(found: WeekReport) -> None:
    (one,) = found.undeclared
    assert one.callers == ("insights",)
    assert not one.is_ad_hoc
    document = contract_document()
    ledger = next(table for table in document["tables"] if table["name"] == one.yaml_table)
    ledger["patterns"] += YAML(typ="safe").load(one.yaml)
    ledger["indexes"] = [{"name": "GSI9", "partition_key": "PK"}]
    assert contract_from(document, "shop.yaml").tables[-1].patterns[-1].id == "list-account-gsi9"


def test_the_page_shows_the_declaration_to_copy(found: WeekReport) -> None:
    (snippet,) = [block for block in week_page(found) if isinstance(block, Snippet)]
    assert snippet.lines[0].startswith("- id: list-account-gsi9")
    assert "    - id: list-account-gsi9" in render_markdown_page(week_page(found))


def test_a_page_shows_ten_items_and_says_how_many_more_there_are(found: WeekReport) -> None:
    many = msgspec.structs.replace(found, items=found.items * 4)
    numbered = [block for block in week_page(many) if isinstance(block, Heading) and block.text[:1].isdigit()]
    assert len(numbered) == 10
    assert "2 more, of less risk and money" in text_of(many)


def test_findings_of_the_week_stand_among_the_items_without_what_drift_tells(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    change = Change(time=WEEK.start, what="deploy", who="ann", detail="v42")
    advice = (Advice(action="cache-item", text="cache it", snippet="cache.get(key)"),)
    findings = (
        told(since_change=change, advice=advice, cost_per_month_usd=40.0, evidence={"share": 0.9, "reason": "x"}),
        told(detector="throttling", id="1", caused_by="0123456789ab"),
        told(detector="pattern-drift", id="2"),
        told(detector="declared-scan", id="3"),
        told(severity=Severity.LOW, id="4"),
        told(severity=Severity.LOW, id="5", cost_per_month_usd=9.0, table="elsewhere"),
        told(status=Status.SNOOZED, id="6"),
    )
    report = report_week(msgspec.structs.replace(week, findings=findings), past, weeks.contract)
    assert [item.id for item in report.items if item.kind is ItemKind.FINDING] == ["0123456789ab", "5"]
    first = report.items[0]
    assert first.change == "Mon 23 Nov 00:00 deploy v42 by ann"
    assert first.measures == {"severity": 2.0, "share": 0.9, "dollars a month": 40.0}
    assert first.owner == "team-orders"
    assert "cache.get(key)" in text_of(report)


@pytest.mark.parametrize(("with_tokens", "name"), [(False, "CASE#<number>"), (True, "CASE#~k9f3aa")])
def test_a_finding_calls_its_key_as_reports_may_show_it(weeks: Weeks, name: str, *, with_tokens: bool) -> None:
    key = {"key": {"PK": "CASE#~k9f3aa"}, "key_template": {"PK": "CASE#<number>"}}
    one = told(summary="{key} takes 41%", advice=(Advice(action="cache-item", text="cache {key}"),), **key)
    week, past = weeks.week_and_past()
    before = msgspec.structs.replace(past[-1], findings=(msgspec.structs.replace(one, id="7"),))
    now = msgspec.structs.replace(week, findings=(one,))
    text = text_of(report_week(now, (*past[:-1], before), weeks.contract, Known(with_tokens=with_tokens)))
    assert "{key}" not in text
    assert f"hot-key: {name} takes 41%" in text
    assert f"cache {name}" in text
    assert f"hot-key of last week did not come back: {name} takes 41%" in text


def test_a_finding_of_last_week_that_did_not_come_back_got_better(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    before = msgspec.structs.replace(
        past[-1], findings=(told(cost_per_month_usd=7.0), told(id="9", severity=Severity.LOW))
    )
    report = report_week(week, (*past[:-1], before), weeks.contract)
    (one,) = report.better
    assert (one.saved_usd, one.table) == (7.0, "orders")
    assert "orders: hot-key of last week did not come back: one key takes all ($7.00 a month less)" in text_of(report)


def test_a_week_beside_dearer_ones_got_better(weeks: Weeks) -> None:
    week, past = weeks.frame(6), [weeks.frame(n) for n in range(6)]
    rows = week.hours
    cart = rows["pattern"] == "load-cart"
    cheaper = rows.assign(read_units=rows["read_units"].where(~cart, rows["read_units"] / 2))
    report = report_week(msgspec.structs.replace(week, hours=cheaper), tuple(past), weeks.contract)
    assert report.items == ()
    (one,) = report.better
    assert one.summary.startswith("load-cart: units a request 0.5 → 0.25")
    assert one.saved_usd is not None
    assert one.saved_usd > 0


def test_what_was_asked_every_week_and_is_gone_is_an_item_and_stands_among_the_unseen(weeks: Weeks) -> None:
    week, past = weeks.frame(6), tuple(weeks.frame(n) for n in range(6))
    kept = (week.hours["pattern"] != "load-user").to_numpy()
    gone = msgspec.structs.replace(week, hours=week.hours[kept].reset_index(drop=True), latency=week.latency[kept])
    report = report_week(gone, past, weeks.contract)
    item = item_of(report, "load-user")
    assert (item.kind, item.severity, item.caller) == (ItemKind.VANISHED, Severity.MEDIUM, None)
    assert item.summary.startswith("nobody asked load-user of users this week; ")
    (unseen,) = report.unseen
    assert (unseen.pattern, unseen.is_dead, unseen.last_seen) == ("load-user", True, "in an earlier week")
    assert "no chance at that rate" in text_of(report)


def test_a_declared_pattern_that_comes_for_the_first_time_is_no_item(weeks: Weeks) -> None:
    week, past = weeks.frame(6), tuple(weeks.frame(n) for n in range(6))
    kept = [(frame.hours["pattern"] != "load-user").to_numpy() for frame in past]
    before = tuple(
        msgspec.structs.replace(frame, hours=frame.hours[is_in].reset_index(drop=True), latency=frame.latency[is_in])
        for frame, is_in in zip(past, kept, strict=True)
    )
    report = report_week(week, before, weeks.contract)
    assert report.items == ()
    assert [one.summary.split(":")[0] for one in report.better] == ["load-user, declared, came for the first time"]


def test_a_table_that_nobody_asked_is_unseen_as_a_whole(weeks: Weeks) -> None:
    document = contract_document()
    document["tables"].append(
        {"name": "coupons", "partition_key": "PK", "patterns": [{"id": "load", "operation": "GetItem"}]}
    )
    report = report_week(*weeks.week_and_past(), contract_from(document, "shop.yaml"))
    assert [(one.table, one.is_dead, one.declared_rate) for one in report.unseen] == [("coupons", False, None)]
    assert "may be chance" in text_of(report)


def test_coverage_tells_how_much_of_each_table_is_declared(found: WeekReport) -> None:
    first = found.coverage[0]
    assert (first.table, first.patterns, first.patterns_seen, first.unclear_share) == ("ledger", 3, 3, 0.0)
    assert first.declared_share == pytest.approx(0.8, abs=0.02)
    assert {one.declared_share for one in found.coverage[1:]} == {1.0}


def test_without_a_contract_one_sentence_stands_for_all_declarations(weeks: Weeks) -> None:
    report = report_week(*weeks.week_and_past(), EMPTY_CONTRACT, Known())
    assert not report.has_contract
    text = text_of(report)
    assert "No contract was given: what is declared" in text
    assert "FAILED no contract declares anything" in text


def test_money_is_reckoned_with_the_prices_that_were_configured(weeks: Weeks, found: WeekReport) -> None:
    dear = Prices(
        as_of="2026-11-01",
        region="us-east-1",
        read_million=1.25,
        read_unit_hour=1,
        write_million=6.25,
        write_unit_hour=1,
        storage_gigabyte=1,
    )
    report = report_week(*weeks.week_and_past(), weeks.contract, Known(prices=(dear,)))
    assert found.dollars is not None
    assert report.dollars == pytest.approx(10 * found.dollars, rel=0.01)


def nothing_at_all(weeks: Weeks) -> Frame:
    window = Window(WEEK.start + 52 * WEEK_MS, WEEK.end + 52 * WEEK_MS)
    return frame_of(window, {kind: rows.slice(0, 0) for kind, rows in weeks.rows.items()}, ())


def test_of_a_week_that_nobody_looked_at_nothing_is_said(weeks: Weeks) -> None:
    report = report_week(nothing_at_all(weeks), (), weeks.contract)
    assert (report.items, report.dollars, report.covered_share, report.heat) == ((), None, 0.0, None)
    assert len(report.unseen) == 21
    text = text_of(report)
    assert "nobody looked, so that nothing can be said" in text
    assert "Nobody looked: nothing is known." in text


def test_one_week_alone_speaks_of_declarations_and_says_so(weeks: Weeks) -> None:
    week = weeks.frame(7)
    report = report_week(week, (), weeks.contract)
    assert "History knows no week before this one" in report.remarks[0]
    assert {item.pattern for item in report.items} <= {"list-orders"}
    assert "History knows 1 week before" in report_week(week, (weeks.frame(6),), weeks.contract).remarks[0]


def test_a_hole_in_the_week_and_torn_files_are_said_first(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    half = Window(week.window.start, week.window.start + WEEK_MS // 2)
    rows = {kind: table for kind, table in weeks.rows.items() if kind is not Kind.KEY_HOURS}
    cut = frame_of(week.window, {kind: table.slice(0, 0) for kind, table in rows.items()}, (half,), torn=2)
    report = report_week(cut, past, weeks.contract, Known(torn=1))
    assert report.remarks[0].startswith("50% of it was looked at; the longest hole begins Thu 26 Nov 12:00 UTC")
    assert report.remarks[1].startswith("3 files could not be read")


def test_of_a_week_that_is_not_over_the_checklist_lacks_what_the_first_remark_says(weeks: Weeks) -> None:
    week = weeks.frame(7)
    start = week.window.start
    begun = msgspec.structs.replace(week, covered=(Window(start, start + WEEK_MS // 8),))
    report = report_week(begun, (), weeks.contract, Known(now=start + WEEK_MS // 2))
    assert report.remarks[0].startswith("The week is not over")
    assert report.remarks[1].startswith("25% of it was looked at")
    dashboard = next(line for line in report.readiness if line.name == "dashboard complete")
    assert dashboard.evidence.startswith("lacking: 75% of the week")


def test_the_three_that_drifted_are_planted_and_ranked_by_risk_then_money(found: WeekReport) -> None:
    assert [item.pattern or item.fingerprint for item in found.items] == [
        PLANTED[2].pattern,
        PLANTED[0].pattern,
        PLANTED[1].fingerprint,
    ]
