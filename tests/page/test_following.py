"""The open page goes where the fault goes, as long as the reader chose nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from analyzer.lifecycle.verdict import fault_of
from analyzer.model.finding import Direction, Severity, Status
from analyzer.model.instant import SLICE_MS
from tests.page.conftest import text_of
from tests.support.page_report import made_report

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from analyzer.model.report import Report
    from tests.page.conftest import Screen
    from tests.support.page_server import PageServer

ELSEWHERE = "#map-elsewhere"
OPEN = "#findings-list > ol > li > details[open] > summary strong"


def moved(served: PageServer) -> Report:
    """Return the next report: the fault is at the index now, what it was before is over."""
    report = made_report(served.report.as_of + SLICE_MS)
    before = [replace(one, status=Status.CLOSED) for one in report.findings]
    lag = next(one for one in report.findings if one.index == "GSI1")
    now = replace(lag, id="f-now", severity=Severity.CRITICAL, direction=Direction.WRITE, status=Status.OPEN)
    findings = (replace(now, caused_by=None), *before)
    verdict = fault_of(findings)
    assert verdict is not None
    assert verdict.finding == "f-now"
    return replace(report, findings=findings, verdict=verdict)


def wait_for_map(page: Page, words: str) -> None:
    page.wait_for_function(
        "words => document.querySelector('.cells')?.getAttribute('aria-label').startsWith(words)", arg=words
    )


def test_map_and_unfolded_finding_follow_the_fault(screen: Screen, served: PageServer) -> None:
    page = screen.open()
    wait_for_map(page, "orders, reads")
    assert page.locator(OPEN).all_inner_texts() == ["hot-key"]
    report = moved(served)
    served.advance(report)
    wait_for_map(page, "orders/GSI1, writes")
    assert page.locator(OPEN).all_inner_texts() == [report.findings[0].detector]
    assert page.is_hidden(ELSEWHERE)


def test_who_chose_is_told_where_the_fault_is_and_is_led_there(screen: Screen, served: PageServer) -> None:
    page = screen.open("#table=orders&index=&direction=read")
    assert page.is_hidden(ELSEWHERE)
    served.advance(moved(served))
    page.wait_for_selector(ELSEWHERE)
    assert text_of(page, ELSEWHERE) == "The fault is on orders/GSI1 writes: show"
    assert "orders, reads" in (page.get_attribute(".cells", "aria-label") or "")
    page.click(f"{ELSEWHERE} >> text=show")
    wait_for_map(page, "orders/GSI1, writes")
    assert page.is_hidden(ELSEWHERE)
    assert "table=" not in page.url


def test_what_the_reader_unfolds_stays(screen: Screen, served: PageServer) -> None:
    page = screen.open()
    page.locator("#findings-list > ol > li > details:not([open]) > summary").first.click()
    chosen = page.locator(OPEN).all_inner_texts()
    served.advance(moved(served))
    page.wait_for_selector(ELSEWHERE)
    assert [one for one in page.locator(OPEN).all_inner_texts() if one in chosen]
    wait_for_map(page, "orders, reads")


def test_an_index_whose_lag_nobody_knows_says_why_in_words_where_it_is_asked(
    screen: Screen, served: PageServer
) -> None:
    report = made_report()
    blind = tuple(replace(one, probes=(), calls=None) for one in report.traffic)
    served.advance(replace(report, traffic=blind))
    page = screen.open()
    card = page.locator("#indexes .card", has_text="GSI1")
    assert "lag not known why?" in " ".join(card.inner_text().split())
    card.get_by_text("why?").click()
    told = card.locator("details p").inner_text()
    assert told.startswith("No read was seen that tells how far this index is behind.")
    assert "`" not in told
    assert card.locator("details a").get_attribute("href") == "/docs/detectors/gsi-lag"


def test_bars_of_shares_begin_below_one_another_and_are_told_to_the_percent(screen: Screen) -> None:
    page = screen.open()
    lefts = page.evaluate("[...document.querySelectorAll('.share-bar')].map((one) => one.getBoundingClientRect().left)")
    assert len(set(lefts)) == 1
    numbers = page.locator(".share-number:not(:empty)").all_inner_texts()
    assert all(one.rstrip("%").lstrip("<>").isdigit() for one in numbers)
