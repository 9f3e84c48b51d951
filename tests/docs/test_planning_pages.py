"""The examples of the pages on planning are what their makers make."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docs.planning import orders_day, sharded

if TYPE_CHECKING:
    import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "planning"


def test_the_day_and_the_contract_are_what_their_makers_make(request: pytest.FixtureRequest) -> None:
    day, changed = FOLDER / "orders-day.jsonl.gz", FOLDER / "sharded.yaml"
    if request.config.getoption("--rewrite-golden"):
        day.write_bytes(gzip.compress(orders_day().text().encode(), mtime=0))
        changed.write_text(sharded(), "utf-8")
    assert gzip.decompress(day.read_bytes()).decode() == orders_day().text()
    assert changed.read_text("utf-8") == sharded()
