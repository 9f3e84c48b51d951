from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.correlator import attributor
from analyzer.correlator.attributor import Attributor
from analyzer.model.shape import AttributionKind
from tests.support.counting import cell

if TYPE_CHECKING:
    import pytest


def test_the_same_cell_is_attributed_once() -> None:
    attribute = Attributor(EMPTY_CONTRACT)
    first = attribute(cell())
    assert first.kind is AttributionKind.UNDECLARED
    assert attribute(cell()) is first


def test_callers_are_attributed_apart() -> None:
    attribute = Attributor(EMPTY_CONTRACT)
    assert attribute(cell(caller="a")) is not attribute(cell(caller="b"))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributor, "_MOST", 1)
    attribute = Attributor(EMPTY_CONTRACT)
    first = attribute(cell(caller="a"))
    attribute(cell(caller="b"))
    assert attribute(cell(caller="a")) is not first
