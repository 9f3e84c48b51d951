from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.contract.details import Detail, ItemDetail
from analyzer.contract.rates import Rates
from analyzer.contract.seen import Seen, key_of
from analyzer.contract.usage import usage_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.counts import Counts
    from analyzer.model.shape import Shape

CASE = ("PK", "=", "CASE#<id>")
Used = tuple[dict[str, Any], dict[str, str]]

FEW = ", too few to tell whether it is a pattern"


@pytest.fixture
def used(counted: Callable[..., Counts], shape: Callable[..., Shape]) -> Callable[..., Used]:
    """Tell how one pattern is used, of which a hundred requests were seen."""

    def told(operation: str, *key: tuple[str, str, str], detail: Detail | None = None, requests: int = 100) -> Used:
        one = shape(operation, *key)
        counts = counted((one, "web", [requests], 1.0))
        seen = Seen(one, (key_of(one.key),), operations={operation: None}, cells=[0], requests=requests)
        return usage_of(seen, detail or Detail(), counts, Rates(), has_entity=False)

    return told


def test_the_usual_limit_is_the_page_size(used: Callable[..., Used]) -> None:
    usage, unsure = used("Query", CASE, detail=Detail(10, Counter({25: 10})))
    assert (usage, unsure) == ({"page_size": 25, "callers": ["web"]}, {})


@pytest.mark.parametrize(
    ("limits", "size", "told"),
    [
        ({25: 9, 100: 1}, 25, "some requests had limits of 100"),
        ({25: 9, None: 1}, 25, "some requests had no limit"),
        ({25: 1, None: 9}, 25, "some requests had no limit"),
    ],
)
def test_other_limits_make_it_unsure(
    used: Callable[..., Used], limits: dict[int | None, int], size: int, told: str
) -> None:
    usage, unsure = used("Query", CASE, detail=Detail(10, Counter(limits)))
    assert (usage["page_size"], unsure) == (size, {"page_size": told})


def test_a_get_has_no_page(used: Callable[..., Used]) -> None:
    assert used("GetItem", CASE, detail=Detail(1, Counter({1: 1}), {"CASE#1": 1})) == ({"callers": ["web"]}, {})


@pytest.mark.parametrize(
    ("detail", "items", "is_sure"),
    [
        (Detail(9, Counter({None: 9}), {"a": 123, "b": 1}), 120, True),
        (Detail(9, Counter({500: 9}), {"a": 3}), 3, True),
        (Detail(9, Counter({3: 9}), {"a": 3}), 3, False),
        (Detail(9, Counter({None: 9}), {"a": 3}, goes_on=True), 3, False),
    ],
)
def test_most_keys_hold_at_most_so_many_items(
    used: Callable[..., Used], detail: Detail, items: int, *, is_sure: bool
) -> None:
    usage, unsure = used("Query", CASE, detail=detail)
    assert (usage["items_per_key"], "items_per_key" not in unsure) == (items, is_sure)


@pytest.mark.parametrize("detail", [Detail(1, Counter({None: 1}), {"a": 0}), Detail()])
def test_what_held_no_item_tells_no_number(used: Callable[..., Used], detail: Detail) -> None:
    assert "items_per_key" not in used("Query", CASE, detail=detail)[0]


def test_a_range_tells_not_how_many_items_a_key_has(used: Callable[..., Used]) -> None:
    detail = Detail(1, Counter({None: 1}), {"a": 5})
    assert "items_per_key" not in used("Query", CASE, ("SK", "<", "A"), detail=detail)[0]
    assert used("Query", CASE, ("SK", "begins_with", "A"), detail=detail)[0]["items_per_key"] == 5


def test_the_usual_size_of_an_item_is_told_where_no_entity_tells_it(used: Callable[..., Used]) -> None:
    assert used("GetItem", CASE, detail=Detail(item=ItemDetail([100, 900, 1_111])))[0]["item_bytes"] == 900


@pytest.mark.parametrize(
    ("requests", "told"), [(1, f"it was seen once{FEW}"), (29, f"it was seen 29 times{FEW}"), (30, None)]
)
def test_what_was_seen_rarely_is_unsure(used: Callable[..., Used], requests: int, told: str | None) -> None:
    assert used("GetItem", CASE, requests=requests)[1].get("id") == told


def test_a_scan_is_unsure(used: Callable[..., Used]) -> None:
    assert used("Scan")[1]["operation"].startswith("a Scan; if it is meant")
