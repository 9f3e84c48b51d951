from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.contract.load import contract_from
from analyzer.contract.templates_samples import KeySamples
from analyzer.model.request import Part, RequestRecord
from analyzer.model.table import IndexDescription, TableDescription

if TYPE_CHECKING:
    import pytest

    from analyzer.contract.model import Contract

ARN = "arn:aws:dynamodb:us-east-1:111122223333:table/cases"


def record(op: str = "GetItem", table: str | None = "cases", **fields: Any) -> RequestRecord:
    return RequestRecord(time="2026-06-01T10:00:00Z", op=op, v=1, table=table, **fields)


def key(text: str, name: str = "PK") -> dict[str, dict[str, str]]:
    return {name: {"S": text}}


def query(condition: str, **values: str) -> RequestRecord:
    listed = {f":{name}": {"S": text} for name, text in values.items()}
    return record("Query", key_condition=condition, values=listed)


def learnt(*records: RequestRecord, known: Contract | None = None) -> dict[str, dict[str, list[str]]]:
    samples = KeySamples() if known is None else KeySamples(known)
    for one in records:
        samples.add(one)
    return {k.name: {name: [t.text for t in found] for name, found in k.templates.items()} for k in samples.tables()}


def test_each_attribute_has_templates_of_its_own() -> None:
    records = [record(key=key(f"CASE#{n}a") | key("META", "SK")) for n in range(9)]
    assert learnt(*records) == {"cases": {"PK": ["CASE#<id>"], "SK": ["META"]}}


def test_nothing_is_learnt_from_keys_longer_than_dynamodb_takes() -> None:
    assert learnt(*(record(key=key("A#" + "x#" * 2_000)) for _ in range(9))) == {}
    assert learnt(*(record(key=key("A#" + "x" * 2_046)) for _ in range(9))) == {"cases": {"PK": ["A#<id>"]}}


def test_conditions_keep_their_operator() -> None:
    records = [query("PK = :p AND SK < :s", p=f"A#{n}", s=f"DUE#2026-06-{n}") for n in range(10, 20)]
    records += [query("PK = :p AND begins_with(SK, :s)", p=f"A#{n}", s="DUE#") for n in range(10, 20)]
    assert learnt(*records) == {"cases": {"PK": ["A#<n>"], "SK": ["< DUE#<date>", "begins_with DUE#"]}}


def test_both_ends_of_between_stand_in_one_template() -> None:
    records = [query("PK = :p AND SK BETWEEN :a AND :b", p="A#1", a=f"D#{n}", b=f"D#{n + 9}") for n in range(10, 40)]
    half = query("PK = :p AND SK BETWEEN :a AND :b", p="A#1", a="D#1")
    found = learnt(*records, half)["cases"]
    assert found["SK"] == ["between D#<n> and D#<n>"]


def test_what_cannot_be_written_as_a_template_is_left_out() -> None:
    odd = [query("PK = :p AND SK BETWEEN :a AND :b", p="A#1", a=f"<{n}", b="z and <") for n in range(5)]
    assert learnt(*(record(key=key("<x")) for _ in range(5)), *odd)["cases"]["SK"] == ["between <id> and <id>"]


def test_index_keys_and_parts_are_looked_at_too() -> None:
    one = record(
        "TransactWriteItems",
        table=ARN,
        index_keys={"G": key("OPEN", "GPK")},
        parts=[
            Part("Put", table="outbox", key=key("BOX#1"), index_keys={"G": key("AT#2", "GPK")}),
            Part("Get", key=key("NOTE#1")),
            Part("Get"),
        ],
    )
    assert learnt(*[one] * 5) == {
        "cases": {"GPK": ["OPEN"], "PK": ["NOTE#<n>"]},
        "outbox": {"GPK": ["AT#<n>"], "PK": ["BOX#<n>"]},
    }


def test_a_record_without_table_or_key_tells_nothing() -> None:
    assert learnt(record(), RequestRecord(time="", op="PutItem", v=1, index_keys={"G": key("A")})) == {}
    assert learnt(record("Query", key_condition="PK = :p", values={":x": {"S": "A"}})) == {}


def test_what_a_contract_declares_is_left_to_it() -> None:
    table = {"name": "ca*", "partition_key": "PK", "sort_key": "SK"}
    entity = {"name": "Case", "PK": "CASE#<caseId>", "SK": "between A#<a> and A#<b>"}
    known = contract_from({"tables": [table | {"entities": [entity]}]})
    records = [record(key=key(f"CASE#{n}")) for n in range(9)] + [record(key=key(f"USER#{n}")) for n in range(9)]
    records += [query("PK = :p AND SK BETWEEN :a AND :b", p="CASE#1", a="A#1", b="A#2")]
    found = learnt(*records, known=known)
    assert found["cases"] == {"PK": ["CASE#<caseId>", "USER#<n>"], "SK": ["between A#<a> and A#<b>"]}
    assert "ca*" in found


def test_described_keys_are_told_to_the_lexicon() -> None:
    index = IndexDescription(name="G", kind="gsi", partition_key=("x",))
    described = {"cases": TableDescription(name="cases", partition_key=("PK",), sort_key=("SK",), indexes=(index,))}
    samples = KeySamples(described=described)
    samples.add(record(key=key("A#1")))
    (keys,) = samples.tables()
    assert (keys.partition_key, keys.sort_key, keys.indexes) == (("PK",), ("SK",), {"G": (("x",), ())})


def test_doubts_are_kept_by_table_and_template() -> None:
    samples = KeySamples()
    for keys in (None, "reveal") * 6:
        samples.add(record(key=key("CASE#7x"), keys=keys))
    samples.tables()
    assert samples.unsure == {("cases", "CASE#<id>"): "it was seen with one value alone, and may be a constant"}


def test_tokens_of_a_sampler_say_what_is_literal() -> None:
    assert learnt(record(key=key("CASE#~kabcdefgh"), keys="token")) == {"cases": {"PK": ["CASE#<id>"]}}


def test_pairs_and_forms_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.contract.templates_samples._MOST_VALUES", 2)
    monkeypatch.setattr("analyzer.contract.templates_samples._MOST_SKELETONS", 1)
    samples = KeySamples()
    for n in range(5):
        samples.add(query("PK = :p AND SK BETWEEN :a AND :b", p="A#1", a=f"D#{n}", b="E"))
        samples.add(record(key=key("X", f"a{n}")))
    assert (len(samples._pairs["cases", "SK", "between"]), len(samples._skeletons)) == (2, 1)


def test_no_value_at_all_is_no_template() -> None:
    listed = [query("PK = :p AND SK BETWEEN :a AND :b", p="", a="", b="A") for _ in range(20)]
    assert learnt(*listed) == {"cases": {"PK": [], "SK": []}}


def test_places_and_values_are_bounded() -> None:
    samples = KeySamples()
    for n in range(2_010):
        samples.add(record(key=key("X", f"a{n}")))
    assert len(samples._values) == 2_000
    values = KeySamples()
    for n in range(5_010):
        values.add(record(key=key(f"K#{n}")))
    assert len(values._values["cases", "PK", "="]) == 5_000
