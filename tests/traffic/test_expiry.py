from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.calls import TtlValue
from analyzer.traffic.expiry import expiring_writes, fault_of, returned_expired
from tests.support.calls import call
from tests.support.evidence import shape

NOW_MS = 1_796_000_000_000
NOW = NOW_MS / 1000
YEAR = 365.25 * 86_400


def value(number: float | None, kind: str | None = "N", **fields: Any) -> TtlValue:
    return TtlValue(**{"attribute": "expires", "type": kind, "number": number} | fields)


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (value(NOW + 3600), None),
        (value(NOW - 4 * YEAR), None),
        (value(NOW - 6 * YEAR), "too-old"),
        (value(-5), "too-old"),
        (value((NOW + 3600) * 1000), "milliseconds"),
        (value((NOW + 3600) * 1_000_000), "milliseconds"),
        (value(3600), "duration"),
        (value(90 * 86_400), "duration"),
        (value(0), None),
        (value(None), None),
        (value(NOW + 3600, "S"), "not-a-number"),
        (value(None, "S"), "not-a-number"),
        (value(None, "NULL"), None),
        (value(NOW, None), None),
    ],
)
def test_a_value_is_a_time_or_has_a_fault(written: TtlValue, fault: str | None) -> None:
    assert fault_of(written, NOW_MS) == fault


def test_writes_are_grouped_by_attribute_with_their_commonest_fault() -> None:
    at = NOW_MS / 1000
    calls = [
        call("PutItem", at, ttl=value(NOW + 60)),
        call("PutItem", at, ttl=value(NOW * 1000)),
        call("PutItem", at, ttl=value(NOW * 1000)),
        call("PutItem", at, ttl=value(60)),
        call("PutItem", at, ttl=value(NOW, "S"), error="ThrottlingException"),
        call("PutItem", at, ttl=value(NOW, attribute="until")),
        call("GetItem", at, ttl=value(None, None, expired_returned=1)),
        call("PutItem", at),
    ]
    expires, until = expiring_writes(calls)
    assert (expires.attribute, expires.written, expires.wrong_count, expires.main_fault) == (
        "expires",
        4,
        3,
        "milliseconds",
    )
    assert (until.attribute, until.written, until.wrong_count) == ("until", 1, 0)


def read(caller: str = "api", items: int | None = 1, attributes: tuple[str, ...] = (), **fields: Any) -> Any:
    told = value(None, None, expired_returned=items, **fields)
    return call("Query", 0, shape("Query", "q", filter_attributes=attributes), ttl=told, caller=caller)


def test_expired_items_are_counted_and_their_busiest_reader_is_named() -> None:
    (one,) = returned_expired([read("login"), read("admin", 2), read("admin"), call("GetItem")], ())
    assert (one.attribute, one.items, len(one.reads), one.busiest().caller) == ("expires", 4, 3, "admin")


@pytest.mark.parametrize(
    "one",
    [
        read(items=0),
        read(items=None),
        read(attributes=("expires",)),
        read(attributes=("until",)),
        read(attributes=("ttl",), attribute=None),
    ],
    ids=["none", "not told", "filtered", "filtered by another name", "filtered, name not told"],
)
def test_a_read_that_returned_none_or_filters_by_it_is_acquitted(one: Any) -> None:
    assert returned_expired([one], ("until", "ttl", None)) == []
