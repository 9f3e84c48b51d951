from __future__ import annotations

from analyzer.model.sight import Sight
from analyzer.render.needs import needs_words


def test_all_that_is_lacking_is_told_in_words() -> None:
    assert needs_words(("CONTRACT", "SPAN(14d)")) == "a contract and 14 days of traffic"
    assert needs_words(("METRICS",)) == "CloudWatch's metrics"


def test_every_sight_has_words_of_its_own() -> None:
    told = {needs_words((sight,)) for sight in Sight}
    assert len(told) == len(Sight)
    assert not told & set(Sight)


def test_a_sight_of_a_later_version_is_told_by_its_name() -> None:
    assert needs_words(("TEA_LEAVES",)) == "TEA_LEAVES"
