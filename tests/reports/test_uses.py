from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analyzer.contract.load import contract_from
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.shape import Attribution, AttributionKind, PartShape, Shape
from analyzer.model.table import IndexDescription, Provisioning, TableDescription
from analyzer.model.target import Target
from analyzer.model.traffic import Capacity, Latency, PatternTraffic, Place, Traffic
from analyzer.model.window import Window
from analyzer.reports.bill import Bill, bill_of
from analyzer.reports.frame import Frame
from analyzer.reports.uses import indexes_of, transactions_of, waste_of

WEEK = Window(0, 604_800_000)
T = Target(None, None, "t")
MILLION_A_WEEK = 604_800.0  # units a second in a week of one a second
NOTHING = contract_from({"version": 1, "tables": []}, "t.yaml")


def row(operation: str, **fields: Any) -> PatternTraffic:
    shape = {name: fields.pop(name) for name in tuple(fields) if name in Shape.__struct_fields__}
    made = Shape(fingerprint="f", operation=operation, table="t", **shape)
    names = ("failed", "throttled", "throttled_failed", "throttled_tries", "read_units", "write_units", "scanned")
    values: dict[str, Any] = dict.fromkeys((*names, "returned", "wasted_units"), ZERO)
    values |= {"requests": Estimate.exact(100.0), "units_known": 1.0, "counts_known": 1.0, "caller": "c"}
    values |= {"attempts_a_request": 1.0, "observed": 100, "latency": Latency((), 0.0, 0)}
    attribution = Attribution(AttributionKind.DECLARED, fields.pop("pattern", "p"))
    return PatternTraffic(shape=made, attribution=attribution, **(values | fields))


def traffic(*rows: PatternTraffic, index: str | None = None, **fields: Any) -> Traffic:
    place = Place(**fields)
    return Traffic(target=T.at(index), window=WEEK, sights=frozenset(), place=place, rows=rows)


def bill(*traffics: Traffic) -> Bill:
    return bill_of(traffics, WEEK.seconds)


def frame(*read: str) -> Frame:
    """A week in which some indexes were read."""
    rows = [{"table_name": "t", "index_name": name, "secondary": False, "requests": 1.0} for name in read]
    hours = pd.DataFrame(rows, columns=["table_name", "index_name", "secondary", "requests"])
    nothing = pd.DataFrame()
    return Frame(window=WEEK, hours=hours, latency=np.zeros((0, 1)), covered=(WEEK,), keys=nothing, pairs=nothing)


def table(*indexes: IndexDescription) -> TableDescription:
    return TableDescription(name="t", indexes=indexes)


def test_what_a_filter_throws_away_is_told_in_dollars() -> None:
    one = traffic(
        row(
            "Query",
            filter_attributes=("a", "b"),
            read_units=Estimate.exact(2 * MILLION_A_WEEK),
            wasted_units=Estimate.exact(MILLION_A_WEEK),
        ),
        row("GetItem"),
    )
    (waste,) = waste_of((one,), bill(one)) or ()
    assert (waste.pattern, waste.attributes, waste.share) == ("p", ("a", "b"), 0.5)
    assert waste.dollars == pytest.approx(730 * 3600 / 1e6 * 0.125, abs=0.01)


def test_waste_is_not_observable_where_nothing_is_counted_and_none_where_nothing_filters() -> None:
    uncounted = traffic(row("Query", filter="a > :v0", counts_known=0.0))
    assert waste_of((uncounted,), bill(uncounted)) is None
    plain = traffic(row("Query"))
    assert waste_of((plain,), bill(plain)) == ()


