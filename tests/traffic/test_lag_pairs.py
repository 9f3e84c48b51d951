from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.batch import LagProbe
from analyzer.model.calls import CallPart, ReturnedItem
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.shape import KeyPredicate
from analyzer.model.traffic import Place
from analyzer.traffic.lag_pairs import LagPair, lag_pairs, probe_pairs
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call

CASE, OTHER = item("CASE#7", "META"), item("CASE#8", "META")
OPEN, DONE = item("OPEN"), item("DONE")
PLACE = Place(partition_key=("status",))


def pairs(*calls: Call, skew: float = 0.0, place: Place = PLACE, **of_book: Any) -> list[tuple[float, bool]]:
    """Ages in seconds, and whether the read showed the write, in the order of age."""
    found = lag_pairs(traffic(GSI2, calls=book(*calls, **of_book), place=place), skew)
    return sorted((round(one.age, 6), one.is_fresh) for one in found)


def put(at: float = 0.0, entry: KeyName | None = OPEN, *, is_new: bool = True, **fields: Any) -> Call:
    of = shape("PutItem", "put", condition="attribute_not_exists(PK)" if is_new else None)
    keys = () if entry is None else (("GSI2", entry),)
    return call("PutItem", at, of, **{"key": CASE, "index_keys": keys} | fields)


def move(at: float, entry: KeyName | None = DONE, update: str = "SET status = :0", **fields: Any) -> Call:
    keys = () if entry is None else (("GSI2", entry),)
    of = shape("UpdateItem", "move", update=update)
    return call("UpdateItem", at, of, **{"key": CASE, "index_keys": keys} | fields)


def note(at: float) -> Call:
    return move(at, None, "SET note = :0")


def delete(at: float, **fields: Any) -> Call:
    return call("DeleteItem", at, shape("DeleteItem", "delete"), **{"key": CASE} | fields)


def read(at: float, *keys: KeyName, of: KeyName = OPEN, version: str | None = None, **fields: Any) -> Call:
    asked: dict[str, Any] = {"key": (KeyPredicate("status", "=", "<status>"),)} | fields.pop("asked", {})
    returned = tuple(ReturnedItem(key, version) for key in keys)
    given = {"target": GSI2, "key": of, "returned": returned, "count": len(returned)} | fields
    return call("Query", at, shape("Query", "ask", index="GSI2", **asked), **given)


def test_a_read_shows_a_new_item_or_not_yet() -> None:
    assert pairs(put(), read(0.1, OTHER), read(0.3, CASE, OTHER)) == [(0.1, False), (0.3, True)]


def test_ages_lie_between_what_was_sent_and_what_was_answered_and_clocks_may_differ() -> None:
    calls = (put(latency_ms=20.0), read(0.1, CASE, latency_ms=10.0))
    (one,) = lag_pairs(traffic(GSI2, calls=book(*calls), place=PLACE), 5.0)
    assert one == LagPair(CASE, 1, 0.075, 0.115, is_fresh=True, time=put().time)


def test_a_read_that_began_before_the_write_was_answered_says_nothing() -> None:
    assert pairs(put(latency_ms=200.0), read(0.1, CASE)) == []


def test_an_item_that_moved_is_under_its_new_key_and_no_more_under_its_old_one() -> None:
    calls = (put(), read(1.0, CASE), move(2.0), read(2.1, CASE), read(2.2, of=DONE), read(2.3, CASE, of=DONE))
    assert pairs(*calls) == [(0.1, False), (0.2, False), (0.3, True), (1.0, True)]


def test_an_item_that_was_deleted_is_gone() -> None:
    calls = (put(), read(1.0, CASE), delete(2.0), read(2.1, CASE), read(2.5))
    assert pairs(*calls) == [(0.1, False), (0.5, True), (1.0, True)]


def test_where_the_move_before_was_never_seen_nothing_is_known_of_the_key_that_it_left() -> None:
    assert pairs(put(), move(2.0), read(2.5), read(2.5, CASE, of=DONE)) == [(0.5, True)]


def test_an_item_that_comes_back_to_a_key_must_have_been_seen_to_leave_it() -> None:
    unseen = (put(), read(1.0, CASE), move(2.0), move(3.0, OPEN), read(3.1, CASE))
    assert pairs(*unseen) == [(1.0, True)]
    seen = (*unseen, read(2.5, CASE, of=DONE))
    assert pairs(*seen) == [(0.1, True), (0.5, True), (1.0, True)]


def test_the_next_write_ends_what_one_write_decides() -> None:
    calls = (put(), read(0.5), read(0.9, latency_ms=200.0), move(1.0), read(1.5))
    assert pairs(*calls) == [(0.5, False)]


@pytest.mark.parametrize(
    "answer",
    [
        read(0.5, more=True),
        read(0.5, resumed=True),
        read(0.5, asked={"filter": "due < :0"}),
        read(0.5, asked={"key": (KeyPredicate("due", "<", ""),)}),
        read(0.5, count=101),
        read(0.5, returned=None),
        read(0.5, error="InternalServerError"),
        read(0.5, key=None),
        read(0.5, of=DONE),
        call("Scan", 0.5, target=GSI2, returned=(), count=0),
    ],
    ids=["more", "resumed", "filter", "sort condition", "cut", "not told", "failed", "no key", "another key", "a scan"],
)
def test_a_read_that_does_not_have_to_show_the_item_is_no_pair(answer: Call) -> None:
    assert pairs(put(), answer) == []


