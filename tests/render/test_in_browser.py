"""A page as a browser lays it out: names as long as they come, on a screen, on a phone, and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from analyzer.render.blocks import Block, Bullets, Facts, Grid, Heading, HeatGrid, Paragraph, Snippet
from analyzer.render.blocks_html import render_html_page
from tests.support.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

LONG = "T" * 255 + "<script>document.title = 'read'</script>"
BLOCKS: tuple[Block, ...] = (
    Heading(f"A page on {LONG}", 1),
    Paragraph(LONG, is_warning=True),
    Heading(f"1. {LONG}", 3, "high"),
    Facts((("medium", LONG), ("do", "look"))),
    Bullets((LONG,)),
    Grid(("name", "stands", "of", "units", "why"), ((LONG, "FAILED", LONG, "1,234", LONG),) * 3, frozenset({3}), 1),
    Snippet((LONG,)),
    HeatGrid(
        title="Heat", labels=(LONG, "cases/GSI2 REGION#<id> (writes)"), notes=(LONG, ""), cells=((0.5,) * 168,) * 2
    ),
)
WIDTH = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    program = need("chromium", mend="install Debian's package chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.set_content(render_html_page(BLOCKS))
        yield tab
        browser.close()


@pytest.mark.parametrize("media", ["screen", "print"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page(page: Page, width: int, media: str) -> None:
    if (width, media) == (390, "print"):
        width = 690  # what is left of A4 between its margins
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(media="print" if media == "print" else "screen")
    assert page.evaluate(WIDTH) <= width


def test_no_name_beside_the_map_is_cut(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(media="screen")
    assert page.evaluate("Math.min(...[...document.querySelectorAll('.heat .row')].map(e => e.getBBox().x))") >= 0


def test_on_a_phone_a_cell_says_what_it_is(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(media="screen")
    said = "getComputedStyle(document.querySelector('td.bad'), '::before').content"
    assert page.evaluate(said) == '"stands: "'
    assert page.evaluate("document.querySelector('td').getBoundingClientRect().right") <= 390


def test_paper_is_white_whatever_the_screen_is(page: Page) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert page.title() != "read"