def test_an_index_costs_its_writes_and_its_storage() -> None:
    index = IndexDescription(name="G", kind="gsi", size_bytes=4 << 30)
    written = traffic(row("PutItem", secondary=True, write_units=Estimate.exact(MILLION_A_WEEK)), index="G")
    one = traffic(table=table(index))
    (use,) = (
        indexes_of(
            (one, written),
            NOTHING,
            (
                frame(),
                frame(),
                frame(),
            ),
            bill(one, written),
        )
        or ()
    )
    assert use.unit_dollars == pytest.approx(730 * 3600 / 1e6 * 0.625, abs=0.01)
    assert use.storage_dollars == pytest.approx(1.0)
    assert (use.reads, use.patterns, use.days_unread, use.is_unused) == (0.0, (), 21.0, True)


def test_an_index_that_was_read_within_two_weeks_is_not_unused() -> None:
    one = traffic(table=table(IndexDescription(name="G", kind="gsi"), IndexDescription(name="L", kind="lsi")))
    uses = (
        indexes_of(
            (one,),
            NOTHING,
            (
                frame(),
                frame("G"),
                frame(),
            ),
            bill(one),
        )
        or ()
    )
    assert {use.index: (use.days_unread, use.is_unused) for use in uses} == {"G": (7.0, False), "L": (21.0, False)}


def test_a_provisioned_index_costs_its_capacity_used_or_not() -> None:
    known = IndexDescription(name="G", kind="gsi", provisioning=Provisioning(read_units=10.0, write_units=10.0))
    one = traffic(table=table(known, IndexDescription(name="H", kind="gsi")), capacity=Capacity("PROVISIONED"))
    uses = indexes_of((one,), NOTHING, (frame("G", "H"),), bill(one)) or ()
    costs = {use.index: use.unit_dollars for use in uses}
    assert costs["G"] == pytest.approx(730 * (10 * 0.00013 + 10 * 0.00065), abs=0.01)
    assert costs["H"] is None


def test_reads_of_an_index_name_their_patterns() -> None:
    read = traffic(row("Query"), row("Query", pattern=None), index="G")
    one = traffic(table=table())
    (use,) = indexes_of((one, read), NOTHING, (frame("G"),), bill(one, read)) or ()
    assert (use.reads, use.patterns, use.days_unread) == (200.0, ("p", "f"), None)


def test_without_a_description_nobody_knows_which_indexes_there_are() -> None:
    one = traffic(row("GetItem"))
    assert indexes_of((one,), NOTHING, (frame(),), bill(one)) is None


def test_a_transaction_has_as_many_items_as_its_kinds_and_as_its_units_allow() -> None:
    parts = (PartShape("Put"), PartShape("Update"))
    one = traffic(
        row("TransactWriteItems", writes=True, parts=parts, write_units=Estimate.exact(1200.0)),
        row("PutItem", writes=True, requests=Estimate.exact(300.0)),
    )
    pattern = {"id": "p", "operation": "TransactWriteItems", "transaction": {"items": 3, "because": "together"}}
    document = {"version": 1, "tables": [{"name": "t", "partition_key": "PK", "patterns": [pattern]}]}
    (use,) = transactions_of((one,), contract_from(document, "t.yaml"), bill(one))
    assert (use.caller, use.operation, use.share) == ("c", "TransactWriteItems", 0.25)
    assert use.items_each == Estimate(4.0, 2.0, 6.0)
    assert (use.declared_items, use.because) == (3, "together")
    assert use.dollars_more is not None


def test_of_transactions_without_units_only_the_share_is_known() -> None:
    one = traffic(row("TransactGetItems", units_known=0.0, pattern=None))
    (use,) = transactions_of((one,), NOTHING, bill(one))
    assert (use.share, use.items_each, use.dollars_more, use.declared_items) == (1.0, None, None, None)
    refused = traffic(row("TransactGetItems", requests=ZERO), row("GetItem"))
    assert transactions_of((refused,), NOTHING, bill(refused))[0].items_each is None


def test_a_bill_says_at_which_prices_it_is_reckoned() -> None:
    assert bill().basis == "on demand assumed, list price of us-east-1, 2026-08-15"
    assert bill(traffic(capacity=Capacity("PROVISIONED"))).basis.startswith("provisioned, ")
