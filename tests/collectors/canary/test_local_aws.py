"""The canary as the daemon has it, against a table that is really written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.config import Settings
from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.detectors.indexes.gsi_lag import GsiLag
from analyzer.model.observations import Observations
from analyzer.model.sight import GapReason, Sight, SourceName
from analyzer.model.window import Window
from analyzer.pipeline import analyze
from analyzer.setup import build_setup
from analyzer.sources import open_sources
from collectors.aws.session import Aws

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.batch import Batch
    from tests.support.emulator import LocalAws

REGION = "us-east-1"


async def polled(emulator: LocalAws, folder: Path, *, dry_run: bool) -> Batch:
    canary = {
        "indexes": [{"table": "orders", "index": "by-status"}],
        "dry_run": dry_run,
        "probes": 5,
        "gap": "100ms",
    }
    aws = {"collect": [], "endpoint_url": emulator.url, "regions": [REGION]}
    setup = build_setup(Settings.model_validate({"aws": aws, "canary": canary, "state": str(folder)}))
    assert setup.collected is not None
    assert SourceName.CANARY in setup.sources
    opened = Aws(setup.collected.aws)
    try:
        (poll,) = open_sources(setup.collected, opened, lambda _table, _attribute, value: value, emulator.now)
        now = emulator.now()
        return await poll.source.collect(Window(now - poll.every_ms, now))
    finally:
        await opened.close()


@pytest.fixture
def orders(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    emulator.create_table("orders", sort="SK", indexes={"by-status": ("status", "placed")})
    emulator.run()
    return emulator


async def test_a_dry_run_reads_two_settings_and_writes_nothing(orders: LocalAws, tmp_path: Path) -> None:
    batch = await polled(orders, tmp_path, dry_run=True)
    assert [gap.reason for gap in batch.gaps] == [GapReason.NOT_ENABLED]
    assert ("dynamodb", "PutItem") not in orders.calls()


async def test_its_probes_let_gsi_lag_judge_and_nothing_is_left(orders: LocalAws, tmp_path: Path) -> None:
    batch = await polled(orders, tmp_path, dry_run=False)
    assert (len(batch.probes), batch.gaps) == (5, ())
    assert orders.client("dynamodb").scan(TableName="orders")["Count"] == 0
    observed = Observations(window=batch.window, batches=(batch,), sources=frozenset({SourceName.CANARY}))
    report = analyze(observed, EMPTY_CONTRACT, (GsiLag(),))
    (index,) = [one for one in report.traffic if one.target.index == "by-status"]
    assert Sight.CANARY in index.sights
    assert len(index.probes) == 5
    assert [one.reason.value for one in report.skipped if one.index == "by-status"] in ([], ["too-little"])
