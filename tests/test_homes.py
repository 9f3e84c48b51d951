"""Where tables live is remembered from polls, and told of logs that do not say it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.homes import Homes
from analyzer.model.batch import Batch
from analyzer.model.observations import Observations
from analyzer.model.table import TableDescription, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.requests.digest import Digest
from tests.support.counting import cell, counts

if TYPE_CHECKING:
    from analyzer.model.counts import Counts

WINDOW = Window(1_760_000_000_000, 1_760_000_600_000)


def polled(*targets: Target) -> tuple[Batch, ...]:
    described = tuple(TableSnapshot(target=target, table=TableDescription(name=target.table)) for target in targets)
    return (Batch(window=WINDOW, tables=described),)


def logged(**fields: str) -> Observations:
    digest = Digest(EMPTY_CONTRACT.lexicon(None))
    line = {"v": 1, "time": "2025-10-09T08:55:00Z", "op": "Query", "table": "cases", "index": "by-day", **fields}
    digest.update(json.dumps(line).encode() + b"\n", WINDOW.end)
    return Observations(window=WINDOW, counts=digest.result(WINDOW), calls=digest.calls())


def places(homes: Homes, **fields: str) -> set[tuple[str | None, str | None]]:
    counts = homes.of(logged(**fields)).counts
    assert counts is not None
    return {(cell.target.account, cell.target.region) for cell in counts.cells}


def homes_of(*targets: Target) -> Homes:
    homes = Homes()
    homes.learn(polled(*targets), 1)
    return homes


@pytest.mark.parametrize(
    ("told", "fields", "place"),
    [
        ([Target("1", "eu", "cases")], {}, ("1", "eu")),
        ([Target("1", "eu", "cases")], {"region": "eu"}, ("1", "eu")),
        ([Target("1", "eu", "cases"), Target("1", "us", "cases")], {"region": "us"}, ("1", "us")),
        ([Target("1", "eu", "cases"), Target("1", "us", "cases")], {}, (None, None)),
        ([Target("1", "eu", "cases")], {"region": "us"}, (None, "us")),
        ([Target("1", "eu", "orders")], {}, (None, None)),
        ([], {}, (None, None)),
    ],
)
def test_a_log_has_the_place_of_the_only_table_that_it_can_mean(
    told: list[Target], fields: dict[str, str], place: tuple[str | None, str | None]
) -> None:
    assert places(homes_of(*told), **fields) == {place}


def test_what_was_told_once_stands_though_polls_bring_nothing() -> None:
    homes = homes_of(Target("1", "eu", "cases"))
    homes.learn((), 2)
    homes.learn(polled(Target("1", "eu", "orders")), 3)
    homes.learn(polled(Target("9", "us", "cases")), 3)  # of a generation that was taken in already
    assert places(homes) == {("1", "eu")}


def test_so_many_places_are_remembered_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.homes._MOST", 2)
    homes = homes_of(Target("1", "eu", "a"), Target("1", "eu", "b"), Target("1", "eu", "cases"))
    assert (places(homes), homes.dropped) == ({(None, None)}, 1)
    homes.learn(polled(Target("1", "eu", "a")), 2)
    assert homes.dropped == 1
    homes.learn(polled(Target("1", "eu", "cases")), 3)
    assert (places(homes), homes.dropped) == ({(None, None)}, 2)


def test_without_a_log_nothing_is_moved() -> None:
    observed = Observations(window=WINDOW)
    assert homes_of(Target("1", "eu", "cases")).of(observed) is observed


def counted(*targets: Target) -> Counts:
    return counts(*((cell(target=target), {}) for target in targets))


@pytest.mark.parametrize(
    ("logged_places", "account"),
    [
        ([Target("1", "eu", "cases")], "1"),
        ([Target("1", None, "cases")], "1"),
        ([Target("1", "eu", "cases"), Target("2", "us", "cases"), Target("3", "eu", "orders")], "1"),
        ([Target("1", "eu", "cases"), Target("2", "eu", "cases")], None),
        ([Target(None, "eu", "cases")], None),
        ([], None),
    ],
    ids=["named", "without a region", "others elsewhere", "two accounts", "nobody names it", "no log"],
)
def test_whose_the_polled_tables_are_is_taken_from_the_log(logged_places: list[Target], account: str | None) -> None:
    homes = homes_of(Target(None, "eu", "cases"))
    homes.learn_account(counted(*logged_places))
    assert homes.account == account
    assert places(homes) == {(account, "eu")}


def test_what_is_polled_later_without_an_account_is_of_the_same_one() -> None:
    homes = homes_of(Target(None, "eu", "orders"))
    homes.learn_account(counted(Target("1", "eu", "orders")))
    homes.learn(polled(Target(None, "eu", "cases")), 2)
    homes.learn_account(counted(Target("2", "eu", "cases")))
    assert homes.account == "1"
    assert places(homes) == {("1", "eu")}


def test_where_polls_name_their_account_the_log_tells_nothing_new() -> None:
    homes = homes_of(Target("1", "eu", "cases"))
    homes.learn_account(counted(Target("2", "eu", "cases")))
    assert homes.account is None
