"""Pictures of the page for the documentation: `python -m tests.page.shoot [URL]` writes them to docs/images.

Without a URL it shows the made-up report of tests/support/page_server.py.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from tests.page.conftest import CHROMIUM, SCREEN
from tests.page.smaller import shrink
from tests.support.page_server import PageServer
from tests.support.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

__all__ = ["main", "shoot"]

FOLDER = Path(__file__).parents[2] / "docs" / "images"
PHONE = {"width": 390, "height": 844}
PICTURES: dict[str, dict[str, Any]] = {
    "page-light": {"viewport": SCREEN, "color_scheme": "light"},
    "page-dark": {"viewport": SCREEN, "color_scheme": "dark"},
    "page-phone": {"viewport": PHONE, "color_scheme": "light", "is_mobile": True, "has_touch": True},
}


def shoot(browser: Browser, url: str, folder: Path) -> list[Path]:
    """Take every picture; returns where they lie."""
    taken = []
    for name, look in PICTURES.items():
        context = browser.new_context(**look)
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector(".heat .heatmaplayer image", state="attached")
        page.wait_for_load_state("load")
        taken.append(folder / f"{name}.png")
        page.screenshot(path=taken[-1], animations="disabled")
        page.goto("about:blank")
        shrink(page, taken[-1])
        context.close()
    return taken


@contextmanager
def _served() -> Iterator[str]:
    with PageServer() as served:
        yield served.url


def main() -> None:
    """Take the pictures of the documentation, or of a daemon that runs."""
    url = sys.argv[1] if len(sys.argv) > 1 else None
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = need(CHROMIUM["program"], mend=CHROMIUM["mend"])
    with nullcontext(url) if url else _served() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for picture in shoot(browser, address, FOLDER):
            sys.stdout.write(f"{picture} {picture.stat().st_size // 1024} KB\n")
        browser.close()


if __name__ == "__main__":
    main()
