"""Everything that is generated, by file name."""

from __future__ import annotations

from pathlib import Path

from dashboards.budgets import BUDGETS
from dashboards.contract import CONTRACT
from dashboards.detectors import FINDINGS
from dashboards.overview import OVERVIEW
from dashboards.panels import Board, write_board
from dashboards.recording import RECORDING
from dashboards.rules import Alert, Places, write_rules
from dashboards.table import TABLE_BOARD
from dashboards.watcher import WATCHER_BOARD
from dashboards.watcher_alerts import WATCHER

__all__ = ["ALERTING", "BOARDS", "FOLDER", "alerts", "generate"]

FOLDER = Path(__file__).parent / "generated"

ALERTING = (*FINDINGS, *BUDGETS, *WATCHER)

BOARDS: dict[str, Board] = {
    "overview": OVERVIEW,
    "table": TABLE_BOARD,
    "contract": CONTRACT,
    "watcher": WATCHER_BOARD,
}


def alerts() -> list[Alert]:
    """Return every alert in its order."""
    return [rule for group in ALERTING for rule in group.rules if isinstance(rule, Alert)]


def generate(places: Places | None = None) -> dict[str, str]:
    """Return the text of every file."""
    places = places or Places()
    return {
        "alerts.yaml": write_rules(ALERTING, places),
        "recording.yaml": write_rules(RECORDING, places),
        **{f"{name}.json": write_board(board, places.daemon) for name, board in BOARDS.items()},
    }
