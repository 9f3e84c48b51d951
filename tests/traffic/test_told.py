from __future__ import annotations

import pytest

from analyzer.contract.model import Contract
from analyzer.model.batch import Batch, LagProbe
from analyzer.model.counts import Count, HeavyKeys
from analyzer.model.finding import Direction
from analyzer.model.history import EMPTY
from analyzer.model.observations import Observations
from analyzer.model.sight import Sight
from analyzer.model.table import TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.traffic.join import join
from analyzer.traffic.told import Told, told_of
from tests.support.counting import cell, counts
from tests.support.evidence import CASES, DECLARED, GSI2
from tests.support.told import insight, scaling, series, table

WINDOW = Window(0, 60_000)
HERE = ("111122223333", "us-east-1")


def told(*batches: Batch) -> Told:
    return told_of(Observations(window=WINDOW, batches=batches, account=HERE[0], region=HERE[1]))


def test_everything_stands_at_its_target() -> None:
    metrics = (series("ConsumedReadCapacityUnits"), series("ConsumedReadCapacityUnits", target=GSI2))
    found = told(Batch(window=WINDOW, metrics=metrics, insights=(insight("PKC", (1,), "A"),), scaling=(scaling(9),)))
    assert found.targets() == {CASES, GSI2}
    assert found.metrics[GSI2] == [metrics[1]]
    assert (len(found.insights[CASES]), len(found.scaling[CASES])) == (1, 1)


def test_the_canary_tells_of_the_index_that_it_wrote_to() -> None:
    probe = LagProbe(GSI2, "k0", 0, ((0.0, 9.0, True),))
    found = told(Batch(window=WINDOW, probes=(probe,)))
    assert (found.targets(), found.probes[GSI2]) == ({GSI2}, [probe])
    observed = Observations(window=WINDOW, batches=(Batch(window=WINDOW, probes=(probe,)),))
    (one,) = join(observed, lambda _: DECLARED, Contract(), EMPTY)
    assert (one.probes, Sight.CANARY in one.sights) == ((probe,), True)


def test_a_batch_s_own_place_counts_before_that_of_the_observations() -> None:
    found = told(Batch(window=WINDOW, metrics=(series("X"),), account="9", region="eu-west-1"))
    assert found.targets() == {Target("9", "eu-west-1", "cases")}


def test_series_without_a_table_are_the_account_s_and_quotas_too() -> None:
    account = series("UserErrors")
    del account.dimensions["TableName"]
    found = told(Batch(window=WINDOW, metrics=(account,), quotas={"TableMaxReadCapacityUnits": 40_000}))
    assert (found.account_metrics[HERE], found.quotas[HERE]) == ([account], {"TableMaxReadCapacityUnits": 40_000})


def test_a_series_that_came_in_pieces_is_one_and_the_last_value_of_a_moment_counts() -> None:
    metric = "ConsumedReadCapacityUnits"
    pieces = (series(metric, [1, 2]), series(metric, [5, 3], start=60_000), series(metric, [9], period_seconds=300))
    found = told(*(Batch(window=WINDOW, metrics=(one,)) for one in pieces)).metrics[CASES]
    assert [(one.timestamps, one.values) for one in found] == [((0, 60_000, 120_000), (1, 5, 3)), ((0,), (9,))]


@pytest.mark.parametrize("pieces", [(True, False), (False, True)])
def test_a_series_is_complete_where_all_its_pieces_are(pieces: tuple[bool, ...]) -> None:
    metrics = tuple(series("ReadThrottleEvents", [], is_complete=one) for one in pieces)
    (found,) = told(Batch(window=WINDOW, metrics=metrics)).metrics[CASES]
    assert not found.is_complete


def test_of_several_descriptions_the_newest_counts() -> None:
    old, new = (TableSnapshot(target=CASES, time=time, table=table(read_units=time)) for time in (1, 2))
    assert told(Batch(window=WINDOW, tables=(new, old))).snapshots[CASES] == new


@pytest.mark.parametrize(
    ("target", "home"),
    [
        (Target(None, None, "cases"), CASES),
        (Target(None, "us-east-1", "cases"), CASES),
        (Target(None, "eu-west-1", "cases"), Target(None, "eu-west-1", "cases")),
        (Target(None, None, "orders"), Target(None, None, "orders")),
        (Target("9", "us-east-1", "cases"), Target("9", "us-east-1", "cases")),
    ],
)
def test_a_target_that_names_no_account_or_region_belongs_to_the_only_table_it_can_be(
    target: Target, home: Target
) -> None:
    assert told(Batch(window=WINDOW, metrics=(series("X"),))).home(target) == home


def test_of_two_tables_of_one_name_none_is_the_home() -> None:
    other = Batch(window=WINDOW, metrics=(series("X"),), region="eu-west-1")
    nowhere = Target(None, None, "cases")
    assert told(Batch(window=WINDOW, metrics=(series("X"),)), other).home(nowhere) == nowhere


def test_counts_move_to_their_homes_with_their_keys() -> None:
    nowhere = Target(None, None, "cases", "GSI2")
    heavy = HeavyKeys(nowhere, Direction.READ, 0, 0, (), 0)
    found = told(Batch(window=WINDOW, metrics=(series("X"),)))
    moved = found.at_home(counts((cell(target=nowhere), {Count.REQUESTS: 1}), keys=(heavy,)))
    assert (moved.cells[0].target, moved.keys[0].target) == (GSI2, GSI2)
    settled = counts((cell(), {Count.REQUESTS: 1}))
    assert found.at_home(settled) is settled
