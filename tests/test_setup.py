from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from analyzer.config import load_settings
from analyzer.detectors import DETECTORS
from analyzer.errors import ConfigError, ContractError
from analyzer.setup import Setup, build_setup

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


@pytest.mark.parametrize("settings", [{"detectors": {"hot-keys": {}}}, {"limits": {"cellss": 1}}])
def test_a_threshold_of_another_name_is_a_fault(tmp_path: Path, settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="did you mean"):
        build(tmp_path, **settings)
