from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.item_too_large import ItemTooLarge
from analyzer.model.calls import CallPart
from analyzer.model.finding import Finding, Severity
from analyzer.model.table import TableDescription
from analyzer.model.traffic import Place, Traffic
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, refused, row, shape, traffic

KEYED = Place(partition_key=("PK",), sort_key=("SK",))
SAID = "Item size has exceeded the maximum allowed size"
BIG = item("REPORT#7", "META")


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in ItemTooLarge().detect(evidence) if isinstance(one, Finding)]


def seen(*calls: Any, **fields: Any) -> Traffic:
    given: dict[str, Any] = {"rows": (), "place": KEYED, "calls": book(*calls)}
    return traffic(**given | fields)


@pytest.mark.parametrize("message", [SAID, "Item size to update has exceeded the maximum allowed size"])
def test_the_size_error_is_critical_and_names_the_item(message: str) -> None:
    lost = call("PutItem", key=BIG, error="ValidationException", message=message)
    rows = (row(shape("PutItem"), caller="reporter", failed=3),)
    (one,) = found(seen(lost, rows=rows, refusals=(refused(message, 3),)))
    assert (one.severity, one.caller, one.key) == (Severity.CRITICAL, "reporter", {"PK": "REPORT#7", "SK": "META"})
    assert one.summary.startswith("3 writes of reporter to {key} in cases failed for good")
    assert [advice.action for advice in one.advice] == ["fix-caller", "split-item", "store-in-s3"]


@pytest.mark.parametrize("message", ["Collection size exceeded.", "The provided key element does not match", ""])
def test_other_validation_errors_are_not_of_size(message: str) -> None:
    lost = call("PutItem", key=BIG, error="ValidationException", message=message, item_bytes=2000)
    assert found(seen(lost, refusals=(refused(message),), rows=(row(),))) == []


def test_of_several_refused_items_the_one_tried_most_is_named() -> None:
    other = item("REPORT#9", "META")
    tried = [
        call("PutItem", n, key=key, error="ValidationException", message=SAID)
        for n, key in enumerate((BIG, other, BIG))
    ]
    (one,) = found(seen(*tried))
    assert (one.key, one.evidence["keys"]) == ({"PK": "REPORT#7", "SK": "META"}, 2)
    assert "2 items of cases, {key} first" in one.summary


def test_a_refusal_without_keys_says_the_table_alone() -> None:
    (one,) = found(seen(rows=(row(shape("UpdateItem")),), refusals=(refused(SAID),)))
    assert (one.key, one.evidence["keys"]) == (None, None)
    assert [advice.action for advice in one.advice] == ["fix-caller", "split-item"]


def test_a_refusal_needs_no_call_book() -> None:
    (one,) = found(seen(rows=(row(),), refusals=(refused(SAID),), calls=None))
    assert one.severity is Severity.CRITICAL


def test_an_error_without_a_message_convicts_where_the_size_is_told() -> None:
    lost = call("PutItem", key=BIG, error="ValidationException", item_bytes=420_000)
    (one,) = found(seen(lost, rows=(row(shape("PutItem", "putitem"), caller="api"),)))
    assert (one.severity, one.key) == (Severity.CRITICAL, {"PK": "REPORT#7", "SK": "META"})
    assert one.evidence["limit_kilobytes"] == 400
    assert one.advice[0].text.startswith("Let api keep what was refused, in a dead-letter queue")


def part(size: int | None, canceled: str, name: str = "REPORT#7") -> CallPart:
    return CallPart(position=0, operation="Put", table="cases", key=item(name), item_bytes=size, canceled=canceled)


@pytest.mark.parametrize(("size", "count"), [(400 * 1024 + 1, 1), (400 * 1024, 0), (None, 0)])
def test_an_item_of_just_400_kilobytes_is_within_the_limit(size: int | None, count: int) -> None:
    lone = call("PutItem", key=BIG, error="ValidationException", item_bytes=size)
    assert len(found(seen(lone))) == count
    fields: dict[str, Any] = {"key": None, "error": "TransactionCanceledException"}
    whole = call("TransactWriteItems", parts=(part(size, "ValidationError"),), **fields)
    assert len(found(seen(whole))) == count


def test_only_the_part_that_was_refused_for_its_size_is_named() -> None:
    parts = (part(500_000, "None", "A"), part(300, "ValidationError", "B"), part(450_000, "ValidationError", "C"))
    fields: dict[str, Any] = {"key": None, "error": "TransactionCanceledException"}
    (one,) = found(seen(call("TransactWriteItems", parts=parts, **fields)))
    assert (one.key, one.evidence["keys"]) == ({"PK": "C"}, 1)
    assert found(seen(call("TransactWriteItems", parts=parts[:2], **fields))) == []


