from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

from analyzer.contract.load import contract_from
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.shape import Attribution, AttributionKind, KeyPredicate, PartShape, Shape
from analyzer.model.target import Target
from analyzer.model.traffic import Latency, PatternTraffic, Place, Traffic
from analyzer.model.window import Window
from analyzer.reports.bill import bill_of
from analyzer.reports.frame import Frame
from analyzer.reports.undeclared import undeclared_of

if TYPE_CHECKING:
    from analyzer.reports.week_values import Undeclared

WEEK = Window(0, 604_800_000)
HOUR = 3_600_000
CONTRACT = contract_from({"version": 1, "tables": [{"name": "t", "partition_key": "PK", "patterns": []}]}, "t.yaml")
EMPTY = contract_from({"version": 1, "tables": []}, "t.yaml")


def row(operation: str, fingerprint: str = "f", **fields: Any) -> PatternTraffic:
    shape = {name: fields.pop(name) for name in tuple(fields) if name in Shape.__struct_fields__}
    made = Shape(**({"fingerprint": fingerprint, "operation": operation, "table": "t"} | shape))
    names = ("failed", "throttled", "throttled_failed", "throttled_tries", "write_units", "scanned", "returned")
    values: dict[str, Any] = dict.fromkeys((*names, "wasted_units"), ZERO)
    values |= {"requests": Estimate.exact(7200.0), "read_units": Estimate.exact(3600.0), "units_known": 1.0}
    values |= {"counts_known": 1.0, "caller": "c", "attempts_a_request": 1.0, "observed": 100}
    attribution = Attribution(AttributionKind.UNDECLARED)
    return PatternTraffic(shape=made, attribution=attribution, latency=Latency((), 0.0, 0), **(values | fields))


def told(*rows: PatternTraffic, hours: int = 2, peak: float = 60.0, contract: Any = CONTRACT) -> tuple[Undeclared, ...]:
    listed = [
        {
            "start": n * HOUR,
            "table_name": "t",
            "fingerprint": one.shape.fingerprint,
            "requests": 3600.0,
            "peak_requests": peak,
        }
        for one in rows
        for n in range(hours)
    ]
    columns = ["start", "table_name", "fingerprint", "requests", "peak_requests"]
    frame = pd.DataFrame(listed, columns=columns).assign(secondary=False)
    nothing = pd.DataFrame()
    week = Frame(window=WEEK, hours=frame, latency=np.zeros((0, 1)), covered=(WEEK,), keys=nothing, pairs=nothing)
    place = Place(partition_key=("PK",))
    traffic = Traffic(target=Target(None, None, "t"), window=WEEK, sights=frozenset(), place=place, rows=rows)
    return undeclared_of(week, (traffic,), contract, bill_of((traffic,), WEEK.seconds))


def loaded(one: Undeclared) -> dict[str, Any]:
    """The declaration, which loads within a contract."""
    patterns = YAML(typ="safe").load(one.yaml)
    indexes = [{"name": "G", "partition_key": "PK"}]
    table = {"name": one.yaml_table, "partition_key": "PK", "indexes": indexes, "patterns": patterns}
    contract_from({"version": 1, "tables": [table]}, "t.yaml")
    return dict(patterns[0])


USER = KeyPredicate("PK", "=", "USER#<id>")
ORDERS = KeyPredicate("SK", "begins_with", "ORDER#")


def test_a_query_is_declared_as_it_is_asked() -> None:
    (one,) = told(row("Query", key=(USER, ORDERS), index="G", forward=False, consistent=True))
    assert loaded(one) == {
        "id": "list-user-order-g",
        "operation": "Query",
        "index": "G",
        "key": {"PK": "USER#<id>", "SK": "begins_with ORDER#"},
        "order": "descending",
        "consistency": "strong",
        "rate": {"p95": 1, "peak": 1},
        "callers": ["c"],
    }
    assert (one.yaml_table, one.requests, one.is_ad_hoc) == ("t", 7200.0, False)


def test_shapes_that_are_one_pattern_are_declared_once() -> None:
    key = (KeyPredicate("PK", "=", "USER#<id>"),)
    (one,) = told(row("GetItem", "a", key=key), row("GetItem", "b", key=key, projection=("n",), caller="d"))
    assert one.requests == 14_400
    assert one.callers == ("c", "d")
    assert loaded(one)["rate"] == {"p95": 2, "peak": 2}


def test_the_rate_of_what_comes_in_bursts_is_that_of_its_fullest_minute() -> None:
    (one,) = told(row("Query", key=(USER,)), peak=3000.0)
    assert loaded(one)["rate"] == {"p95": 50, "peak": 50}


def test_what_the_log_does_not_tell_of_a_key_is_marked() -> None:
    (one,) = told(row("PutItem", writes=True))
    assert loaded(one)["key"] == {"PK": "<PK>"}
    assert one.doubts == ("call it what it is for", "the log does not tell it")
    assert "# unsure: the log does not tell it" in one.yaml


def test_a_scan_is_asked_for_its_reason() -> None:
    (one,) = told(row("Scan", scans=True, caller=None, filter_attributes=("a",)))
    declared = loaded(one)
    assert ("key" in declared, "callers" in declared) == (False, False)
    assert any("purpose" in doubt for doubt in one.doubts)


def test_a_batch_declares_the_key_of_each_kind_of_part() -> None:
    parts = (PartShape("Put", (USER,)), PartShape("Put", (KeyPredicate("PK", "=", "ORDER#<id>"),)))
    (one,) = told(row("BatchWriteItem", parts=parts, writes=True))
    assert loaded(one)["key"] == [{"PK": "ORDER#<id>"}, {"PK": "USER#<id>"}]
    assert loaded(one)["id"] == "batch-write-item-order"


def test_two_patterns_of_one_name_are_numbered() -> None:
    other = (USER, KeyPredicate("SK", "=", "<id>"))
    found = told(row("GetItem", "a", key=(USER,)), row("GetItem", "b", key=other), contract=EMPTY)
    assert sorted(loaded(one)["id"] for one in found) == ["get-user", "get-user-2"]


@pytest.mark.parametrize(
    ("requests", "hours", "units", "is_ad_hoc"),
    [(19.0, 2, 1.0, True), (7200.0, 1, 1.0, True), (7200.0, 1, 900.0, False), (20.0, 2, 1.0, False)],
)
def test_a_few_calls_are_ad_hoc_unless_they_take_much(
    *, requests: float, hours: int, units: float, is_ad_hoc: bool
) -> None:
    asked = row("GetItem", "a", key=(USER,), requests=Estimate.exact(requests), read_units=Estimate.exact(units))
    rest = row("GetItem", "b", key=(ORDERS,))
    found = {one.fingerprint: one.is_ad_hoc for one in told(asked, rest, hours=hours)}
    assert found["a"] is is_ad_hoc


def test_what_was_not_parsed_or_tells_no_units_is_not_priced() -> None:
    assert told(row("GetItem", parsed=False)) == ()
    (one,) = told(row("GetItem", key=(USER,), units_known=0.0), hours=0)
    assert one.dollars is None
    assert "rate" not in loaded(one)


def test_a_caller_whose_name_nobody_can_declare_is_left_out_of_the_declaration() -> None:
    (one,) = told(row("GetItem", caller="c" * 300), row("GetItem", caller="web"))
    assert loaded(one)["callers"] == ["web"]
    (one,) = told(row("GetItem", caller="c" * 300))
    assert "callers" not in loaded(one)
