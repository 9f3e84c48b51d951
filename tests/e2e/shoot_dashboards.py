"""Pictures of the dashboards for the documentation: `python -m tests.e2e.shoot_dashboards` writes them to docs/images.

Every panel is drawn from what its own query returns of a real Prometheus that scraped a daemon on the demo's log.
Grafana is not there: the pictures show its layout, its titles and its lines, not its looks.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from playwright.sync_api import sync_playwright
from plotly.offline import get_plotlyjs

from analyzer.model.instant import format_instant
from dashboards.generate import BOARDS
from deploy.demo.processes import ROOT, Emulator
from tests.e2e.conftest import Daemon, now_ms, wait_until
from tests.e2e.picture import WIDE, page_of
from tests.e2e.test_alerting import MINUTE_MS, chosen, drawn
from tests.page.conftest import CHROMIUM
from tests.page.smaller import shrink
from tests.support.demo_log import DemoLog
from tests.support.emulator import LocalAws
from tests.support.prometheus import Prometheus, alertmanager, prometheus, webhook
from tests.support.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = ROOT / "docs" / "images"
SECONDS = 300.0
"""How long the daemon is watched before the pictures are taken: as long as the rates of the panels look back."""


@contextmanager
def watched(folder: Path) -> Iterator[tuple[Prometheus, DemoLog, Daemon]]:
    """Run what tests/e2e/test_alerting.py runs: emulator, daemon, Prometheus and Alertmanager."""
    with ExitStack() as stack:
        local = LocalAws(stack.enter_context(Emulator()).url)
        stack.callback(local.close)
        stack.enter_context(_environment(local.environment))
        indexes: dict[str, tuple[str, str | None]] = {name: (f"{name}PK", f"{name}SK") for name in ("GSI1", "GSI2")}
        local.create_table("cases", sort="SK", indexes=indexes, provisioned=(4000, 4000))
        begin = (now_ms() // MINUTE_MS - 12) * MINUTE_MS
        local.plant("cases", at=begin, minutes=12, key="A", sort="1", reads=5800, requests=300, operation="GetItem")
        daemon = Daemon(folder)
        shutil.copy(ROOT / "deploy/demo/contract.yaml", daemon.contract)
        source = {
            "collect": ["table-catalog", "cloudwatch-metrics"],
            "endpoint_url": local.url,
            "regions": ["us-east-1"],
        }
        daemon.configure(window="5m", mode="page", aws=source, cloudwatch_metrics={"delay": "0s"})
        log = DemoLog(daemon.log)
        log.write_all()
        daemon.start()
        stack.callback(daemon.kill)
        daemon.listening()
        manager = stack.enter_context(alertmanager(folder, stack.enter_context(webhook())))
        yield stack.enter_context(prometheus(folder, daemon.url, manager)), log, daemon


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    import os  # noqa: PLC0415 -- of this script alone

    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def mark(daemon: Daemon) -> None:
    """Tell the daemon of a deploy, which then stands within the pictures."""
    body = json.dumps({"detail": "case-api 2.3.0", "table": "cases", "time": format_instant(now_ms() + 50_000)})
    where = urllib.request.Request(
        f"{daemon.url}/api/v1/changes", body.encode(), {"Content-Type": "application/json"}, method="POST"
    )
    urllib.request.urlopen(where, timeout=10).close()


def asked(server: Prometheus, seconds: float) -> dict[str, list[dict[str, Any]]]:
    """Return every panel of every dashboard with the answers to its queries."""
    return {
        name: [
            {
                **panel,
                "answers": [_answer(server, target, seconds) for target in panel.get("targets", ())],
                "changes": _changes(server, name),
            }
            for panel in drawn(name)["panels"]
        ]
        for name in BOARDS
    }


def _answer(server: Prometheus, target: dict[str, Any], seconds: float) -> list[dict[str, Any]]:
    expression = chosen(target["expr"])
    return server.query(expression) if target.get("instant") else server.query_range(expression, seconds)


def _changes(server: Prometheus, name: str) -> list[float]:
    """Return when something was changed, as the dashboard's annotation says, in milliseconds."""
    asked_of = [one["expr"] for one in drawn(name)["annotations"]["list"] if one["name"] == "Changes"]
    return [float(one["value"][1]) for expression in asked_of for one in server.query(chosen(expression))]


def draw(boards: dict[str, list[dict[str, Any]]], folder: Path) -> list[Path]:
    """Draw each dashboard; returns where the pictures lie."""
    taken = []
    program = need(CHROMIUM["program"], mend=CHROMIUM["mend"])
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDE, "height": 600})
        for name, panels in boards.items():
            page.set_content(page_of(BOARDS[name].title, panels))
            page.add_script_tag(content=get_plotlyjs())
            page.evaluate("draw()")
            taken.append(folder / f"dashboard-{name}.png")
            page.screenshot(path=taken[-1], full_page=True)
            page.goto("about:blank")
            shrink(page, taken[-1])
        browser.close()
    return taken


def main() -> None:
    """Watch for some minutes, ask, draw; with a file, draw what was asked before or keep there what is asked now."""
    kept = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if kept is None or not kept.exists():
        with tempfile.TemporaryDirectory() as folder, watched(Path(folder)) as (server, log, daemon):
            until = time.monotonic() + SECONDS
            mark(daemon)

            def is_over() -> bool:
                log.write_more()
                return time.monotonic() > until

            wait_until(is_over, "enough was scraped", 2 * SECONDS)
            boards = asked(server, SECONDS)
        if kept is not None:
            kept.write_bytes(msgspec.json.encode(boards))
    else:
        boards = json.loads(kept.read_bytes())
    for picture in draw(boards, FOLDER):
        sys.stdout.write(f"{picture} {picture.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main()