def test_a_read_of_one_sort_key_is_of_the_items_under_it() -> None:
    entry = KeyName(KeyLevel.ITEM, "OPEN", "2026")
    asked = (read(0.5, of=entry), read(0.6, of=KeyName(KeyLevel.ITEM, "OPEN", "2027")))
    assert pairs(put(entry=entry), *asked) == [(0.5, False)]


@pytest.mark.parametrize(
    "first",
    [
        put(is_new=False),
        put(entry=None, is_new=False),
        put(key_whole=False),
        put(error="InternalServerError"),
        put(error="ConditionalCheckFailedException"),
        put(error="ProvisionedThroughputExceededException"),
    ],
    ids=["may have been there", "index keys not told", "writes are missing", "outcome unknown", "lost", "refused"],
)
def test_a_write_of_which_not_all_is_known_makes_no_pair(first: Call) -> None:
    assert pairs(first, read(0.5, CASE)) == []


def test_a_put_without_index_keys_leaves_the_index_where_others_tell_theirs() -> None:
    calls = (put(), read(1.0, CASE), put(2.0, entry=None, is_new=False), read(2.5, CASE), read(2.7))
    assert pairs(*calls) == [(0.5, False), (0.7, True), (1.0, True)]


def test_a_move_to_a_key_that_is_not_told_makes_all_that_follows_unknown_until_it_settled() -> None:
    lost = (put(), read(1.0, CASE), move(2.0, None), read(2.5), move(3.0, DONE), read(3.5, CASE, of=DONE))
    assert pairs(*lost) == [(1.0, True)]
    settled = (*lost, read(40.0, CASE, of=DONE), move(50.0, OPEN), read(50.5, CASE), read(50.6, of=DONE))
    assert pairs(*settled) == [(0.5, True), (0.6, True), (1.0, True)]


def test_an_update_of_other_attributes_is_seen_by_its_version() -> None:
    calls = (
        put(),
        read(1.0, CASE, version="1"),
        note(2.0),
        read(2.1, CASE, version="1"),
        read(2.4, CASE, version="2"),
        read(2.5, OTHER),
        note(3.0),
        read(3.2, CASE, version="3"),
    )
    assert pairs(*calls) == [(0.1, False), (0.2, True), (0.4, True), (1.0, True)]


def test_a_version_that_was_never_seen_may_be_of_the_write_before() -> None:
    calls = (put(), read(1.0, CASE, version="1"), note(2.0), note(3.0), read(3.2, CASE, version="2"))
    assert pairs(*calls) == [(1.0, True)]


def test_an_item_outside_the_index_has_no_versions_there() -> None:
    calls = (put(), read(1.0, CASE), delete(2.0), delete(3.0), read(3.5))
    assert pairs(*calls) == [(1.0, True)]


def test_batches_hide_writes_where_not_all_of_them_are_here() -> None:
    part = CallPart(position=0, operation="Put", table="cases", key=OTHER)
    batch = call("BatchWriteItem", 5.0, key=None, parts=(part,))
    assert pairs(put(), read(0.5, CASE), batch) == [(0.5, True)]
    assert pairs(put(), read(0.5, CASE), batch, share=0.5) == []
    assert pairs(put(), read(0.5, CASE), call("BatchWriteItem", 5.0, key=None, parts=(part,), sample_rate=0.1)) == []


def test_a_batch_that_writes_the_item_makes_it_unknown() -> None:
    part = CallPart(position=0, operation="Put", table="cases", key=CASE)
    batch = call("BatchWriteItem", 2.0, key=None, parts=(part,))
    assert pairs(put(), read(1.0, CASE), batch, read(2.5)) == [(1.0, True)]


def test_an_index_whose_key_is_not_known_is_moved_by_told_keys_alone() -> None:
    calls = (put(), read(1.0, CASE), move(2.0, None), read(2.5, CASE, version="1"))
    assert pairs(*calls, place=Place()) == [(1.0, True)]


def test_without_calls_or_reads_there_are_no_pairs() -> None:
    assert list(lag_pairs(traffic(GSI2))) == []
    assert pairs(put()) == []
    assert pairs(read(0.5, CASE), call("GetItem", 0.1)) == []


def test_the_canary_s_polls_are_pairs_of_its_own() -> None:
    probes = [LagProbe(GSI2, f"k{n}", 0, ((0.0, 10.0, False), (20.0, 30.0, True))) for n in (1, 2)]
    found = list(probe_pairs(probes))
    assert [(one.key.partition, one.write, one.low, one.high, one.is_fresh) for one in found] == [
        ("k1", -1, 0.0, 0.01, False),
        ("k1", -1, 0.02, 0.03, True),
        ("k2", -2, 0.0, 0.01, False),
        ("k2", -2, 0.02, 0.03, True),
    ]
