from __future__ import annotations

from analyzer.traffic.building import building_of
from tests.support.evidence import traffic


def test_a_table_is_not_built_as_an_index_is() -> None:
    assert building_of(traffic()) is None
