"""What kind of heat a key has, by bounds just reached and just missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.key_facts import facts_of, spread, subject_of
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.finding import Direction
from analyzer.model.shape import KeyPredicate
from analyzer.model.traffic import Place
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import key, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call
    from analyzer.model.traffic import KeyHeat, PatternTraffic

READ, WRITE = Direction.READ, Direction.WRITE
ITEM, PARTITION = KeyLevel.ITEM, KeyLevel.PARTITION


def written(rows: int = 1, **fields: Any) -> KeyHeat:
    """A written collection that so many rows write to."""
    fields.setdefault("distinct_sorts", 40)
    return key((950.0,) * 6, WRITE, rows=tuple((n, 100.0) for n in range(rows)), **fields)


def puts(units: float, caller: str | None = "api") -> PatternTraffic:
    return row(shape("PutItem"), caller=caller, write_units=units)


def batches(units: float, caller: str | None = "api") -> PatternTraffic:
    return row(shape("BatchWriteItem", "b"), caller=caller, write_units=units)


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ((puts(500), batches(500)), "backfill"),
        ((puts(501), batches(499)), "tenant"),
        ((puts(500), batches(9000, "other")), "tenant"),
        ((puts(500), puts(900, "other"), batches(500)), "backfill"),
        ((batches(500, "other"), puts(900)), "backfill"),
        ((puts(500, None), batches(900, None)), "tenant"),
        ((batches(500, None), puts(900, None)), "backfill"),
    ],
    ids=["half", "less", "another's", "beside another's", "the first's", "perhaps another's", "the first of unknown"],
)
def test_a_backfill_is_its_first_callers_work_in_batches(rows: tuple[PatternTraffic, ...], kind: str) -> None:
    assert facts_of(written(len(rows)), traffic(rows=rows)).shape == kind


def asks(*asked: str, at: float = 0.0, partition: str | None = "CASE#7") -> list[Call]:
    where = None if partition is None else item(partition)
    return [call("Query", at + n, asked=text, key=where) for n, text in enumerate(asked)]


OTHERS = tuple("abcdefgh")


@pytest.mark.parametrize(
    ("calls", "kind"),
    [
        (asks(*["same"] * 20), "dashboard"),
        (asks(*["same"] * 19), "tenant"),
        (asks(*["same"] * 20, *OTHERS[:5]), "dashboard"),
        (asks(*["same"] * 20, *OTHERS[:6]), "tenant"),
        (asks(*OTHERS[:5], *["same"] * 20, *["other"] * 3), "tenant"),
        (asks(*["same"] * 19) + asks("same", partition="CASE#8"), "tenant"),
        (asks(*["same"] * 19) + asks("same", at=300.0), "tenant"),
        (asks(*["same"] * 19) + asks("same", partition=None), "tenant"),
        (asks(*["same"] * 20) + asks(*OTHERS, partition="CASE#8"), "dashboard"),
    ],
    ids=["20", "19", "4 of 5", "less", "two questions", "another key", "too late", "no key", "beside another key"],
)
def test_a_dashboard_asks_one_question_of_five_times_in_a_window(calls: list[Call], kind: str) -> None:
    evidence = traffic(rows=(row(shape("Query"), read_units=9000),), calls=book(*calls))
    assert facts_of(key((2700.0,) * 6), evidence).shape == kind


@pytest.mark.parametrize(
    ("one", "place", "is_asked"),
    [
        (written(), Place(), True),
        (key((2700.0,) * 6), Place(), False),
        (written(level=ITEM, values=("CASE#7", "1")), Place(), False),
        (written(level=KeyLevel.PREFIX), Place(), False),
        (written(distinct_sorts=1), Place(), False),
        (written(), Place(partition_key=("PK",)), False),
    ],
    ids=["written", "read", "item", "prefix", "one item", "no sort key"],
)
def test_the_order_of_sort_keys_is_asked_of_written_collections(one: KeyHeat, place: Place, *, is_asked: bool) -> None:
    calls = book(*(call("PutItem", n, of=shape("PutItem"), key=item("CASE#7", f"{n:03}")) for n in range(60)))
    facts = facts_of(one, traffic(rows=(puts(9000),), calls=calls, place=place))
    assert (facts.order is not None) is is_asked


@pytest.mark.parametrize(("strong", "is_strong"), [((True, False), True), ((None, False), False), ((), False)])
def test_one_strong_reader_makes_it_strong(strong: tuple[bool | None, ...], *, is_strong: bool) -> None:
    rows = tuple(row(shape(consistent=one), read_units=9000) for one in strong)
    read = key((2700.0,) * 6, rows=tuple((n, 1.0) for n in range(len(rows))))
    assert facts_of(read, traffic(rows=rows)).is_strong is is_strong


@pytest.mark.parametrize(
    ("name", "direction", "subject"),
    [
        (KeyName(ITEM, "CASE#7", "META"), WRITE, "write\x1fITEM\x1fCASE#7\x1fMETA"),
        (KeyName(ITEM, "CASE#7", "META"), None, "\x1fITEM\x1fCASE#7\x1fMETA"),
        (KeyName(PARTITION, "CASE#7"), READ, "read\x1fPARTITION\x1fCASE#7\x1f"),
        (KeyName(ITEM, "m00000000", "META"), WRITE, "write\x1fITEM\x1fm<time>\x1f"),
    ],
)
def test_a_key_that_rotates_is_the_same_without_its_time(
    name: KeyName, direction: Direction | None, subject: str
) -> None:
    assert subject_of(name, direction, traffic()) == subject


@pytest.mark.parametrize(
    ("declared", "kind"),
    [(("CLICKS#<day>", "CLICKS#<id>"), "time-bucket"), (("CLICKS#<id>", "CLICKS#<day>"), "tenant"), ((), "tenant")],
)
def test_the_most_literal_declaration_says_whether_a_key_tells_the_time(declared: tuple[str, ...], kind: str) -> None:
    of = shape("PutItem", key=(KeyPredicate("PK", "=", "CLICKS#<id>", declared),))
    assert facts_of(written(), traffic(rows=(row(of, write_units=9000),))).shape == kind


@pytest.mark.parametrize(("first", "kind"), [(True, "queue"), (False, "tenant")])
def test_a_queue_is_polled_by_who_reads_it_most(*, first: bool, kind: str) -> None:
    poll, read = row(shape("Query", "q", limit_bucket=8), read_units=9000), row(read_units=9000)
    leaves = row(shape("DeleteItem", "d"), write_units=900)
    rows = (poll, read, leaves) if first else (read, poll, leaves)
    assert facts_of(key((2700.0,) * 6, rows=((0, 2.0), (1, 1.0))), traffic(rows=rows)).shape == kind


@pytest.mark.parametrize(
    ("units", "whole", "items"),
    [((0.5, 0.5), 1.0, 2.0), ((0.5,), 1.0, 2.0), ((0.0,), 1.0, None), ((0.0, 1.0), 1.0, 1.0), ((), 1.0, None)],
    ids=["halves of a unit", "half and a rest", "refused alone", "beside one", "none"],
)
def test_an_item_counts_by_its_units_however_few(units: tuple[float, ...], whole: float, items: float | None) -> None:
    assert spread(units, whole) == items


@pytest.mark.parametrize(("milliseconds", "factor"), [(10_000, 1.5), (20_000, 2.0), (60_000, 6.0), (300_000, 6.0)])
def test_the_fullest_minute_is_as_long_as_the_window_at_most(milliseconds: int, factor: float) -> None:
    evidence = traffic(rows=(puts(9000),), window=Window(0, milliseconds))
    rates = (600.0, 300.0)[: milliseconds // 10_000]
    assert facts_of(key(rates, WRITE, peak_second=900.0), evidence).burst_factor == factor


@pytest.mark.parametrize(("milliseconds", "reads"), [(500, 300.0), (1000, 300.0), (1500, 200.0), (300_000, 1.0)])
def test_reads_of_less_than_a_second_are_taken_as_a_seconds(milliseconds: int, reads: float) -> None:
    read = key((30.0,), rows=((1, 300.0),))
    rows = (puts(9000), row(requests=300, read_units=300))
    facts = facts_of(written(), traffic(rows=rows, keys=(read,), window=Window(0, milliseconds)))
    assert facts.shards is not None
    assert (facts.reads_a_second, facts.added_read_units) == (reads, reads * (facts.shards.count - 1) / 2)
