"""The page over time: it follows what changes, says when it is stale, asks for the token, and lets everybody in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from msgspec.structs import replace

from analyzer.exporters.access import OPEN, Access
from analyzer.model.finding import Severity
from tests.page.conftest import Screen, text_of
from tests.support.page_report import made_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Route

    from tests.support.page_server import PageServer

TOKEN = "a-token-of-the-test"


def test_what_changes_comes_by_itself_and_what_is_open_stays_open(screen: Screen, served: PageServer) -> None:
    page = screen.open()
    page.click("text=the numbers that convict it")
    report = made_report(served.report.as_of + 10_000)
    worse = replace(report.findings[2], summary="report-cron scans orders again", severity=Severity.CRITICAL)
    before = len([url for url in screen.asked if "/report" in url or "/heatmap?" in url])
    served.advance(replace(report, findings=(report.findings[0], report.findings[1], worse, report.findings[3])))
    page.wait_for_selector("#findings >> text=report-cron scans orders again")
    assert "heat 1.24 [1.19–1.29]" in text_of(page, "#findings")
    page.wait_for_function("() => document.querySelector('.heat').data[0].x0 === Date.parse('2026-06-01T13:06:15Z')")
    assert len([url for url in screen.asked if "/report" in url or "/heatmap?" in url]) == before


def test_the_page_says_when_it_is_stale_and_since_when(browser: Browser, served: PageServer) -> None:
    context = browser.new_context()  # a clock that was put in stays with its context
    screen = Screen(context.new_page(), served.url)
    screen.page.clock.install()
    page = screen.open()
    assert page.is_hidden("#stale")
    page.clock.fast_forward(45_000)
    page.wait_for_selector("text=Stale since 14:06:00 UTC")
    served.advance()
    page.wait_for_selector("#stale", state="hidden")
    context.close()
    assert screen.wrong == []


def test_before_the_first_judgement_it_says_that_it_waits(screen: Screen) -> None:
    screen.page.route("**/api/v1/report", lambda route: route.fulfill(status=503, body="nothing judged yet"))
    screen.page.goto(screen.url)
    screen.page.wait_for_selector("text=Nothing judged yet")
    screen.page.unroute("**/api/v1/report")
    screen.page.wait_for_selector("#verdict h1")
    screen.wrong.clear()  # the browser itself tells of the 503


@pytest.fixture
def guarded(served: PageServer) -> Iterator[PageServer]:
    served.server.admit(Access(token=TOKEN))
    yield served
    served.server.admit(OPEN)


@pytest.mark.usefixtures("guarded")
def test_where_a_token_is_set_the_page_asks_for_it_and_puts_it_in_no_address(screen: Screen) -> None:
    page = screen.page
    page.goto(screen.url)
    page.wait_for_selector("#sign-in")
    assert page.is_hidden("#findings")
    page.fill("#token", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The daemon refuses this token.")
    page.fill("#token", TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict h1")
    assert page.is_hidden("#sign-in")
    assert not [url for url in screen.asked if TOKEN in url]
    page.reload()
    page.wait_for_selector("#verdict h1")
    screen.wrong.clear()  # the browser itself tells of each 401


def test_a_finding_is_snoozed_from_the_page(screen: Screen) -> None:
    page = screen.open()
    told: list[object] = []

    def take(route: Route) -> None:
        told.append(route.request.post_data_json)
        route.fulfill(status=201, json={"v": 1, "id": "f-hot", "until": "2026-06-10T00:00:00.000Z", "reason": "known"})

    page.route("**/api/v1/snoozes", take)
    page.click("#findings details.finding >> nth=0 >> text=snooze …")
    page.fill("#findings input[name=until] >> nth=0", "2026-06-10")
    page.fill("#findings input[name=reason] >> nth=0", "sharding ships on Tuesday")
    page.click("#findings button:has-text('Snooze') >> nth=0")
    page.wait_for_selector("text=Snoozed until 2026-06-10")
    assert told == [{"id": "f-hot", "until": "2026-06-10", "reason": "sharding ships on Tuesday"}]


def test_nothing_keeps_anybody_out_by_day_or_by_night(browser: Browser, served: PageServer, axe: str) -> None:
    context = browser.new_context(bypass_csp=True)  # its own script is none of the page's
    page = Screen(context.new_page(), served.url).open("#view=table")
    page.click("text=explains 1 more: throttling")
    page.click("text=snooze … >> nth=0")
    page.evaluate(axe)
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [
            (scheme, one["id"], [node["target"] for node in one["nodes"]])
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
        ] == []
    context.close()
