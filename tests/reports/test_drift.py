from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from analyzer.contract.load import contract_from
from analyzer.history.columns import Kind
from analyzer.history.merging import rolled_up
from analyzer.model.instant import format_instant
from analyzer.model.window import Window
from analyzer.reports.drift import drift
from analyzer.reports.drift_values import Drift, PatternDrift, Presence, Side
from analyzer.statistics.rates import Standing
from tests.support.history_weeks import PLANTED, WEEK, Weeks, contract_document, eight_weeks

if TYPE_CHECKING:
    import pandas as pd

    from analyzer.reports.frame import Frame

DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def weeks() -> Weeks:
    return eight_weeks()


@pytest.fixture(scope="module")
def found(weeks: Weeks) -> Drift:
    return drift(*weeks.week_and_past(), weeks.contract)


def of(found: Drift, name: str) -> PatternDrift:
    return next(one for one in found.patterns if one.subject.name == name)


def as_undeclared(rows: pd.DataFrame, pattern: str) -> pd.DataFrame:
    """Rows of a time before a pattern was declared."""
    is_other = rows["pattern"] != pattern
    kinds, patterns = rows["kind_of_pattern"].astype(object), rows["pattern"].astype(object)
    return rows.assign(kind_of_pattern=kinds.where(is_other, "undeclared"), pattern=patterns.where(is_other, None))


def without(frame: Frame, **equal: str) -> Frame:
    """A frame without the rows of a pattern."""
    kept = np.ones(len(frame.hours), dtype=bool)
    for name, value in equal.items():
        kept &= (frame.hours[name] != value).to_numpy()
    return msgspec.structs.replace(frame, hours=frame.hours[kept].reset_index(drop=True), latency=frame.latency[kept])


def test_three_drifts_are_named_and_nothing_else(found: Drift) -> None:
    assert {(one.subject.target.table, one.subject.name) for one in found.drifted} == {
        (planted.table, planted.pattern or planted.fingerprint) for planted in PLANTED
    }
    assert [mix for mix in found.mixes if mix.standing is Standing.OUT] == []


def test_a_week_with_a_holiday_and_nothing_planted_is_silent(weeks: Weeks) -> None:
    assert drift(*weeks.week_and_past(5), weeks.contract).drifted == ()
    assert drift(*weeks.week_and_past(6), weeks.contract).drifted == ()


def test_what_comes_more_often_says_how_much_since_when_and_what_was_declared(found: Drift) -> None:
    one = of(found, "list-orders")
    past, declared = one.out
    assert (past.name, past.side, declared.name, declared.side) == ("rate", Side.PAST, "rate", Side.DECLARED)
    assert past.ratio is not None
    assert past.ratio.low < 2.6 < past.ratio.high
    assert one.change is not None
    assert format_instant(one.change.at) == "2026-11-23T00:00:00.000Z"
    assert one.change.after / one.change.before == pytest.approx(2.6, rel=0.15)
    assert (one.presence, one.is_regressed, one.callers) == (Presence.KNOWN, False, ("web",))
    assert declared.declared == "p95 5, peak 12"
    assert (one.owner, one.days_seen, one.days_covered) == ("team-orders", 7, 7)


def test_what_costs_more_is_regressed(found: Drift) -> None:
    one = of(found, "load-cart")
    assert one.is_regressed
    ratios = {facet.name: facet.ratio.value for facet in one.out if facet.ratio is not None}
    assert ratios["units"] == pytest.approx(2.5, rel=0.02)
    assert ratios["p95"] == pytest.approx(1.7, rel=0.05)
    assert one.expected_units is not None
    assert one.units / one.expected_units == pytest.approx(2.5, rel=0.1)


def test_what_nobody_declared_and_nobody_saw_before_is_new(found: Drift) -> None:
    one = of(found, PLANTED[1].fingerprint)
    assert (one.presence, one.kind, one.subject.pattern) == (Presence.NEW, "undeclared", None)
    assert one.first_seen == WEEK.start
    assert one.wasted_units > 0


def test_what_all_share_is_growth_and_a_holiday_is_none(found: Drift) -> None:
    assert 0.9 < found.growth < 1.1


def test_without_a_past_only_declarations_speak(weeks: Weeks) -> None:
    week, _ = weeks.week_and_past()
    found = drift(week, (), weeks.contract)
    assert (found.weeks, found.growth, found.mixes) == (0, 1.0, ())
    assert {facet.side for one in found.drifted for facet in one.out} == {Side.DECLARED}
    assert {one.presence for one in found.patterns} == {Presence.KNOWN}