def test_the_caller_with_most_refusals_for_size_is_named_whatever_else_fails() -> None:
    rows = (row(shape("PutItem", "a"), caller="throttled", failed=900), row(shape("PutItem", "b"), caller="reporter"))
    (one,) = found(seen(rows=rows, refusals=(refused(SAID, 2, 0), refused(SAID, 3, 1))))
    assert (one.caller, one.fingerprint) == ("reporter", "b")
    assert one.summary.startswith("5 writes of reporter")


def test_a_part_of_a_transaction_that_is_too_large_counts() -> None:
    part = CallPart(position=0, operation="Put", table="cases", key=BIG, item_bytes=500_000, canceled="ValidationError")
    fine = CallPart(position=1, operation="Put", table="cases", key=item("A", "B"), item_bytes=50, canceled="None")
    lost = call("TransactWriteItems", key=None, parts=(part, fine), error="X", cancellation=("ValidationError", None))
    (one,) = found(seen(lost))
    assert (one.key, one.evidence["transactions"]) == ({"PK": "REPORT#7", "SK": "META"}, 1)
    assert one.summary.startswith("1 write of api")


@pytest.mark.parametrize(
    "near",
    [
        call("PutItem", key=BIG, item_bytes=350 * 1024),
        call("UpdateItem", key=BIG, write_units=351.0),
        call("GetItem", of=shape("GetItem", consistent=True), key=BIG, read_units=89.0),
    ],
    ids=["told", "by its write", "by its read"],
)
def test_an_item_of_350_kilobytes_is_high(near: Any) -> None:
    (one,) = found(seen(near))
    assert (one.severity, one.key) == (Severity.HIGH, {"PK": "REPORT#7", "SK": "META"})
    assert one.advice[0].text.startswith("Ask the owner of api what makes the item so large")


def test_a_little_less_is_not_near() -> None:
    assert (
        found(seen(call("PutItem", key=BIG, item_bytes=350 * 1024 - 1), call("UpdateItem", 1, write_units=350.0))) == []
    )


def test_an_item_that_became_small_again_is_not_near() -> None:
    assert (
        found(seen(call("PutItem", 0, key=BIG, item_bytes=380_000), call("PutItem", 1, key=BIG, item_bytes=900))) == []
    )


def test_the_size_of_an_item_whose_key_is_not_known_counts_too() -> None:
    large = call("Query", key=None, item_bytes=390_000, trace="t")
    (one,) = found(seen(large, call("DeleteItem", 1, key=None, item_bytes=395_000, trace="t")))
    assert (one.key, one.evidence["size_kilobytes"]) == (None, 380.9)
    assert one.summary.startswith("an item of cases has 380 KB")


def test_others_that_are_near_are_counted() -> None:
    large = [call("PutItem", n, key=item(f"R{n}", "M"), item_bytes=360_000 + n) for n in range(3)]
    (one,) = found(seen(*large))
    assert one.key == {"PK": "R2", "SK": "M"}
    assert one.summary.endswith("of the 400 KB that an item may have, with 2 others as near")
    assert one.evidence["items_near_limit"] == 3


def test_one_other_is_counted_and_one_alone_has_none_beside_it() -> None:
    large = [call("PutItem", n, key=item(f"R{n}", "M"), item_bytes=360_000) for n in range(2)]
    (two,) = found(seen(*large))
    assert two.summary.endswith("with 1 other as near")
    (alone,) = found(seen(large[0]))
    assert alone.summary.endswith("may have")
    assert alone.evidence["limit_kilobytes"] == 400


@pytest.mark.parametrize(("kind", "wanted"), [("S", '\'{"PK":{"S":"{key}"}}\''), ("N", '\'{"PK":{"N":"{key}"}}\'')])
def test_the_command_reads_the_item_by_its_key(kind: str, wanted: str) -> None:
    place = Place(partition_key=("PK",), table=TableDescription(name="cases", attribute_types={"PK": kind}))
    (one,) = found(seen(call("PutItem", key=item("7"), item_bytes=380_000), place=place))
    assert one.advice[0].command is not None
    assert f"--key {wanted} " in one.advice[0].command


def test_an_index_has_no_items_of_its_own() -> None:
    assert found(seen(refusals=(refused(SAID),), rows=(row(),), target=GSI2)) == []


def test_a_quiet_table_is_silent() -> None:
    assert found(seen()) == []
    assert found(seen(calls=None)) == []
