"""A real browser before a real server; nothing may go wrong on a page unseen.

Tests of a module share the browser and one tab: a script that a tab has compiled once costs a third of what it does in
a new one. It ends with the module, since its loop would be in the way of other tests that have one.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from tests.support.page_report import made_report
from tests.support.page_server import PageServer
from tests.support.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize

NODE = Path(__file__).parent / "node"
CHROMIUM = {"program": "chromium", "mend": "install Debian's package chromium"}
SCREEN: ViewportSize = {"width": 1280, "height": 720}
SECONDS = 30_000
"""Milliseconds in which anything has to appear; a busy machine is no fault of the page."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = need(CHROMIUM["program"], mend=CHROMIUM["mend"])
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def server() -> Iterator[PageServer]:
    with PageServer() as running:
        yield running


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """What the pages share: the scripts that were loaded once."""
    shared = browser.new_context(viewport=SCREEN, color_scheme="light")
    shared.grant_permissions(["clipboard-read", "clipboard-write"])
    yield shared
    shared.close()


@pytest.fixture(scope="module")
def tab(context: BrowserContext) -> Page:
    """The tab that tests open the page in, one after the other."""
    return context.new_page()


@pytest.fixture
def served(server: PageServer) -> PageServer:
    """The server with the report as it was made up, whatever a test makes of it."""
    server.advance(made_report())
    return server


@pytest.fixture(scope="session")
def axe() -> str:
    """What judges accessibility, as a script."""
    npm = need("npm", mend="install npm (Debian: npm)")
    if not (NODE / "node_modules" / ".package-lock.json").exists():
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=NODE, check=True, capture_output=True)
    return (NODE / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


class Screen:
    """A page of the browser, and what it complained of or asked of others."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.page.set_default_timeout(SECONDS)
        self.url = url
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self._heard = {
            "console": self._complain,
            "pageerror": lambda error: self.wrong.append(str(error)),
            "request": lambda request: self.asked.append(request.url),
        }
        for event, hear in self._heard.items():
            self.page.on(event, hear)  # type: ignore[call-overload]

    def open(self, hash_: str = "") -> Page:
        """Open the page and wait until its map is drawn."""
        self.page.goto(f"{self.url}/{hash_}")
        self.page.wait_for_selector(".heat .heatmaplayer image", state="attached")
        return self.page

    def leave(self) -> None:
        """Leave the tab as it was found, for the next test."""
        self.page.unroute_all(behavior="ignoreErrors")
        for event, hear in self._heard.items():
            self.page.remove_listener(event, hear)
        if self.page.url.startswith(self.url):
            self.page.evaluate("sessionStorage.clear()")
        self.page.emulate_media(color_scheme="light")
        self.page.goto("about:blank")

    def _complain(self, told: ConsoleMessage) -> None:
        if told.type in {"error", "warning"}:
            self.wrong.append(told.text)

    def elsewhere(self) -> list[str]:
        """Return what was asked of another address than the daemon's."""
        ours = urlsplit(self.url).netloc
        return [url for url in self.asked if urlsplit(url).netloc not in {ours, ""}]


@pytest.fixture
def screen(tab: Page, served: PageServer) -> Iterator[Screen]:
    one = Screen(tab, served.url)
    yield one
    one.leave()
    assert one.wrong == []
    assert one.elsewhere() == []


@pytest.fixture(scope="module")
def still(context: BrowserContext, server: PageServer) -> Iterator[Page]:
    """The page as it is at first, for tests that only read."""
    server.advance(made_report())
    one = Screen(context.new_page(), server.url)
    yield one.open("#table=orders&index=&direction=read")  # it stays, whatever other tests make of the report
    one.page.close()
    assert one.wrong == []
    assert one.elsewhere() == []


def text_of(page: Page, selector: str) -> str:
    """Return the text that a reader sees, on one line."""
    return " ".join(page.inner_text(selector).split())
