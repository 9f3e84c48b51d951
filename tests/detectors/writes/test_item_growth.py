from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.item_growth import ItemGrowth
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.traffic import Place, Traffic
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, row, shape, traffic

DAY = 86_400
KEYED = Place(partition_key=("PK",), sort_key=("SK",))
CHAT = item("CHAT#7", "META")
APPEND = shape("UpdateItem", "append", update="SET messages = list_append(messages, ?)")
PUT = shape("PutItem", "put")


def found(*calls: Any, place: Place = KEYED, **fields: Any) -> list[Finding]:
    window = Window(0, 40 * DAY * 1000)
    given: dict[str, Any] = {"rows": (), "calls": book(*calls), "place": place, "window": window}
    evidence: Traffic = traffic(**given | fields)
    return [one for one in ItemGrowth().detect(evidence) if isinstance(one, Finding)]


def sizes(*kilobytes: float, key: Any = CHAT, of: Any = PUT, every: float = DAY, **fields: Any) -> list[Any]:
    return [
        call(at=every * n, of=of, key=key, item_bytes=round(size * 1024), **fields) for n, size in enumerate(kilobytes)
    ]


def test_an_item_that_is_full_within_a_week_is_high_and_says_when() -> None:
    (one,) = found(*sizes(60, 120, 180, 240, 300), rows=(row(PUT, caller="api"),))
    assert (one.severity, one.confidence, one.key) == (
        Severity.HIGH,
        Confidence.CERTAIN,
        {"PK": "CHAT#7", "SK": "META"},
    )
    assert (one.evidence["days_to_limit"], one.evidence["kilobytes_a_day"]) == (1.67, 60.0)
    assert (one.evidence["units_a_write_first"], one.evidence["units_a_write_last"]) == (60, 300)
    assert [advice.action for advice in one.advice] == ["fix-caller", "split-item", "store-in-s3"]


def test_units_alone_tell_growth() -> None:
    grows = [call("PutItem", DAY * n, key=CHAT, write_units=60.0 * (n + 1)) for n in range(5)]
    (one,) = found(*grows)
    assert (one.severity, one.evidence["last_kilobytes"]) == (Severity.HIGH, 299.5)


def test_an_append_to_a_list_is_medium_and_names_the_attribute() -> None:
    (one,) = found(*sizes(1, 6, 12, 20, 30, 40, of=APPEND, every=30 * DAY))
    assert (one.severity, one.evidence["attribute"]) == (Severity.MEDIUM, "messages")
    assert [advice.action for advice in one.advice] == ["fix-caller", "split-item"]
    assert '"messages": entry' in (one.advice[1].snippet or "")


def test_four_sizes_are_too_few() -> None:
    assert found(*sizes(60, 120, 180, 240)) == []


@pytest.mark.parametrize(
    "kilobytes",
    [(60, 120, 180, 100, 300), (60, 61, 62, 63, 63.9), (60, 200, 290, 300, 300), (300, 240, 180, 120, 60)],
    ids=["shrank once", "hardly grew", "stands still now", "shrinks"],
)
def test_what_does_not_only_grow_is_silent(kilobytes: tuple[float, ...]) -> None:
    assert found(*sizes(*kilobytes)) == []


def test_a_large_item_that_grows_slowly_is_medium() -> None:
    (one,) = found(*sizes(100, 101, 102, 103, 105))
    assert one.severity is Severity.MEDIUM


def test_a_document_that_grows_among_many_that_do_not_is_low() -> None:
    still = [one for n in range(3) for one in sizes(20, 18, 20, 19, 20, key=item(f"DOC#{n}", "META"))]
    (one,) = found(*sizes(20, 22, 24, 26, 28), *still)
    assert (one.severity, one.evidence["growing_items"], one.evidence["items_watched"]) == (Severity.LOW, 1, 4)


def test_where_most_documents_grow_it_is_medium() -> None:
    (one,) = found(*sizes(20, 22, 24, 26, 28), *sizes(20, 22, 24, 26, 27, key=item("DOC#1", "META")))
    assert (one.severity, one.key) == (Severity.MEDIUM, {"PK": "CHAT#7", "SK": "META"})


def test_a_small_item_that_fills_up_is_silent_unless_its_update_appends() -> None:
    assert found(*sizes(1, 3, 5, 7, 9)) == []
    (one,) = found(*sizes(1, 3, 5, 7, 9, of=APPEND))
    assert one.severity is Severity.LOW


def test_growth_within_minutes_is_likely() -> None:
    (one,) = found(*sizes(60, 120, 180, 240, 300, every=60))
    assert (one.severity, one.confidence) == (Severity.HIGH, Confidence.LIKELY)


def test_reads_alone_tell_growth_too() -> None:
    (one,) = found(*sizes(60, 120, 180, 240, 300, of=shape("GetItem", "get")))
    assert (one.fingerprint, one.severity) == ("get", Severity.HIGH)


def test_a_pause_in_the_growth_leaves_the_upper_bound_open() -> None:
    (one,) = found(*sizes(200, 200, 200, 240, 300))
    assert one.evidence["days_to_limit_high"] is None


def test_calls_of_one_moment_show_no_pace() -> None:
    assert found(*sizes(60, 120, 180, 240, 300, every=0)) == []
    (one,) = found(*sizes(60, 120, every=0), *sizes(60, 120, 180, 240, 300)[2:])
    assert one.severity is Severity.HIGH


@pytest.mark.parametrize(
    "calls",
    [
        sizes(60, 120, 180, 240, 300, error="X"),
        sizes(60, 120, 180, 240, 300, key_whole=False),
        sizes(60, 120, 180, 240, 300, key=item("CHAT#7")),
    ],
    ids=["refused", "not all seen", "a collection"],
)
def test_what_tells_no_whole_sequence_of_one_item_is_silent(calls: list[Any]) -> None:
    assert found(*calls) == []


def test_a_table_without_a_sort_key_splits_under_keys_of_their_own() -> None:
    (one,) = found(*sizes(60, 120, 180, 240, 300, key=item("CHAT#7")), place=Place(partition_key=("PK",)))
    assert (one.advice[1].snippet or "").startswith('table.put_item(Item={"PK": f"{PK}#{number}"')


def test_an_index_and_a_target_without_calls_are_silent() -> None:
    assert found(*sizes(60, 120, 180, 240, 300), target=GSI2) == []
    assert found(calls=None) == []
