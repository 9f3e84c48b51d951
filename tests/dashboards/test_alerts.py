"""Every alert fires where it has to and is silent where it has not, in promtool itself."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.detectors import DETECTORS
from analyzer.knowledge.throttling import THROTTLE_CODES as AWS_CODES
from dashboards.detectors import PAGING, alert_name, detector_names
from dashboards.generate import FOLDER, alerts
from dashboards.recording import THROTTLE_CODES
from tests.support.alert_cases import cases, written
from tests.support.tools import need

if TYPE_CHECKING:
    from dashboards.rules import Alert

RULES = Path(__file__).parents[1] / "rules"
ROOT = Path(__file__).parents[2]
MEND = "install Debian's package prometheus"
PAGING_SET = {
    "throttling",
    "hot-key",
    "gsi-back-pressure",
    "service-fault",
    "retry-storm",
    "missing-index",
    "gsi-consistent-read",
    "unprocessed-dropped",
    "item-too-large",
    "item-collection-limit",
    "unexpected-scan",
}
NAMES = {detector.name for detector in DETECTORS}
CASES = cases()


def of_detectors(severity: str) -> dict[str, Alert]:
    return {alert.name: alert for alert in alerts() if "detector" in alert.labels and alert.severity == severity}


def test_the_paging_set_and_nothing_else_wakes_somebody() -> None:
    assert set(PAGING) == PAGING_SET
    pages = {alert.name for alert in alerts() if alert.severity == "critical"}
    assert pages == {alert_name(name) for name in PAGING_SET} | {"DynascopeThrottleBudgetBurn"}
    assert PAGING_SET <= NAMES


def test_every_detector_has_a_ticket() -> None:
    assert set(detector_names()) == NAMES
    assert {alert_name(name) for name in NAMES} <= set(of_detectors("warning"))


def test_an_alert_is_named_for_its_detector() -> None:
    assert alert_name("hot-key") == "DynascopeHotKey"
    assert alert_name("n-plus-one") == "DynascopeNPlusOne"


def test_no_alert_stands_twice() -> None:
    told = [(alert.name, alert.severity) for alert in alerts()]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: f"{alert.name}-{alert.severity}")
def test_an_alert_says_what_who_and_where_to_go_on(alert: Alert) -> None:
    assert alert.summary.endswith(".")
    assert "{{" not in alert.summary
    assert alert.description.endswith(".")
    assert alert.dashboard.split("?")[0] in {"/d/dynascope-table", "/d/dynascope-watcher"}
    assert {"severity", "response"}.isdisjoint(alert.labels)


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: f"{alert.name}-{alert.severity}")
def test_a_runbook_is_there(alert: Alert) -> None:
    path, _, anchor = alert.runbook.partition("#")
    page = ROOT / f"{path.removeprefix('/')}.md"
    assert page.is_file()
    headings = {line.lstrip("# ").lower() for line in page.read_text("utf-8").splitlines() if line.startswith("#")}
    assert (anchor or "runbook") in headings


def test_the_codes_of_throttled_calls_are_those_of_aws() -> None:
    assert set(THROTTLE_CODES) == AWS_CODES


@pytest.mark.parametrize("name", CASES)
def test_the_tests_of_the_rules_are_those_of_the_alerts(name: str, request: pytest.FixtureRequest) -> None:
    path, text = RULES / name, written(name)
    if request.config.getoption("--rewrite-golden"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text, "run pytest --rewrite-golden"


def test_every_alert_has_a_series_that_fires_it_and_one_that_does_not() -> None:
    checks = [check for group in CASES.values() for case in group.tests for check in case.checks]
    told = {(alert.name, alert.severity) for alert in alerts()}
    assert {(alert.name, alert.severity) for check in checks for alert, _, _ in check.fires} == told
    assert {check.alert for check in checks if not check.fires} == {name for name, _ in told}
    assert {path.name for path in RULES.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_promtool_sees_them_fire_and_stay_silent(name: str) -> None:
    promtool = need("promtool", mend=MEND)
    done = subprocess.run(
        [promtool, "test", "rules", RULES / name], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["alerts.yaml", "recording.yaml"])
def test_promtool_reads_the_rules(name: str) -> None:
    promtool = need("promtool", mend=MEND)
    done = subprocess.run(
        [promtool, "check", "rules", "--lint-fatal", FOLDER / name], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
