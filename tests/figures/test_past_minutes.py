"""Minutes that Contributor Insights told poll by poll stay for an hour, and no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.figures.past_minutes import PastMinutes
from analyzer.model.target import Target
from tests.figures.test_insight_map import key
from tests.support.evidence import CASES, traffic

if TYPE_CHECKING:
    import pytest

    from analyzer.model.traffic import Traffic


def heats(found: Traffic) -> dict[str, list[tuple[int, float | None]]]:
    return {
        str(one.key["PK"]): [(minute.start // 60_000, minute.high) for minute in one.minutes] for one in found.insights
    }


def test_minutes_of_several_polls_are_one_row_and_the_last_word_on_a_minute_holds() -> None:
    past = PastMinutes()
    past.note((traffic(insights=(key("A", (0, 0.1), (1, 0.2)), key("B", (0, 0.3)))),), 0)
    past.note((traffic(insights=(key("A", (1, 0.4), (2, 0.5)),)), traffic(CASES.at("GSI1"))), 0)
    found = past.recall(traffic(insights=(key("A", (2, 0.5)),)))
    assert heats(found) == {"A": [(0, 0.1), (1, 0.4), (2, 0.5)], "B": [(0, 0.3)]}
    assert [round(one.share, 3) for one in found.insights] == [0.769, 0.231]


def test_what_is_older_is_let_go_and_with_it_the_key_and_the_target() -> None:
    past = PastMinutes()
    past.note((traffic(insights=(key("A", (0, 0.1), (5, 0.2)), key("B", (0, 0.3)))),), 0)
    past.note((), 60_000)
    assert heats(past.recall(traffic())) == {"A": [(5, 0.2)]}
    past.note((traffic(),), 600_000)
    assert past.recall(traffic()).insights == ()


def test_the_same_judgement_is_taken_in_once() -> None:
    past = PastMinutes()
    judged = (traffic(insights=(key("A", (0, 0.1)),)),)
    past.note(judged, 0)
    past.note(judged, 600_000)
    assert heats(past.recall(traffic())) == {"A": [(0, 0.1)]}


def test_keys_and_targets_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.figures.past_minutes._MOST_KEYS", 2)
    monkeypatch.setattr("analyzer.figures.past_minutes._MOST_TARGETS", 1)
    past = PastMinutes()
    first = traffic(Target(None, None, "first"), insights=(key("A", (0, 0.1)),))
    past.note((first, traffic(insights=tuple(key(name, (0, 0.0)) for name in "ABC"))), 0)
    assert heats(past.recall(traffic())) == {"B": [(0, 0.0)], "C": [(0, 0.0)]}
    assert past.recall(traffic(Target(None, None, "first"))).insights == ()
