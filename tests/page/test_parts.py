"""Every part of the page shows what the report says."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from analyzer.model.finding import Status
from analyzer.model.report import Verdict, VerdictState
from tests.page.conftest import Screen, text_of
from tests.support.page_report import made_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.support.page_server import PageServer


def api(served: PageServer, path: str) -> Any:
    with urllib.request.urlopen(f"{served.url}/api/v1/{path}") as answer:
        return json.load(answer)


def test_the_verdict_says_what_since_when_after_what_and_what_to_do_first(still: Page, server: PageServer) -> None:
    page = still
    told = text_of(page, "#verdict")
    assert "CRITICAL" in told
    assert api(server, "report")["verdict"]["text"] in told
    assert "since 14:02:00 UTC (4 min)" in told
    assert "Cause single-item" in told
    assert "checkout-api (get-order)" in told
    assert "deploy at 14:01:40, 20 s before, by ci, checkout-api 4.12.0" in told
    assert "no: it is a single item: DynamoDB cannot split it" in told
    assert "cause likely" in told
    first, then = (" ".join(one.split()) for one in page.locator("#verdict .do").all_inner_texts())
    assert first == (
        "Do firstAsk its owner to roll back the deploy of checkout-api at 14:01:40 (4.12.0); else why it concentrates"
        " on ORDER#<id>; stop or slow it there; takes minutes"
    )
    assert "Cache what is read in the caller or in DAX for a second or more; takes a deploy" in then
    assert page.title() == "◆ critical: hot-key · Dynascope"


def test_verdict_map_and_the_first_finding_fit_a_small_screen(still: Page) -> None:
    page = still
    for selector in ("#verdict", "#map", "#findings dl >> nth=0"):
        box = page.locator(selector).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 720
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_the_verdict_is_copied_as_markdown(still: Page) -> None:
    page = still
    page.click("text=Copy as Markdown")
    page.wait_for_selector("text=Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(
        "**FAULT**: ORDER#\\<id\\> on orders takes 2,940 \\[2,850–3,030\\] of 3,000 read units a second, demand"
        " 3,720 (1.24 ×), 91,400 tries refused"
    )
    assert "**critical hot-key** on orders (likely, since 14:02:00 UTC)" in copied
    assert "- do: Ask its owner to roll back the deploy of checkout-api at 14:01:40" in copied
    assert "- after: deploy at 14:01:40, 20 s before, by ci, checkout-api 4.12.0" in copied
    assert "- explains: throttling (critical)" in copied


def test_findings_come_with_the_cause_first_and_what_it_explains_folded(screen: Screen) -> None:
    page = screen.open()
    assert page.locator("#findings ol > li > details > summary strong").all_inner_texts() == [
        "hot-key",
        "unexpected-scan",
        "gsi-lag",
    ]
    assert page.locator("#findings details.finding[open]").count() == 1
    assert not page.is_visible("text=17% of read requests to orders were throttled")
    page.click("text=explains 1 more: throttling")
    assert page.is_visible("text=17% of read requests to orders were throttled")
    told = text_of(page, "#findings details.finding >> nth=0")
    for said in (
        "do fix-caller: Ask its owner to roll back the deploy of checkout-api",
        "or cache-item: Cache what is read",
        "@cached(ttl_seconds=1)",
        "checkout-api (get-order); hurts support-desk",
        "why DynamoDB refused its requests for the key range; but the request log is sampled: numbers are estimates",
        "likely, from request-log",
    ):
        assert said in told
    page.click("text=the numbers that convict it")
    assert "heat 1.24 [1.19–1.29]" in text_of(page, "#findings details.finding >> nth=0")


def test_a_finding_leads_to_its_runbook(still: Page, server: PageServer) -> None:
    page = still
    path = page.get_attribute("#findings a:has-text('runbook')", "href")
    assert path == "/docs/detectors/hot-key"
    with urllib.request.urlopen(server.url + path) as answer:
        assert answer.status == 200


def test_patterns_tell_calls_units_waste_and_whether_they_are_declared(still: Page, server: PageServer) -> None:
    page = still
    rows = page.locator("#patterns tbody tr")
    patterns = api(server, "patterns")["patterns"]
    assert rows.count() == len(patterns) == 8
    first = " ".join(rows.nth(0).inner_text().split())
    assert first == "get-order yes orders 372k 410k 57% 0% ≤ 11.3 ms 0 93.6k"
    assert rows.nth(0).locator("svg.spark").get_attribute("aria-label") == "at most 1,798 a second"
    assert "undeclared" in rows.nth(7).inner_text()
    assert text_of(page, "#patterns-count") == "8, 1 undeclared"


def test_indexes_tell_their_lag_with_bounds_and_who_is_refused(still: Page) -> None:
    told = text_of(still, "#indexes")
    assert "orders/GSI1" in told
    assert "lag p99 10.2 s [4.87–10.9], 5 s declared" in told
    assert "1,240 write tries (provisioned)" in told


def test_the_footer_tells_what_all_of_it_rests_on(still: Page) -> None:
    page = still
    told = text_of(page, "#honesty")
    for said in (
        "14:01:00–14:06:00 UTC",
        "orders/GSI1 reads: 68% of 90,000 units",
        "request-log, 4 s behind",
        "1,284,000 read",
        "120 dropped",
        "contributor-insights of orders: not enabled",
        "numbers are estimates",
        "2 detectors",
    ):
        assert said in told


@pytest.mark.parametrize(
    ("state", "text", "said"),
    [
        (VerdictState.CLEAN, "clean: 12,000 requests of 5 minutes, nothing found", "✓ CLEAN"),
        (VerdictState.CANNOT_TELL, "cannot tell: CloudWatch refused its metrics", "? CANNOT TELL"),
    ],
)
def test_a_verdict_without_a_fault_says_so(
    screen: Screen, served: PageServer, state: str, text: str, said: str
) -> None:
    verdict = Verdict(VerdictState(state), text, served.report.verdict.confidence)
    served.advance(replace(served.report, verdict=verdict, findings=()))
    page = screen.open()
    assert said in text_of(page, "#verdict")
    assert text.partition(": ")[2] in text_of(page, "#verdict h1")
    assert text_of(page, "#findings-list") == "Nothing was found."


def test_hostile_names_are_shown_as_text(screen: Screen, served: PageServer) -> None:
    bad = "<img src=x onerror=alert(1)><b>bold</b>"
    report = made_report()
    findings = tuple(
        replace(
            one, summary=bad, caller=bad, because=bad, table=bad, evidence={bad: bad}, id=bad if place == 0 else one.id
        )
        for place, one in enumerate(report.findings)
    )
    patterns = tuple(replace(one, pattern=bad, table=bad) for one in report.patterns)
    verdict = replace(report.verdict, text=bad, finding=bad)
    served.advance(replace(report, findings=findings, patterns=patterns, verdict=verdict))
    page = screen.open("#table=orders")
    assert page.inner_text("#verdict h1") == bad
    assert bad in page.inner_text("#findings")
    assert bad in page.inner_text("#patterns")
    assert page.locator("img, b").count() == 0


def test_a_phone_reads_all_of_it_without_scrolling_sideways(browser: Browser, served: PageServer) -> None:
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    screen = Screen(phone.new_page(), served.url)
    page = screen.open()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    order = [
        page.locator(part).bounding_box()
        for part in ("#verdict", "#map", "#findings", "#patterns", "#indexes", "#honesty")
    ]
    tops = [box["y"] for box in order if box is not None]
    assert tops == sorted(tops)
    page.tap(".cells", position={"x": 200, "y": 20})
    page.wait_for_url("**/#*row=*")
    phone.close()
    assert screen.wrong == []


def test_what_is_over_says_so(screen: Screen, served: PageServer) -> None:
    report = made_report()
    closed = replace(report.findings[0], status=Status.CLOSED)
    served.advance(replace(report, findings=(closed, *report.findings[1:])))
    assert "14:02:00–14:06:00 UTC (over, lasted 4 min)" in text_of(screen.open(), "#verdict")
