from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from analyzer.config import load_settings
from analyzer.detectors import DETECTORS
from analyzer.errors import ConfigError, ContractError
from analyzer.requests.tokens import Salt
from analyzer.setup import Setup, build_setup, checked_settings, load_setup, process_salt

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "version: 1\ntables: [{name: cases, partition_key: PK, sort_key: SK}]\n"


def build(folder: Path, **settings: object) -> Setup:
    (folder / "dynascope.yaml").write_text(json.dumps({"request_log": {"files": ["log"]}, **settings}))
    return build_setup(load_settings(folder / "dynascope.yaml", {}))


def test_paths_are_taken_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    setup = build(tmp_path)
    assert setup.request_log.files == (str(tmp_path / "log"),)
    assert setup.state == tmp_path / "dynascope-state"
    assert {detector.name for detector in setup.detectors} == {detector.name for detector in DETECTORS}


def test_without_a_log_there_is_nothing_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"request_log\.files: nothing to read; name the files"):
        build(tmp_path, request_log={})


def test_without_a_configuration_the_option_is_named_that_takes_one() -> None:
    with pytest.raises(ConfigError, match=r"configuration: request_log\.files: nothing to read; .*--config FILE"):
        load_setup(None, {})


def test_a_contract_is_told_apart_by_content_and_salt(tmp_path: Path) -> None:
    contract = tmp_path / "contract.yaml"
    contract.write_text(TABLE)
    first = build(tmp_path, contract="contract.yaml").contract_id
    assert build(tmp_path, contract="contract.yaml", window="20s").contract_id == first
    assert build(tmp_path, contract="contract.yaml", salt="other").contract_id != first
    contract.write_text(TABLE.replace("cases", "orders"))
    assert build(tmp_path, contract="contract.yaml").contract_id != first
    assert build(tmp_path).contract_id != first


def test_a_faulty_contract_stops_it(tmp_path: Path) -> None:
    (tmp_path / "contract.yaml").write_text("tables: 7\n")
    with pytest.raises(ContractError):
        build(tmp_path, contract="contract.yaml")


def test_an_allowance_of_a_detector_that_does_not_exist_stops_it(tmp_path: Path) -> None:
    allow = "allow: [{detector: hot-ky, until: 2027-03-31, reason: x}]"
    (tmp_path / "contract.yaml").write_text(f"- {{id: a, op: get, pk: x, {allow}}}\n")
    with pytest.raises(ContractError, match="did you mean hot-key"):
        build(tmp_path, contract="contract.yaml")


@pytest.mark.parametrize("settings", [{"detectors": {"hot-keys": {}}}, {"limits": {"cellss": 1}}])
def test_a_threshold_of_another_name_is_a_fault(tmp_path: Path, settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="did you mean"):
        build(tmp_path, **settings)


EVERY_KIND = """\
windw: 20s
contract: contract.yaml
salt_file: none
detectors:
  hot-key: {at_ceilin: 1, warm: [1]}
  hot-keys: {}
limits:
  cellss: 1
  heavy: 0
"""


def test_faults_of_every_kind_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "contract.yaml").write_text("tables: 7\n")
    (tmp_path / "d.yaml").write_text(EVERY_KIND)
    with pytest.raises(ConfigError) as caught:
        load_setup(tmp_path / "d.yaml", {})
    assert [(fault.line, fault.field) for fault in caught.value.faults if fault.file.endswith("d.yaml")] == [
        (None, "request_log.files"),
        (1, "windw"),
        (3, "salt_file"),
        (5, "detectors.hot-key.warm"),
        (5, "detectors.hot-key.at_ceilin"),
        (6, "detectors.hot-keys"),
        (8, "limits.cellss"),
        (9, "limits.heavy"),
    ]
    assert any(fault.file.endswith("contract.yaml") for fault in caught.value.faults)


def test_a_section_that_is_faulty_as_a_whole_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text("request_log: {file: x}\nlisten: 0.0.0.0:1\nlisten_unprotected: perhaps\n")
    with pytest.raises(ConfigError) as caught:
        load_setup(tmp_path / "d.yaml", {})
    assert [fault.field for fault in caught.value.faults] == ["request_log.file", "listen_unprotected"]


def test_a_command_that_names_its_logs_needs_none_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text("window: 20s\n")
    assert checked_settings(tmp_path / "d.yaml", {}).window_ms == 20_000


def test_the_command_line_stands_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text("contract: none.yaml\nlimits: {heavy: 0}\n")
    (tmp_path / "contract.yaml").write_text(TABLE)
    with pytest.raises(ConfigError) as caught:
        checked_settings(tmp_path / "d.yaml", {}, {"window": "x"}, [tmp_path / "contract.yaml"])
    assert [(fault.file, fault.field) for fault in caught.value.faults] == [
        ("command line", "window"),
        (str(tmp_path / "d.yaml"), "limits.heavy"),
    ]


@pytest.mark.parametrize("limits", [{"heavy": 0}, {"rows": -5}, {"cells": 2**40}])
def test_a_limit_is_a_whole_number_from_one(tmp_path: Path, limits: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=r"input should be (greater|less) than or equal"):
        build(tmp_path, limits=limits)


def test_files_beside_a_contract_are_read_by_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "contracts").mkdir()
    (tmp_path / "contracts" / "cases.yaml").write_text(TABLE)
    (tmp_path / "contracts" / "notes.bin").write_bytes(b"secret")
    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    assert build(tmp_path, contract="contracts").contract.tables[0].name == "cases"


def test_a_folder_that_cannot_be_searched_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "contracts/gone")

    monkeypatch.setattr("pathlib.Path.rglob", refuse)
    with pytest.raises(ConfigError, match="contract: contracts/gone: No such file or directory; name files"):
        build(tmp_path, contract=".")


def test_clear_keys_become_tokens_of_the_salt_or_of_this_process(tmp_path: Path) -> None:
    salted, bare = build(tmp_path, salt="ours"), build(tmp_path)
    assert salted.collect.id == Salt(b"ours").id
    assert salted.secret == b"ours"
    assert (bare.salt, bare.secret, bare.collect.is_joinable) == (None, b"", False)
    fallback = process_salt()
    assert load_setup(tmp_path / "dynascope.yaml", {}, fallback).collect is fallback
    assert load_setup(tmp_path / "dynascope.yaml", {}, fallback).contract_id == bare.contract_id


def test_a_canary_without_a_way_to_aws_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the canary needs a way to AWS"):
        build(tmp_path, canary={"indexes": [{"table": "orders", "index": "by-day"}]})


def test_a_canary_without_an_index_is_none(tmp_path: Path) -> None:
    collected = build(tmp_path, aws={}, canary={}).collected
    assert collected is not None
    assert collected.canary is None
