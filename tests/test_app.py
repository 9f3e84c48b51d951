from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, cast

import pytest

from analyzer.app import Latest, Lossy, _history, _own_account, _say_overdraft, make_logger
from analyzer.config import Settings
from analyzer.errors import ContractError
from analyzer.lease import LeaseConfig
from analyzer.lease_places import FilePlace
from analyzer.polling import Poll
from analyzer.setup import build_setup, load_setup, process_salt
from analyzer.standby import Standby
from collectors.aws.config import AwsConfig
from collectors.cloudwatch_metrics.collector import CloudWatchMetrics
from collectors.cloudwatch_metrics.config import MetricTarget
from tests.support.scripted_aws import ScriptedAws

if TYPE_CHECKING:
    from pathlib import Path

    from collectors.aws.session import Aws

_RAISES = """
import resource
from analyzer.app import run_daemon
resource.setrlimit(resource.RLIMIT_NOFILE, (64, {hard}))
try:
    run_daemon(None, as_json=True, write=print)
except Exception:
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_what_a_full_or_closed_stream_does_not_take_is_lost_and_no_more() -> None:
    for stream in (None, open("/dev/full", "w", buffering=1)):  # noqa: PTH123, SIM115 -- closed below
        outlet = Lossy(stream)
        assert outlet.write("a line\n") == 7
        outlet.flush()
        if stream is not None:
            with pytest.raises(OSError, match="space"):
                stream.close()
            outlet.write("after its end\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_logger_needs_no_standard_error(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    make_logger("info", form).info("unheard")


@pytest.mark.parametrize("hard", [256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]])
def test_as_many_files_as_the_system_allows_may_be_open(hard: int) -> None:
    told = subprocess.run([sys.executable, "-c", _RAISES.format(hard=hard)], capture_output=True, check=True, text=True)
    assert int(told.stdout) == (min(hard, 10_240) if hard > 0 else 10_240)


def test_keys_of_aws_are_concealed_as_the_contract_that_holds_now_has_it(tmp_path: Path) -> None:
    config, contract = tmp_path / "dynascope.yaml", tmp_path / "contract.yaml"
    config.write_text('{"aws": {}, "contract": ["contract.yaml"]}')

    def declare(key: str) -> None:
        pattern = {"id": "load", "operation": "GetItem", "key": {"PK": key}}
        table = {"name": "cases", "partition_key": "PK", "patterns": [pattern]}
        contract.write_text(json.dumps({"version": 1, "tables": [table]}))

    declare("CASE#<caseId>")
    latest = Latest(partial(load_setup, config, {}, process_salt()))
    assert latest.hide("cases", "PK", "CASE#7").startswith("CASE#~")
    assert latest.hide("cases", "PK", "EU#7").startswith("~")
    declare("EU#<caseId>")
    latest.load()
    assert latest.hide("cases", "PK", "EU#7").startswith("EU#~")
    contract.write_text("nonsense: 1")
    with pytest.raises(ContractError):
        latest.load()
    assert latest.hide("cases", "PK", "EU#7").startswith("EU#~")


@pytest.mark.parametrize(("usd", "said"), [(0, 1), (10, 0)], ids=["more than it may cost", "within it"])
def test_a_day_that_costs_more_than_it_may_is_said_with_the_mend(
    usd: float, said: int, capsys: pytest.CaptureFixture[str]
) -> None:
    setup = build_setup(Settings.model_validate({"aws": {"collect": ["cloudwatch-metrics"], "max_usd_per_day": usd}}))
    assert setup.collected is not None
    assert setup.collected.metrics is not None
    metrics = CloudWatchMetrics(setup.collected.metrics, ScriptedAws({}), targets=lambda: (MetricTarget("orders"),))
    _say_overdraft(setup, (Poll(metrics, 300_000, "us-east-1"),), make_logger("info", "json"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == said
    for line in lines:
        told = json.loads(line)
        assert told["event"] == "reading AWS costs more a day than it may"
        assert "dollars a day, and 0 are allowed: reading stops at about 00:00 UTC" in told["because"]
        assert "fewer tables" in told["mend"]


def test_history_of_a_standby_has_a_way_outside_the_gate(tmp_path: Path) -> None:
    config = {"history": {"to": "s3://bucket/history"}, "request_log": {"files": ["log"]}, "state": str(tmp_path)}
    setup = build_setup(Settings.model_validate(config))
    assert setup.history is not None
    log = make_logger("info", "json")

    class Way:
        ungated = ScriptedAws({"ListObjectsV2": {}})

        async def call(self, *_: object, **__: object) -> None:
            raise AssertionError("the gate is in the way")

    gate = Standby(FilePlace(tmp_path / "lease"), LeaseConfig(path="lease"), log)
    keeper = _history(setup, setup.history, log, Way(), gate)  # type: ignore[arg-type] # what of it is used
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(keeper.run(lambda: 1_796_032_800_000), 0.3))
    assert keeper.is_ours() is None
    assert set(Way.ungated.operations()) == {"ListObjectsV2"}
    assert _history(setup, setup.history, log, ScriptedAws({}), None).is_ours() is True  # type: ignore[arg-type] # same


async def test_a_region_that_hangs_delays_no_other_that_says_whose_the_credentials_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hanging:
        config = AwsConfig(regions=("eu-west-1", "us-east-1"))
        answers = True

        async def call(self, *_: str, region: str) -> dict[str, str]:
            if region == "eu-west-1" or not self.answers:
                await asyncio.Event().wait()
            return {"Account": "111122223333"}

    aws = Hanging()
    assert await _own_account(cast("Aws", aws), make_logger("info", "json")) == "111122223333"
    aws.answers = False
    monkeypatch.setattr("analyzer.app._IDENTITY_SECONDS", 0.01)
    assert await _own_account(cast("Aws", aws), make_logger("info", "json")) is None
    assert "no answer in 0.01 seconds" in capsys.readouterr().err
