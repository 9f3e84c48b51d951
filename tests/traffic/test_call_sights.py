from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.contract.model import Contract
from analyzer.correlator.attributor import Attributor
from analyzer.model.counts import Count
from analyzer.model.history import EMPTY
from analyzer.model.observations import Observations
from analyzer.model.sight import Sight, SourceName
from analyzer.traffic.join import join
from tests.support.calls import book, call
from tests.support.counting import cell, counts
from tests.support.evidence import CASES, GSI2, shape

if TYPE_CHECKING:
    from analyzer.model.calls import CallBook
    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic

LOG = frozenset({SourceName.REQUEST_LOG})
FOLLOWED = {Sight.REQUEST_SEQUENCES, Sight.RETURNED_KEYS}


def joined(calls: CallBook | None) -> dict[Target, Traffic]:
    read, write = cell(shape("Query"), GSI2), cell(shape("PutItem"))
    seen = counts((read, {Count.REQUESTS: 1}), (write, {Count.REQUESTS: 1}))
    contract = Contract()
    observed = Observations(window=seen.window, counts=seen, sources=LOG, calls=calls)
    return {one.target: one for one in join(observed, Attributor(contract), contract, EMPTY)}


def test_without_a_book_nothing_is_followed() -> None:
    one = joined(None)[CASES]
    assert one.calls is None
    assert not one.sights & FOLLOWED


def test_sequences_are_seen_where_calls_are_whole_and_returned_keys_where_they_are_told() -> None:
    calls = book(call("Query", target=GSI2, returned=()), call(key_whole=False))
    traffics = joined(calls)
    assert traffics[GSI2].sights & FOLLOWED == FOLLOWED
    assert not traffics[CASES].sights & FOLLOWED
    assert traffics[GSI2].calls is traffics[CASES].calls is calls


def test_an_index_that_only_writes_reach_hides_nothing() -> None:
    seen = counts(
        (cell(shape("PutItem"), GSI2, secondary=True), {Count.WRITE_HALF_UNITS: 2}), window=joined(None)[CASES].window
    )
    contract = Contract()
    observed = Observations(window=seen.window, counts=seen, sources=LOG, calls=book())
    (one,) = join(observed, Attributor(contract), contract, EMPTY)
    assert Sight.REQUEST_SEQUENCES in one.sights
