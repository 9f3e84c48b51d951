"""The daemon on an account as it is: nothing but what CloudWatch and the control plane tell."""

from __future__ import annotations

import json
import urllib.error
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import Daemon, now_ms, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.emulator import LocalAws

MINUTE_MS = 60_000
CANARY = "TENANT#canary-7b1f"
KEY_RANGE = "TableWriteKeyRangeThroughputExceeded"


@contextmanager
def started(folder: Path, aws: LocalAws, monkeypatch: pytest.MonkeyPatch, *collect: str) -> Iterator[Daemon]:
    """Run a daemon that reads nothing but these sources."""
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
    one = Daemon(folder)
    one.configure(
        request_log={},
        window="5m",
        aws={"collect": collect, "endpoint_url": aws.url, "regions": ["us-east-1"]},
        cloudwatch_metrics={"delay": "0s"},
        contributor_insights={"delay": "0s"},
    )
    one.configure(contract=[])
    one.start()
    try:
        one.listening()
        yield one
    finally:
        one.kill()


def report(daemon: Daemon) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(daemon.get("/api/v1/report"))
    except urllib.error.HTTPError:  # before the first judgement
        return {"findings": [], "gaps": []}
    return told


def found(daemon: Daemon, detector: str) -> dict[str, Any]:
    wait_until(lambda: any(f["detector"] == detector for f in report(daemon)["findings"]), f"{detector} is found")
    finding: dict[str, Any]
    (finding,) = [one for one in report(daemon)["findings"] if one["detector"] == detector]
    return finding


def refused(at: int, **fields: Any) -> dict[str, Any]:
    """Ten minutes of writes to one key at its ceiling, the rest refused."""
    told = {"table": "orders", "at": at, "minutes": 10, "key": CANARY, "sort": "META", "operation": "PutItem"}
    return {**told, "writes": 59_000, "requests": 59_000, "throttles": 5000, "reasons": [KEY_RANGE], **fields}


@pytest.fixture
def history(emulator: LocalAws) -> LocalAws:
    """An on-demand table with a key that is refused, all of it some minutes ago."""
    emulator.create_table("orders", sort="SK")
    begin = (now_ms() // MINUTE_MS - 12) * MINUTE_MS
    emulator.plant_all([refused(begin)])
    return emulator


def test_metrics_alone_find_the_limit_and_guess_at_no_key(
    tmp_path: Path, history: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(tmp_path, history, monkeypatch, "table-catalog", "cloudwatch-metrics") as daemon:
        throttling = found(daemon, "throttling")
        assert (throttling["table"], throttling["cause"], throttling["direction"]) == ("orders", "key-range", "write")
        assert (throttling["sources"], throttling["confidence"]) == (["cloudwatch-metrics"], "possible")
        told = report(daemon)
        assert not [one for one in told["findings"] if one["detector"] == "hot-key"]
        assert not [one for one in told["findings"] for advice in one["advice"] if advice["action"].startswith("raise")]
        assert {one["detector"] for one in told["skipped"]} >= {"hot-key", "filter-heavy-query"}
        assert daemon.sum("dynascope_source_up", source="cloudwatch-metrics") == 1
        assert daemon.sum("dynascope_aws_billed_metrics_total") > 0


def test_contributor_insights_alone_names_the_key_and_shows_it_to_nobody(
    tmp_path: Path, history: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.watch("orders")
    with started(tmp_path, history, monkeypatch, "contributor-insights") as daemon:
        hot = found(daemon, "hot-key")
        assert (hot["table"], hot["severity"], hot["confidence"]) == ("orders", "high", "likely")
        assert hot["sources"] == ["contributor-insights"]
        for text in (json.dumps(report(daemon)), daemon.get("/metrics"), daemon.errors.read_text()):
            assert CANARY not in text
        assert CANARY.encode() not in (tmp_path / "state" / "daemon.state").read_bytes()


def test_a_source_that_is_denied_is_a_gap_and_delays_no_other(
    tmp_path: Path, history: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.fault("denied", service="monitoring")
    with started(tmp_path, history, monkeypatch, "table-catalog", "cloudwatch-metrics") as daemon:
        wait_until(lambda: any(gap["reason"] == "denied" for gap in report(daemon)["gaps"]), "the gap is told")
        told = report(daemon)
        assert told["verdict"]["state"] == "cannot-tell"
        assert any("cloudwatch:" in (gap["hint"] or "") for gap in told["gaps"])
        assert daemon.sum("dynascope_source_up", source="cloudwatch-metrics") == 0
        assert daemon.sum("dynascope_source_up", source="table-catalog") == 1