def test_with_one_week_before_doubled_traffic_is_told_all_the_same(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    names = {one.subject.name for one in drift(week, past[-1:], weeks.contract).drifted}
    assert {planted.pattern or planted.fingerprint for planted in PLANTED} >= names >= {PLANTED[1].fingerprint}


def test_what_was_asked_every_week_and_is_gone_has_vanished(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    one = of(drift(without(week, pattern="load-user"), past, weeks.contract), "load-user")
    assert (one.presence, one.requests.value, one.days_seen) == (Presence.VANISHED, 0, 0)


def test_what_comes_back_after_a_week_has_returned(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    gone = (*past[:-1], without(past[-1], pattern="load-user"))
    assert of(drift(week, gone, weeks.contract), "load-user").presence is Presence.RETURNED


def test_what_is_declared_and_was_never_seen_is_dead(weeks: Weeks) -> None:
    document = contract_document()
    key = {"PK": "COUPON#<code>"}
    document["tables"][0]["patterns"] += [
        {"id": "load-coupon", "operation": "GetItem", "key": key, "rate": {"p95": 2}},
        {"id": "drop-coupon", "operation": "DeleteItem", "key": key},
    ]
    week, past = weeks.week_and_past()
    found = drift(week, past, contract_from(document, "shop.yaml"))
    assert of(found, "load-coupon").presence is Presence.DEAD
    assert of(found, "drop-coupon").presence is Presence.QUIET


@pytest.mark.parametrize(("where", "account"), [({}, None), ({"accounts": ["111122223333"]}, "111122223333")])
def test_a_declared_table_that_nobody_asks_is_dead(weeks: Weeks, where: dict[str, object], account: str | None) -> None:
    document = contract_document()
    pattern = {"id": "load-coupon", "operation": "GetItem", "key": {"PK": "COUPON#<code>"}, "rate": {"p95": 50}}
    several = {"name": "coupons-*", "partition_key": "PK", "patterns": [{**pattern, "id": "load-some"}]}
    table = {"name": "coupons", "partition_key": "PK", "patterns": [pattern]} | ({"where": where} if where else {})
    document["tables"] += [table, several]
    found = drift(*weeks.week_and_past(), contract_from(document, "shop.yaml"))
    one = of(found, "load-coupon")
    assert (one.presence, one.subject.target.table, one.subject.target.account) == (Presence.DEAD, "coupons", account)
    assert "load-some" not in {pattern.subject.name for pattern in found.patterns}


def on_weekdays(rows: pa.Table) -> pa.Table:
    """Rows of carts on weekdays alone."""
    weekday = (rows["start"].cast("int64").to_numpy() // DAY_MS + 3) % 7
    return rows.filter(pa.array((weekday < 5) | (np.array(rows["table_name"].to_pylist()) != "carts")))


def test_what_is_asked_on_weekdays_alone_is_judged_by_past_weeks_that_were_read_by_the_day(weeks: Weeks) -> None:
    hours = on_weekdays(weeks.rows[Kind.HOURS])
    by_day = {**weeks.rows, Kind.HOURS: rolled_up(hours, DAY_MS)}
    week = Weeks({**weeks.rows, Kind.HOURS: hours}, weeks.contract).frame(7)
    past = [Weeks(by_day, weeks.contract).frame(number) for number in range(7)]
    told = drift(week, tuple(msgspec.structs.replace(one, is_by_day=True) for one in past), weeks.contract)
    assert of(told, "load-cart").is_regressed


def test_a_few_calls_of_somebody_at_a_console_are_ad_hoc(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    rows = week.hours
    stranger = (rows["fingerprint"] == PLANTED[1].fingerprint).to_numpy()
    kept = ~stranger | (np.cumsum(stranger) == 1)
    few = rows[kept].reset_index(drop=True)
    few.loc[few["fingerprint"] == PLANTED[1].fingerprint, "requests"] = 19.0
    quiet = msgspec.structs.replace(week, hours=few, latency=week.latency[kept])
    assert of(drift(quiet, past, weeks.contract), PLANTED[1].fingerprint).presence is Presence.AD_HOC


def test_days_that_nobody_looked_at_are_left_out_and_told(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    middle = Window(WEEK.start + 2 * DAY_MS, WEEK.start + 4 * DAY_MS)
    inside = ((week.hours["start"] >= middle.start) & (week.hours["start"] < middle.end)).to_numpy()
    covered = (Window(WEEK.start, middle.start), Window(middle.end, WEEK.end))
    less = msgspec.structs.replace(
        week, hours=week.hours[~inside].reset_index(drop=True), latency=week.latency[~inside], covered=covered
    )
    found = drift(less, past, weeks.contract)
    assert found.gaps == (middle,)
    assert {one.subject.name for one in found.drifted} == {one.pattern or one.fingerprint for one in PLANTED}
    assert {one.days_covered for one in found.patterns} == {5}


def test_a_pattern_that_is_declared_now_keeps_the_past_of_its_shape(weeks: Weeks) -> None:
    week, past = weeks.week_and_past()
    older = tuple(msgspec.structs.replace(frame, hours=as_undeclared(frame.hours, "load-user")) for frame in past)
    assert of(drift(week, older, weeks.contract), "load-user").presence is Presence.KNOWN


def test_callers_that_change_places_are_a_mix_that_drifts(weeks: Weeks) -> None:
    week, past = weeks.week_and_past(6)
    rows = week.hours.assign(caller=week.hours["caller"].astype(object))
    rows.loc[(rows["pattern"] == "load-product") & (rows["caller"] == "web"), "caller"] = "robot"
    found = drift(msgspec.structs.replace(week, hours=rows), past, weeks.contract)
    (mix,) = [one for one in found.mixes if one.standing is Standing.OUT]
    assert (mix.what, mix.target.table) == ("callers", "catalog")
    assert {term.name for term in mix.terms[:2]} == {"robot", "web"}
    assert 0 < mix.jsd < 1


def test_past_weeks_by_the_day_tell_the_same(weeks: Weeks, found: Drift) -> None:
    week, past = weeks.week_and_past()
    rows = rolled_up(weeks.rows[Kind.HOURS], DAY_MS)
    by_day = Weeks({**weeks.rows, Kind.HOURS: rows}, weeks.contract)
    other = drift(week, by_day.week_and_past()[1], weeks.contract)
    assert len(by_day.frame(0).hours) < len(past[0].hours) / 15
    assert [one.subject for one in other.drifted] == [one.subject for one in found.drifted]
    assert of(other, "list-orders").expected_requests == of(found, "list-orders").expected_requests
