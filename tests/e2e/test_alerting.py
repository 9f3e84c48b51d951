"""The whole way: traffic, daemon, scrape, rule, Alertmanager, webhook; and every panel on what was scraped."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from dashboards.generate import BOARDS, FOLDER
from deploy.demo.processes import ROOT
from tests.e2e.conftest import Daemon, now_ms, wait_until
from tests.support.demo_log import DemoLog
from tests.support.prometheus import Prometheus, Webhook, alertmanager, prometheus, webhook
from tests.support.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.emulator import LocalAws

MINUTE_MS = 60_000
QUIET = {
    "table: Lag of indexes, p99",
    "watcher: Reads AWS",
    "watcher: Series dropped",
}
"""Panels that show nothing of the demo: no canary, no second daemon, no bound that is reached."""
VARIABLE = re.compile(r"\$(account_id|aws_region|table|index)\b")


@pytest.fixture
def watched(tmp_path: Path, emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Daemon, DemoLog]]:
    """A daemon on the demo's traffic and on what AWS billed for it."""
    indexes: dict[str, tuple[str, str | None]] = {name: (f"{name}PK", f"{name}SK") for name in ("GSI1", "GSI2")}
    emulator.create_table("cases", sort="SK", indexes=indexes, provisioned=(4000, 4000))
    begin = (now_ms() // MINUTE_MS - 12) * MINUTE_MS
    emulator.plant("cases", at=begin, minutes=12, key="A", sort="1", reads=600, requests=300, operation="GetItem")
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    daemon = Daemon(tmp_path)
    shutil.copy(ROOT / "deploy/demo/contract.yaml", daemon.contract)
    daemon.configure(
        window="5m",
        mode="page",
        aws={
            "collect": ["table-catalog", "cloudwatch-metrics"],
            "endpoint_url": emulator.url,
            "regions": ["us-east-1"],
        },
        cloudwatch_metrics={"delay": "0s"},
    )
    log = DemoLog(daemon.log)
    log.write_all()
    daemon.start()
    daemon.listening()
    yield daemon, log
    daemon.kill()


def test_a_hot_key_wakes_somebody_and_every_panel_shows_something(
    tmp_path: Path, watched: tuple[Daemon, DemoLog]
) -> None:
    daemon, log = watched
    with (
        webhook() as hook,
        alertmanager(tmp_path, hook) as manager,
        prometheus(tmp_path, daemon.url, manager) as server,
    ):

        def is_paged() -> bool:
            log.write_more()
            return "DynascopeHotKey" in hook.names("/pages")

        wait_until(is_paged, "the hot key wakes somebody")
        see_the_page(hook)
        see_the_tickets(server, hook, log)
        see_the_panels(server, log)
        see_the_exposition(daemon)


def see_the_page(hook: Webhook) -> None:
    pages = [alert for path, alert in hook.taken if path == "/pages"]
    hot = next(alert for alert in pages if alert["labels"]["alertname"] == "DynascopeHotKey")
    assert hot["labels"]["table"] == "cases"
    assert (hot["labels"]["severity"], hot["labels"]["response"]) == ("critical", "page")
    assert "single-item" in hot["annotations"]["description"]
    assert {alert["labels"]["severity"] for alert in pages} == {"critical"}
    assert "CASE#" not in json.dumps(hook.taken)
    assert hot["annotations"]["runbook_url"].endswith("/docs/detectors/hot-key")


def see_the_tickets(server: Prometheus, hook: Webhook, log: DemoLog) -> None:
    """A sampler that drops records is a ticket; what the hot key explains is neither a page nor a ticket."""

    def is_filed() -> bool:
        log.write_more()
        log.drop()
        return "DynascopeRecordsDropped" in hook.names("/tickets")

    wait_until(is_filed, "the records that are dropped are a ticket")
    fired = {one["metric"]["alertname"] for one in server.query('ALERTS{alertstate="firing"}')}
    assert {"DynascopeHotKey", "DynascopeThrottling", "DynascopeGsiBackPressure"} <= fired
    assert hook.names("/pages") == {"DynascopeHotKey"}
    assert "DynascopeHotKey" not in hook.names("/tickets")


def see_the_panels(server: Prometheus, log: DemoLog) -> None:
    quiet: set[str] = set()

    def is_all_else_drawn() -> bool:
        log.write_more()
        quiet.clear()
        quiet.update(
            f"{name}: {panel['title']}"
            for name in BOARDS
            for panel in drawn(name)["panels"]
            for target in panel.get("targets", ())
            if not answered(server, target)
        )
        return quiet <= QUIET

    try:
        wait_until(is_all_else_drawn, "every panel shows something")
    finally:
        print(f"quiet: {quiet}")
    for name in BOARDS:
        for annotation in drawn(name)["annotations"]["list"]:
            server.query_range(chosen(annotation["expr"]), 30)


def drawn(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return document


def answered(server: Prometheus, target: dict[str, Any]) -> bool:
    """Whether a query of a panel has an answer; one that Prometheus does not understand raises."""
    expression = chosen(target["expr"])
    return bool(server.query(expression) if target.get("instant") else server.query_range(expression, 30))


def chosen(expression: str) -> str:
    return VARIABLE.sub(".*", expression)


def see_the_exposition(daemon: Daemon) -> None:
    promtool = need("promtool", mend="install Debian's package prometheus")
    text = daemon.get("/metrics").encode()
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
    with urllib.request.urlopen(f"{daemon.url}/docs/detectors/hot-key", timeout=10) as page:
        assert page.status == 200


def test_a_panel_that_is_quiet_in_the_demo_says_why_it_may_be() -> None:
    told = {
        f"{name}: {panel.title}"
        for name, board in BOARDS.items()
        for row in board.rows
        for panel in row.panels
        if panel.quiet
    }
    assert told >= QUIET
