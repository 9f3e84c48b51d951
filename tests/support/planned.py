"""Observed traffic for tests of planning: a recording of our own making, read as the planning commands read it.

made = Recorded(minutes=60).table("PK", "SK")
plan = planned(made, tmp_path, factor=5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.cli.planned import Bench, observed_recording
from analyzer.config import Settings
from analyzer.contract.load import contract_from
from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.planning.capacity import plan_capacity
from analyzer.recording import read_recording

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.contract.model import Contract
    from analyzer.planning.capacity import Capacity
    from analyzer.planning.capacity_evidence import Observed
    from tests.support.recordings import Recorded

__all__ = ["contract_of", "observed", "planned"]


def contract_of(*patterns: dict[str, Any], name: str = "orders", **fields: Any) -> Contract:
    """Declare one table with these patterns; a pattern without an id gets the next of p0, p1, …"""
    listed = [{"id": f"p{number}"} | pattern for number, pattern in enumerate(patterns)]
    table = {"name": name, "partition_key": "PK", "sort_key": "SK", "patterns": listed} | fields
    return contract_from({"version": 1, "tables": [table]})


def observed(made: Recorded, tmp_path: Path, contract: Contract | None = None) -> tuple[Observed, Contract]:
    """Read a recording with its own contract, or with the one that is given."""
    path = tmp_path / "made.jsonl"
    path.write_text(made.text(), "utf-8")
    document = read_recording(path).contract
    if contract is None:
        contract = EMPTY_CONTRACT if document is None else contract_from(document)
    return observed_recording(Bench(Settings.model_validate({}), contract), path)[0], contract


def planned(made: Recorded, tmp_path: Path, contract: Contract | None = None, **asked: Any) -> Capacity:
    """Plan the capacity of a recording's table."""
    seen, read = observed(made, tmp_path, contract)
    return plan_capacity(seen, read.table(seen.traffics[0].target), **asked)
