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
    told = {name: value for name, value in one.evidence.items() if "day" in name or "kilobytes" in name}
    assert told == {
        "first_kilobytes": 60,
        "last_kilobytes": 300,
        "kilobytes_a_day": 60,
        "kilobytes_a_day_low": 60,
        "kilobytes_a_day_high": 60,
        "days_to_limit": 1.67,
        "days_to_limit_low": 1.67,
        "days_to_limit_high": 1.67,
    }
    assert one.summary.startswith("{key} in cases grew from 60 to 300 KB in 4 days")
    assert (one.evidence["units_a_write_first"], one.evidence["units_a_write_last"]) == (60, 300)
    assert [advice.action for advice in one.advice] == ["fix-caller", "split-item", "store-in-s3"]


def test_each_half_of_the_time_bounds_the_pace() -> None:
    (one,) = found(*sizes(60, 80, 100, 140, 180))
    told = one.evidence
    assert (told["kilobytes_a_day_low"], told["kilobytes_a_day"], told["kilobytes_a_day_high"]) == (20, 30, 40)
    assert (told["days_to_limit_low"], told["days_to_limit"], told["days_to_limit_high"]) == (5.5, 7.33, 11)


@pytest.mark.parametrize(
    ("kilobytes", "count"),
    [
        ((60, 61, 62, 63, 64), 1),
        ((60, 61, 62, 63, 63.99), 0),
        ((60, 100, 140, 150, 160), 1),
        ((60, 100, 140, 150, 159), 0),
        ((4, 7, 10, 13, 16), 1),
        ((4, 7, 10, 13, 15.99), 0),
    ],
    ids=["four kilobytes", "less", "a fifth in the second half", "not as much", "medium", "small"],
)
def test_growth_is_told_from_its_bounds_on(kilobytes: tuple[float, ...], count: int) -> None:
    assert len(found(*sizes(*kilobytes))) == count


@pytest.mark.parametrize(("less", "severity"), [(0.0, Severity.HIGH), (0.1, Severity.MEDIUM)])
def test_just_a_week_is_high(less: float, severity: Severity) -> None:
    """At 5 KB each 10,240 seconds the rest of 400 KB takes seven days to the second."""
    (one,) = found(*sizes(*(84.6875 + 5 * number - less for number in range(5)), every=10_240))
    assert one.severity is severity


@pytest.mark.parametrize(
    ("last", "every", "severity"),
    [
        (100, 3600, Severity.HIGH),
        (99.9, 3600, Severity.LOW),
        (100, 9 * DAY, Severity.MEDIUM),
        (99.9, 9 * DAY, Severity.LOW),
    ],
)
def test_a_hundred_kilobytes_are_large(last: float, every: float, severity: Severity) -> None:
    still = [one for n in range(3) for one in sizes(20, 18, 20, 19, 20, key=item(f"DOC#{n}", "META"), every=every)]
    (one,) = found(*sizes(20, 40, 60, 80, last, every=every), *still)
    assert one.severity is severity


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


@pytest.mark.parametrize(("still", "severity"), [(1, Severity.MEDIUM), (2, Severity.LOW)])
def test_half_of_the_documents_are_many(still: int, severity: Severity) -> None:
    others = [one for n in range(still) for one in sizes(20, 18, 20, 19, 20, key=item(f"DOC#{n}", "META"))]
    (one,) = found(*sizes(20, 22, 24, 26, 28), *others)
    assert one.severity is severity


@pytest.mark.parametrize(("first", "then"), [(PUT, APPEND), (shape("GetItem", "get"), shape("GetItem", "strong"))])
def test_the_shape_that_came_last_is_told_once(first: Any, then: Any) -> None:
    mixed = [*sizes(60, 120, 180, 240, of=first), call(at=4 * DAY, of=then, key=CHAT, item_bytes=300 * 1024)]
    others = sizes(60, 120, 180, 240, 290, of=then, key=item("CHAT#8", "META"))
    (one,) = found(*mixed, *others)
    assert (one.fingerprint, one.evidence["growing_items"]) == (then.fingerprint, 2)
    apart = sizes(60, 120, 180, 240, 300, of=first, key=item("CHAT#9", "META"))
    assert {each.fingerprint for each in found(*others, *apart)} == {first.fingerprint, then.fingerprint}


def test_a_small_item_that_fills_up_is_silent_unless_its_update_appends() -> None:
    assert found(*sizes(1, 3, 5, 7, 9)) == []
    (one,) = found(*sizes(1, 3, 5, 7, 9, of=APPEND))
    assert one.severity is Severity.LOW


def test_growth_within_minutes_is_likely() -> None:
    (one,) = found(*sizes(60, 120, 180, 240, 300, every=60))
    assert (one.severity, one.confidence) == (Severity.HIGH, Confidence.LIKELY)
    assert one.because == "it was seen for 4 minutes; whether the pace goes on is not known"


@pytest.mark.parametrize(("every", "confidence"), [(900, Confidence.CERTAIN), (899, Confidence.LIKELY)])
def test_growth_over_an_hour_is_certain(every: float, confidence: Confidence) -> None:
    (one,) = found(*sizes(60, 120, 180, 240, 300, every=every))
    assert (one.confidence, one.because is None) == (confidence, confidence is Confidence.CERTAIN)


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
