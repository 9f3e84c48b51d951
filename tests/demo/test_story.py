"""The conductor's judgement of what the daemon said."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from deploy.demo.__main__ import _choose_port, _prometheus, diagnose_command
from deploy.demo.alarm import Fired, alert_of, fired_in, write_rules
from deploy.demo.faults import FAULTS, Expected
from deploy.demo.story import alarms, complaints, judge
from deploy.demo.watch import Seen, Watcher


def told(detector: str, severity: str = "high", **fields: Any) -> dict[str, Any]:
    return {"id": detector, "detector": detector, "table": "cases", "index": None, "severity": severity, **fields}


ROOT = Path(__file__).parents[2]
HOT = told("hot-key", caller="case-dashboard-api", cause="single-item", direction="read", pattern="load-case")


@pytest.mark.parametrize(
    ("finding", "is_it"),
    [
        (HOT, True),
        ({**HOT, "caller": "report-job"}, False),
        ({**HOT, "cause": "counter"}, False),
        ({**HOT, "index": "GSI2"}, False),
        ({**HOT, "table": "orders"}, False),
        ({**HOT, "detector": "throttling"}, False),
    ],
)
def test_a_finding_fits_by_detector_place_cause_and_caller(finding: dict[str, Any], *, is_it: bool) -> None:
    assert FAULTS[0].must[0].fits(finding) is is_it


def test_what_is_not_asked_of_a_finding_may_be_anything() -> None:
    assert Expected("hot-key").fits(HOT)


def test_a_fault_is_closed_when_all_of_it_was_found_and_has_closed() -> None:
    outcome = judge({"a": Seen(20.0, [HOT], closed_at=60.0)})[0][0]
    assert outcome.is_found
    assert outcome.is_closed
    assert not judge({"a": Seen(20.0, [HOT])})[0][0].is_closed
    assert not judge({})[0][0].is_found


def test_a_finding_that_only_ever_was_low_finds_no_fault_and_disturbs_nobody() -> None:
    outcomes, strays = judge({"a": Seen(20.0, [{**HOT, "severity": "low"}])})
    assert not outcomes[0].is_found
    assert not strays
    assert not judge({"a": Seen(1.0, [told("declared-scan", "low")])})[1]


def test_what_a_fault_causes_is_no_stray() -> None:
    throttling = told("throttling", cause="key-range", direction="read", caller="case-dashboard-api")
    assert not judge({"a": Seen(20.0, [throttling])})[1]
    assert judge({"a": Seen(20.0, [{**throttling, "cause": "provisioned"}])})[1]


@pytest.mark.parametrize(
    "caused",
    [
        told("pattern-drift", "medium", index="GSI2", caller="notifier", cause="filter", pattern="overdue-actions"),
        told("write-cost", "medium", caller="notifier", cause="large-items", direction="write"),
    ],
)
def test_what_a_planted_fault_costs_beside_is_no_stray(caused: dict[str, Any]) -> None:
    assert not judge({"a": Seen(20.0, [caused])})[1]
    assert judge({"a": Seen(20.0, [{**caused, "caller": "audit-writer"}])})[1]


def test_what_does_not_hold_is_named() -> None:
    outcomes, strays = judge({"a": Seen(20.0, [HOT]), "b": Seen(30.0, [told("stuck-lock")])})
    said = list(complaints(outcomes[:2], strays, is_quiet=False, surprises=1))
    assert said == [
        "healthy traffic was not quiet, or not seen",
        "hot case did not close",
        "undeclared Scan was not found",
        "no fault explains stuck-lock",
        "healthy calls failed",
    ]
    closed = judge({"a": Seen(20.0, [HOT], closed_at=60.0)})[0][:1]
    assert not list(complaints(closed, [], is_quiet=True, surprises=0))


def test_a_finding_speaks_by_the_last_of_its_worst_forms() -> None:
    forms = [told("x", "medium", n=1), told("x", "high", n=2), told("x", "high", n=3), told("x", "low", n=4)]
    assert Seen(1.0, forms).worst["n"] == 3


RAISED = {
    Fired("DynascopeHotKey", None, "critical"),
    Fired("DynascopeUnexpectedScan", None, "warning"),
    Fired("DynascopeFilterHeavyQuery", "GSI2", "warning"),
    Fired("DynascopeHotKey", "GSI2", "critical"),
    Fired("DynascopeGsiBackPressure", "GSI2", "critical"),
    Fired("DynascopeUndeclaredPattern", None, "warning"),
}


def test_each_planted_fault_must_have_raised_its_alerts_where_there_is_a_prometheus() -> None:
    outcomes, strays = judge({})
    without = list(complaints(outcomes, strays, is_quiet=True, surprises=0))
    assert list(complaints(outcomes, strays, is_quiet=True, surprises=0, fired=RAISED)) == without
    elsewhere = RAISED - {Fired("DynascopeHotKey", None, "critical")}
    said = list(complaints(outcomes, strays, is_quiet=True, surprises=0, fired=elsewhere))
    assert said == [*without, "DynascopeHotKey did not fire for hot case"]


def test_the_summary_names_the_alerts_of_each_fault_and_what_fired_beside() -> None:
    told = list(alarms({*RAISED, Fired("DynascopeSourceStale", None, "warning")}))
    assert told[0] == "hot case          Prometheus: DynascopeHotKey (critical) fired"
    assert "hot index key     Prometheus: DynascopeGsiBackPressure (critical) fired on GSI2" in told
    assert told[-1] == "(none)            Prometheus: DynascopeSourceStale (warning) fired as well"
    assert next(alarms(())) == "hot case          Prometheus: DynascopeHotKey DID NOT FIRE"


def test_an_alert_that_a_fault_may_raise_is_explained() -> None:
    assert not any(
        "fired as well" in line for line in alarms({*RAISED, Fired("DynascopeThrottling", None, "critical")})
    )


def test_alerts_are_read_from_what_prometheus_answers() -> None:
    labels = {"alertname": "DynascopeHotKey", "table": "cases", "severity": "critical"}
    assert fired_in([{"metric": labels}, {"metric": {**labels, "index": "GSI2"}}]) == [
        Fired("DynascopeHotKey", None, "critical"),
        Fired("DynascopeHotKey", "GSI2", "critical"),
    ]


def test_every_alert_that_a_fault_must_raise_is_one_of_the_rules() -> None:
    rules = (ROOT / "dashboards/generated/alerts.yaml").read_text("utf-8")
    for fault in FAULTS:
        for expected in fault.must:
            assert f"- alert: {alert_of(expected.detector)}\n" in rules


def test_prometheus_scrapes_the_daemon_by_the_rules_as_they_are_shipped(tmp_path: Path) -> None:
    settings = json.loads(write_rules(tmp_path, "http://127.0.0.1:8642").read_text())
    assert settings["scrape_configs"][0]["static_configs"] == [{"targets": ["127.0.0.1:8642"]}]
    assert list(Path(settings["rule_files"][0]).parent.glob("*.yaml"))


def test_without_a_prometheus_it_says_how_to_get_one_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _prometheus(tmp_path, "http://127.0.0.1:8642", is_wanted=True) is None
    assert "install it (Debian: the package prometheus)" in capsys.readouterr().out
    assert _prometheus(tmp_path, "http://127.0.0.1:8642", is_wanted=False) is None
    assert not capsys.readouterr().out


def test_a_prometheus_that_does_not_start_is_told_with_the_way_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "prometheus"
    program.write_text("#!/bin/sh\necho 'bad flag' >&2\nexit 1\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(RuntimeError, match=r"did not start; .*prometheus\.log says why, and --no-prometheus"):
        _prometheus(tmp_path, "http://127.0.0.1:8642", is_wanted=True)
    assert "bad flag" in (tmp_path / "prometheus.log").read_text()


class Lines:
    def __init__(self, *lines: dict[str, Any]) -> None:
        self._lines = list(lines)

    def empty(self) -> bool:
        return not self._lines

    def get(self) -> dict[str, Any]:
        return self._lines.pop(0)


class FakeDaemon:
    def __init__(self, lines: Lines, report: dict[str, Any] | None) -> None:
        self.lines = lines
        self._report = report

    def report(self) -> dict[str, Any] | None:
        return self._report


def test_the_watcher_follows_a_finding_from_its_line_through_reports_to_its_end() -> None:
    low, high = {**HOT, "severity": "low", "status": "open"}, {**HOT, "status": "ongoing"}
    daemon: Any = FakeDaemon(Lines({"event": "open", "finding": low}), {"findings": [high]})
    watcher = Watcher(daemon, 0.0)
    watcher.look()
    assert [form["severity"] for form in watcher.findings["hot-key"].forms] == ["low", "high"]
    daemon.lines = Lines({"event": "closed", "finding": {**high, "status": "closed"}})
    daemon._report = None
    watcher.look()
    assert watcher.findings["hot-key"].closed_at is not None


def test_a_port_that_is_taken_is_replaced_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert _choose_port(port) != port
    assert f"port {port} is taken" in capsys.readouterr().out


def test_what_to_type_asks_the_demos_own_aws() -> None:
    told = diagnose_command("http://127.0.0.1:8000")
    assert told.startswith("AWS_ENDPOINT_URL=http://127.0.0.1:8000 AWS_ACCESS_KEY_ID=")
    assert told.endswith("dynascope diagnose --region us-east-1")
