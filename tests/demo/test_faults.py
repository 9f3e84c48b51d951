"""Each planted fault, seen in what the emulator served and in what the sampler wrote."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from deploy.demo.cases import HOT_CASE, TABLE, seed_items
from deploy.demo.clients import CALLERS, CONTRACT, Connect, log_path
from deploy.demo.faults import FAULTS
from deploy.demo.processes import Emulator
from deploy.demo.stage import served, set_stage
from deploy.demo.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ARN = f"arn:aws:dynamodb:us-east-1:123456789012:table/{TABLE}"
PATIENCE_SECONDS = 30.0


class Stage:
    def __init__(self, url: str, folder: Path) -> None:
        salt = folder / "salt"
        salt.write_text("a salt of the tests")
        self.url = url
        self.folder = folder
        self.connect = Connect(url, folder, salt)
        self.workload = Workload(self.connect, seed=5)
        self.clients = dict(self.workload.clients())

    def units(self) -> Counter[tuple[str | None, str, str]]:
        found: Counter[tuple[str | None, str, str]] = Counter()
        for second in served(self.url):
            for key in second["keys"]:
                found[key["index"], key["direction"], key["key"]] += key["units"]
        return found

    def throttles(self) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for second in served(self.url):
            for told in second["throttles"]:
                found[told["reason"], told["resource"]] += told["count"]
        return found

    def records(self, caller: str) -> list[dict[str, Any]]:
        for sampler in self.connect._samplers:
            sampler.flush()
        path = log_path(self.folder, caller)
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def run(self, number: int, until: Callable[[], bool]) -> None:
        """Let a fault run until its trace is there; how long that takes says nothing."""
        bursts = FAULTS[number].start(self.clients)
        patience = time.monotonic() + PATIENCE_SECONDS
        try:
            while not until():
                assert time.monotonic() < patience, f"{FAULTS[number].name} left no trace"
                time.sleep(0.1)
        finally:
            for burst in bursts:
                burst.stop()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Emulator() as emulator:
        set_stage(emulator.url, seed=5)
        stage = Stage(emulator.url, tmp_path)
        yield stage
        stage.connect.close()
        for client in stage.clients.values():
            client.close()


def test_a_hot_case_is_refused_at_the_tables_key_range(stage: Stage) -> None:
    reason = ("TableReadKeyRangeThroughputExceeded", ARN)
    stage.run(0, lambda: stage.throttles()[reason] >= 10)
    assert set(stage.throttles()) == {reason}
    assert stage.units()[None, "read", f"CASE#{HOT_CASE}"] >= 3000
    tried = [record for record in stage.records("case-dashboard-api") if "tries" in record]
    assert {tried_["reason"] for record in tried for tried_ in record["tries"]} == {reason[0]}


def test_a_scan_reads_the_whole_table_and_is_not_refused(stage: Stage) -> None:
    pages = 4
    stage.run(1, lambda: len(stage.records("report-job")) >= pages)
    scans = stage.records("report-job")
    assert {record["op"] for record in scans} == {"Scan"}
    assert scans[0]["scanned"] + scans[1]["scanned"] <= len(seed_items(5))
    assert not stage.throttles()


def test_a_filtered_query_throws_away_nine_tenths_of_what_it_reads(stage: Stage) -> None:
    stage.run(2, lambda: sum(record.get("scanned", 0) for record in stage.records("notifier")) >= 1000)
    queries = stage.records("notifier")
    scanned, kept = (sum(record[name] for record in queries) for name in ("scanned", "count"))
    assert kept < 0.1 * scanned
    assert {record["index"] for record in queries} == {"GSI2"}
    assert not stage.throttles()


def test_a_hot_index_key_refuses_the_tables_writes_of_two_callers(stage: Stage) -> None:
    def both_refused() -> bool:
        return all(any("tries" in record for record in stage.records(name)) for name in ("case-worker", "notifier"))

    stage.run(3, both_refused)
    assert set(stage.throttles()) == {("IndexWriteKeyRangeThroughputExceeded", f"{ARN}/index/GSI2")}
    heaviest = {key: units for key, units in stage.units().items() if key[0] is None and key[1] == "write"}
    index = stage.units()["GSI2", "write", "REGION#Unassigned"]
    assert index >= 1000
    assert max(heaviest.values()) < 0.5 * index


def test_a_bad_deploy_reads_whole_cases_and_no_key_gets_hot(stage: Stage) -> None:
    calls = 30
    stage.run(4, lambda: len(stage.records("case-dashboard-api")) >= calls)
    queries = stage.records("case-dashboard-api")
    assert {record["op"] for record in queries} == {"Query"}
    assert all("begins_with" not in record["key_condition"] for record in queries)
    assert not stage.throttles()


def test_the_healthy_workload_calls_everything_that_the_contract_declares(stage: Stage) -> None:
    from ruamel.yaml import YAML  # noqa: PLC0415

    for caller in stage.workload.callers:
        for _, call in caller.calls():
            call()
    declared = YAML(typ="safe").load(CONTRACT)["tables"][0]["patterns"]
    expected = sorted((name, pattern["operation"]) for pattern in declared for name in pattern["callers"])
    called = sorted((name, record["op"]) for name in CALLERS for record in stage.records(name))
    assert called == expected
    assert not any(record.get("error") for name in CALLERS for record in stage.records(name))


def test_the_same_seed_fills_the_same_table() -> None:
    assert seed_items(3) == seed_items(3)
    assert seed_items(3) != seed_items(4)
