from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.contract import details as module
from analyzer.contract.details import Details, ItemDetail
from analyzer.contract.templates_samples import KeySamples
from analyzer.model.request import Part, RequestRecord
from analyzer.requests.lexicon import Lexicon

if TYPE_CHECKING:
    from analyzer.contract.seen import Identity

CASE = (("PK", "CASE#<n>"),)
LIST: Identity = (None, "Query", (CASE,), False, False)


def record(op: str, **fields: Any) -> RequestRecord:
    return RequestRecord(time="2026-06-01T10:00:00Z", op=op, v=1, table="cases", **fields)


def query(number: int, **fields: Any) -> RequestRecord:
    values = {":p": {"S": f"CASE#{number}"}}
    return record("Query", key_condition="PK = :p", values=values, **fields)


def put(number: int, **fields: Any) -> RequestRecord:
    return record("PutItem", key={"PK": {"S": f"CASE#{number}"}}, **fields)


def details(*records: RequestRecord) -> Details:
    samples = KeySamples()
    for one in records:
        samples.add(one)
    found = Details(Lexicon(samples.tables()))
    for one in records:
        found.add(one)
    return found


def test_limits_and_items_of_a_key_are_noted() -> None:
    listed = [query(n % 5, limit=20, scanned=n, count=1) for n in range(10)]
    found = details(*listed, query(1, count=30), query(1)).of_pattern("cases", [LIST])
    assert (found.records, found.limits, found.goes_on) == (12, {20: 10, None: 2}, False)
    assert found.items == {"CASE#0": 5, "CASE#1": 30, "CASE#2": 7, "CASE#3": 8, "CASE#4": 9}


@pytest.mark.parametrize("page", [{"more": True}, {"resumed": True}])
def test_a_page_among_others_is_noted(page: dict[str, bool]) -> None:
    listed = [query(n, scanned=3) for n in range(5)]
    assert details(*listed, query(7, scanned=9, **page)).of_pattern("cases", [LIST]).goes_on


def test_what_is_known_of_two_identities_goes_together() -> None:
    found = details(*(query(n, scanned=n, limit=n) for n in range(3)), *(put(n, item_bytes=300) for n in range(3)))
    whole = found.of_pattern("cases", [LIST, (None, "PutItem", (CASE,), False, False), ("tag", "x")])
    assert (whole.records, whole.item.usual_bytes) == (6, 300)


def test_index_keys_of_two_kinds_of_items_go_together() -> None:
    one = ItemDetail(index_keys={"G": Counter({CASE: 1})})
    one.take(ItemDetail(index_keys={"G": Counter({CASE: 2}), "H": Counter({CASE: 1})}))
    assert one.index_keys == {"G": {CASE: 3}, "H": {CASE: 1}}


def test_items_written_tell_their_size_and_their_index_keys() -> None:
    index = {"G": {"GPK": {"S": "OPEN"}, "GSK": {"S": "DUE#1"}}}
    part = Part("Put", key={"PK": {"S": "CASE#8"}}, item_bytes=1_260, index_keys=index)
    several = record("TransactWriteItems", parts=[part, Part("Delete", key={"PK": {"S": "CASE#9"}})])
    found = details(*(put(n, item_bytes=1_234, index_keys=index) for n in range(3)), several, put(4))
    item = found.of_item("cases", CASE)
    assert (item.usual_bytes, item.index_keys["G"].total()) == (1_200, 4)
    assert found.indexes("cases") == {"G": ("GPK", "GSK")}
    assert found.indexes("other") == {}
    assert found.of_item("cases", ()).usual_bytes is None


def test_scans_and_batches_are_patterns_too() -> None:
    batch = record("BatchGetItem", parts=[Part("Get", key={"PK": {"S": f"CASE#{n}"}}) for n in range(3)])
    found = details(record("Scan", limit=5), batch, batch)
    assert found.of_pattern("cases", [(None, "Scan", (), False, False)]).limits == {5: 1}
    assert found.of_pattern("cases", [(None, "BatchGetItem", (CASE,), False, False)]).records == 2


def test_all_that_grows_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MOST_SKELETONS", "_MOST_SHAPES", "_MOST_KEYS", "_MOST_LIMITS", "_MOST_SIZES"):
        monkeypatch.setattr(module, name, 2)
    listed = [query(n, limit=n, scanned=1) for n in range(1, 6)]
    puts = [record("PutItem", key={f"a{n}": {"S": "X"}}, item_bytes=1) for n in range(6)]
    found = details(*listed, *(put(1, item_bytes=9) for _ in range(5)), *puts)
    detail = found.of_pattern("cases", [LIST])
    assert (len(detail.limits), len(detail.items)) == (2, 2)
    assert len(found.of_item("cases", CASE).sizes) == 2
    assert (len(found._patterns), len(found._items), len(found._skeletons), len(found._identities)) == (2, 2, 2, 2)
