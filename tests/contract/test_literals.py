from __future__ import annotations

from analyzer.contract.literals import Literals
from analyzer.model.request import Part, RequestRecord


def record(**fields: object) -> RequestRecord:
    return RequestRecord(time="2026-06-01T10:00:00Z", op="GetItem", v=1, table="cases", **fields)  # type: ignore[arg-type]


def literals(*records: RequestRecord) -> dict[str, frozenset[str]]:
    found = Literals()
    for one in records:
        found.add(one)
    return {keys.name: keys.literals for keys in found.tables()}


def key(text: str) -> dict[str, dict[str, str]]:
    return {"PK": {"S": text}}


def test_few_words_at_one_place_of_a_key_are_literals() -> None:
    records = [record(key=key(f"CASE#{n}a#STATUS#ACTIVE")) for n in range(100)]
    assert literals(*records) == {"cases": {"CASE", "STATUS", "ACTIVE"}}


def test_a_word_that_comes_once_is_none() -> None:
    assert literals(record(key=key("CASE#anna")), record(key=key("CASE#7"))) == {"cases": {"CASE"}}


def test_many_words_at_one_place_are_names_not_literals() -> None:
    names = [f"{a}{b}" for a in "abcdefgh" for b in "klmnop"]
    assert literals(*(record(key=key(f"USER#{name}")) for name in names * 3)) == {"cases": {"USER"}}


def test_tokens_and_placeholders_are_no_literals() -> None:
    tokens = [record(key=key("CASE#~kabcdefgh")), record(key=key("CASE#<id>"))] * 3
    assert literals(*tokens) == {"cases": {"CASE"}}


def test_values_index_keys_and_parts_are_looked_at_too() -> None:
    one = record(
        values={":s": {"S": "DUE#1"}, ":b": {"BOOL": True}},
        index_keys={"GSI1": {"GSI1PK": {"S": "OPEN"}}},
        parts=[Part("Put", table="outbox", key=key("BOX#1")), Part("Get", key=key("NOTE#1")), Part("Get")],
    )
    assert literals(one, one) == {"cases": {"DUE", "OPEN", "NOTE"}, "outbox": {"BOX"}}


def test_a_record_without_table_tells_nothing() -> None:
    assert literals(RequestRecord(time="", op="Query", v=1, key=key("A"), values={":a": {"S": "A"}})) == {}


def test_places_and_words_are_bounded() -> None:
    wide = [record(key={f"a{n}": {"S": "X"}}) for n in range(2100)]
    many = [record(key=key("".join(chr(97 + int(d)) for d in f"{n:04}"))) for n in range(1100)]
    found = Literals()
    for one in [*many, *wide]:
        found.add(one)
    assert len(found._words) == 2000
    assert max(map(len, found._words.values())) == 1000


def test_a_table_that_is_given_by_its_arn_is_that_table() -> None:
    arn = "arn:aws:dynamodb:us-east-1:111122223333:table/cases"
    one = record(key=key("CASE#1"))
    other = RequestRecord(time=one.time, op="GetItem", v=1, table=arn, key=key("CASE#2"))
    assert literals(one, other) == {"cases": {"CASE"}}
