from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import AbsentError, MalformedError, UnsupportedError
from analyzer.model.table import IndexDescription, Replica, TableDescription, TimeToLive
from analyzer.model.target import Target
from collectors.canary.parse import (
    PREFIX,
    Left,
    Plan,
    Poll,
    ages_ms,
    describe_plan,
    is_shown,
    item_of,
    key_of,
    plan_of,
    probe_of,
    query_of,
    read_left,
)
from collectors.notes import encode_note

INDEX = Target("111122223333", "us-east-1", "orders", "by-status")
TYPES = {"PK": "S", "SK": "S", "status": "S", "placed": "N"}


def left(**fields: Any) -> Left:
    given: dict[str, Any] = {
        "account": "111122223333",
        "region": "us-east-1",
        "table": "orders",
        "index": "by-status",
        "called_as": None,
        "run": "abc",
        "table_key": ("PK", "SK"),
        "index_key": ("status", "placed"),
        "types": TYPES,
    }
    return Left(**given | fields)


def plan(ttl: TimeToLive | None = None, status: str = "ACTIVE", kind: str = "gsi", **fields: Any) -> Plan:
    index = IndexDescription(
        name="by-status", kind=kind, partition_key=("status",), sort_key=("placed",), status=status
    )
    given: dict[str, Any] = {"partition_key": ("PK",), "sort_key": ("SK",), "attribute_types": TYPES}
    table = TableDescription(name="orders", **{"indexes": (index,)} | given | fields)
    return plan_of(INDEX, None, table, ttl or TimeToLive("DISABLED"), 60, 1000)


def test_a_plan_is_told_in_lines() -> None:
    told = describe_plan(plan())
    assert told[0].startswith("orders/by-status in us-east-1: 60 items, one after another, are written")
    assert PREFIX in told[1]
    assert told[2].startswith("it costs 0.0002 dollars at worst: 240 write and 480 read units (on demand, list price")
    assert told[3].endswith("the table has no time to live")
    assert len(told) == 4


def test_of_a_provisioned_table_it_takes_capacity_and_no_money() -> None:
    told = describe_plan(plan(billing_mode="PROVISIONED"))
    assert told[2].startswith(
        "the table is provisioned: 240 write and 480 read units at worst come out of its capacity and cost nothing "
        "more; 0.0002 dollars bound them as if on demand, list price"
    )


def test_what_others_would_see_is_a_warning() -> None:
    told = describe_plan(plan(TimeToLive("ENABLED", "ttl"), stream="NEW_IMAGE", replicas=(Replica("eu-west-1"),)))
    assert told[3].endswith("and expires by ttl")
    assert [line for line in told if line.startswith("CAREFUL")] == [
        "CAREFUL: the table has a stream: its consumers see these items",
        "CAREFUL: they are replicated to eu-west-1",
    ]


def test_an_item_is_paid_for_in_every_index_that_it_reaches() -> None:
    beside = (
        IndexDescription(name="by-status", kind="gsi", partition_key=("status",)),
        IndexDescription(name="inverted", kind="gsi", partition_key=("SK",), sort_key=("PK",)),
        IndexDescription(name="by-shop", kind="gsi", partition_key=("shop",)),
    )
    assert plan(indexes=beside).writes == 6.0


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"status": "CREATING"}, UnsupportedError),
        ({"kind": "lsi"}, AbsentError),
        ({"attribute_types": TYPES | {"PK": "N"}}, UnsupportedError),
        ({"attribute_types": TYPES | {"status": "B"}}, UnsupportedError),
    ],
)
def test_what_has_no_key_to_reserve_is_refused(fields: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        plan(**fields)


def test_an_item_has_its_own_key_and_one_of_sixteen_in_the_index() -> None:
    item = item_of(left(), 17, "ttl", 99)
    assert item == {
        "PK": {"S": f"{PREFIX}#abc#000017"},
        "SK": {"S": f"{PREFIX}#abc#000017"},
        "status": {"S": f"{PREFIX}#01"},
        "placed": {"N": "17"},
        "dynascope_canary": {"S": "abc"},
        "ttl": {"N": "99"},
    }
    assert key_of(left(), 17) == {"PK": item["PK"], "SK": item["SK"]}
    assert "ttl" not in item_of(left(), 17, None, 99)


def test_an_index_that_shares_the_table_s_partition_key_is_spread_by_the_items_themselves() -> None:
    shared = left(index_key=("PK", "placed"))
    assert query_of(shared, 3)["ExpressionAttributeValues"][":k0"] == {"S": f"{PREFIX}#abc#000003"}


def test_a_binary_sort_key_is_bytes() -> None:
    assert key_of(left(types=TYPES | {"SK": "B"}), 0)["SK"] == {"B": f"{PREFIX}#abc#000000".encode()}


def test_an_item_is_shown_by_its_key_in_the_table() -> None:
    item = item_of(left(), 1, None, 0)
    assert is_shown(left(), 1, [item_of(left(), 2, None, 0), item])
    assert not is_shown(left(), 1, [item_of(left(), 2, None, 0), {"PK": item["PK"]}])


@given(st.floats(0, 1))
def test_ages_rise_from_ten_milliseconds_to_half_a_minute(phase: float) -> None:
    ages = ages_ms(phase)
    assert 10 <= ages[0] <= 20
    assert ages[-1] == 30_000
    assert list(ages) == sorted(set(ages))


def polls(shown: str) -> list[Poll]:
    """A poll for each letter: `+` showed the write, `-` did not; `c` confirmed it, `x` should have."""
    return [Poll(104.0 + 10 * n, 106.0 + 10 * n, one in "+c", one in "cx") for n, one in enumerate(shown)]


def test_a_poll_bounds_the_age_of_the_write() -> None:
    probe = probe_of(left(), 1, 100, (100.0, 104.0), polls("-"), (10.0, 1000.0))
    assert (probe.polls, probe.key, probe.target, probe.time) == (((0.0, 6.0, False),), f"{PREFIX}#01", INDEX, 100)


def test_once_confirmed_later_ages_count_as_shown() -> None:
    probe = probe_of(left(), 1, 100, (100.0, 104.0), polls("-+cc"), (10.0, 20.0, 1000.0))
    assert probe.polls == ((0.0, 6.0, False), (10.0, 16.0, True), (20.0, 20.0, True), (1000.0, 1000.0, True))


@pytest.mark.parametrize("shown", ["", "+c", "+cx"])
def test_what_was_not_confirmed_says_nothing_of_later_ages(shown: str) -> None:
    probe = probe_of(left(), 1, 100, (100.0, 104.0), polls(shown), (1000.0,))
    assert len(probe.polls) == len(shown.replace("c", ""))


def test_a_note_is_read_back_as_it_was_written() -> None:
    assert read_left(encode_note(left(pending=7)), "x.json") == left(pending=7)
    assert left().target == INDEX


@pytest.mark.parametrize("content", [b"{}", b"not json", msgspec.json.encode(left(v=2))])
def test_a_note_that_cannot_be_read_is_said_to_be_one(content: bytes) -> None:
    with pytest.raises(MalformedError) as caught:
        read_left(content, "x.json")
    assert "by hand" in caught.value.hint
