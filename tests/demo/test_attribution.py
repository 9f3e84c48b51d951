"""What the correlator makes of the demo's traffic: the healthy calls are declared, and of the faults two are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from analyzer.contract.load import load_contract
from analyzer.correlator.attribute import attribute
from analyzer.model.request import RequestRecord
from analyzer.model.target import Target
from analyzer.requests.shapes import parts_shape, skeleton_of
from analyzer.requests.tokens import Salt
from deploy.demo.clients import CALLERS, CONTRACT, Connect, log_path
from deploy.demo.faults import FAULTS
from deploy.demo.processes import Emulator
from deploy.demo.stage import set_stage
from deploy.demo.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SALT = "a salt of the tests"


class Logs:
    """One call of everything, and what was written of it."""

    def __init__(self, url: str, folder: Path) -> None:
        salt = folder / "salt"
        salt.write_text(SALT)
        self._folder = folder
        self._connect = Connect(url, folder, salt)
        self.workload = Workload(self._connect, seed=5)
        self._contract = load_contract([CONTRACT])

    def attributed(self) -> dict[tuple[str, str], set[str]]:
        """Close the logs; return the label of each (caller, operation)."""
        self._connect.close()
        found: dict[tuple[str, str], set[str]] = {}
        for caller in CALLERS:
            path = log_path(self._folder, caller)
            for line in path.read_text().splitlines() if path.exists() else ():
                record = msgspec.convert(json.loads(line), RequestRecord)
                found.setdefault((caller, record.op), set()).add(self._label(record))
        return found

    def _label(self, record: RequestRecord) -> str:
        lexicon = self._contract.lexicon(Salt(SALT.encode()))
        (skeleton,) = skeleton_of(record, lexicon)
        if skeleton.is_parted:
            shape = parts_shape(record, "cases", lexicon, record.pattern)
        else:
            predicates = skeleton.predicates(lexicon, skeleton.values(record))
            shape = skeleton.shape(predicates, tagged=record.pattern)
        target = Target("123456789012", "us-east-1", "cases", record.index)
        return attribute(shape, target, record.caller, self._contract).label


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Logs]:
    with Emulator() as emulator:
        set_stage(emulator.url, seed=5)
        logs = Logs(emulator.url, tmp_path)
        yield logs
        for _, client in logs.workload.clients():
            client.close()


def test_every_healthy_call_belongs_to_the_pattern_that_declares_it(logs: Logs) -> None:
    for caller in logs.workload.callers:
        for _, call in caller.calls():
            call()
    assert logs.attributed() == {
        ("case-dashboard-api", "GetItem"): {"load-case"},
        ("case-dashboard-api", "Query"): {"list-active-cases", "case-history"},
        ("case-dashboard-api", "PutItem"): {"register-complaint"},
        ("case-worker", "TransactWriteItems"): {"approve-case"},
        ("case-worker", "UpdateItem"): {"reopen-case"},
        ("case-worker", "PutItem"): {"open-case"},
        ("audit-writer", "PutItem"): {"append-audit"},
        ("notifier", "Query"): {"overdue-actions"},
        ("notifier", "UpdateItem"): {"mark-notified"},
        ("notifier", "DeleteItem"): {"deliver-outbox"},
        ("report-job", "BatchGetItem"): {"cases-of-report"},
    }


def test_of_the_faults_only_the_scan_and_the_bad_deploy_are_undeclared(logs: Logs) -> None:
    for fault in FAULTS:
        for burst in fault.plant(dict(logs.workload.clients())):
            burst._call()
    assert logs.attributed() == {
        ("case-dashboard-api", "GetItem"): {"load-case"},
        ("report-job", "Scan"): {"undeclared"},
        ("notifier", "Query"): {"overdue-actions"},
        ("case-worker", "PutItem"): {"open-case"},
        ("notifier", "UpdateItem"): {"mark-notified"},
        ("case-dashboard-api", "Query"): {"undeclared"},
    }
