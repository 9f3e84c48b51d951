"""Every detector: what it cannot see it skips and says so; where nothing happens it finds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer import pipeline
from analyzer.detectors import DETECTORS
from analyzer.model.finding import Finding
from analyzer.model.sight import Sight, SkipReason
from tests.support.evidence import CASES, GSI2, traffic

if TYPE_CHECKING:
    from analyzer.interfaces import Detector
    from analyzer.model.target import Target

EVERY = [one() for one in DETECTORS]
LACKED = [(one, need) for one in EVERY for need in sorted(set[Sight]().union(*one.needs))]


@pytest.mark.parametrize(("detector", "need"), LACKED, ids=[f"{one.name} {need}" for one, need in LACKED])
def test_a_need_that_nothing_stands_for_is_named_where_it_is_not_met(detector: Detector, need: Sight) -> None:
    others = [needed for needed in detector.needs if need not in needed]
    sights = frozenset(Sight) - {need} - {min(needed) for needed in others}
    found, skipped = pipeline._detect((traffic(sights=sights),), (detector,))
    (skip,) = skipped
    assert (found, skip.detector, skip.reason) == ((), detector.name, SkipReason.MISSING_SIGHT)
    assert skip.needs
    assert not {str(sight) for sight in sights} & set(skip.needs)


@pytest.mark.parametrize("detector", EVERY, ids=[one.name for one in EVERY])
@pytest.mark.parametrize("target", [CASES, GSI2], ids=["table", "index"])
def test_of_a_place_where_all_is_seen_and_nothing_happens_nothing_is_found(detector: Detector, target: Target) -> None:
    empty = traffic(target, sights=frozenset(Sight), rows=())
    assert [one for one in detector.detect(empty) if isinstance(one, Finding)] == []
