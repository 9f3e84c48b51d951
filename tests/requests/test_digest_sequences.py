from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.requests.digest import Digest
from analyzer.requests.digest_sequences import CONTINUES, MAY_CONTINUE, OPENS, SequenceCounts, SequenceTable
from tests.support.request_lines import LEXICON, START_MS, line, lines_of

if TYPE_CHECKING:
    from analyzer.requests.digest_limits import DigestLimits


def sequences_of(*records: dict[str, Any], limits: DigestLimits | None = None) -> SequenceCounts:
    digest = Digest(LEXICON, limits)
    digest.update(lines_of(list(records)))
    return digest.sequences()


def scan(at: float, **fields: Any) -> dict[str, Any]:
    return line("Scan", at=at, trace_id="t", **fields)


def test_pages_that_are_taken_up_were_followed() -> None:
    counts = sequences_of(scan(1, more=True), scan(2, more=True, resumed=True), scan(3, resumed=True))
    assert counts == SequenceCounts(followed=2)


def test_order_of_arrival_does_not_matter() -> None:
    assert sequences_of(scan(2, resumed=True), scan(1, more=True)) == SequenceCounts(followed=1)


def test_a_page_that_another_first_page_comes_after_was_left() -> None:
    assert sequences_of(scan(1, more=True), scan(2, more=True)) == SequenceCounts(left=1, open=1)


def test_a_page_whose_forerunner_was_not_seen_is_cut() -> None:
    assert sequences_of(scan(2, resumed=True)) == SequenceCounts(cut=1)


def test_without_a_trace_caller_and_key_tie_calls_together() -> None:
    key = {"PK": {"S": "CASE#1"}}
    fields: dict[str, Any] = {"key_condition": "PK = :p", "key": key, "caller": "api"}
    counts = sequences_of(
        line("Query", more=True, **fields),
        line("Query", at=1, resumed=True, **fields),
        line("Query", at=2, resumed=True, **{**fields, "key": {"PK": {"S": "CASE#2"}}}),
        line("Query", at=3, more=True, key=key),
    )
    assert counts == SequenceCounts(followed=1, cut=1)


def test_keys_handed_back_are_sent_again_or_not() -> None:
    def batch(at: float, trace: str, unprocessed: int) -> dict[str, Any]:
        parts = [{"op": "Get", "key": {"PK": {"S": "1"}}}]
        return line("BatchGetItem", at=at, parts=parts, trace_id=trace, unprocessed=unprocessed)

    counts = sequences_of(batch(1, "a", 2), batch(2, "a", 0), batch(1, "b", 1), batch(3, "c", 0))
    assert counts == SequenceCounts(followed=1, open=1)


def test_what_nothing_follows_is_left_when_its_time_is_over() -> None:
    digest = Digest(LEXICON)
    digest.update(lines_of([scan(1, more=True)]))
    digest.forget_before(START_MS + 30_000)
    assert digest.sequences() == SequenceCounts(open=1)
    digest.forget_before(START_MS + 120_000)
    assert digest.sequences() == SequenceCounts(left=1)


def test_the_oldest_make_room_and_count_as_cut() -> None:
    table = SequenceTable(4)
    for number in range(5):
        table.add((str(number),), number, OPENS)
    assert len(table) == 4
    assert table.counts() == SequenceCounts(cut=1, open=4)
    table.add(("1",), 9, CONTINUES | OPENS)
    table.add(("1",), 9, MAY_CONTINUE)
    for number in range(6, 9):
        table.add((str(number),), number, CONTINUES)
    assert table.counts().followed == 2


def test_a_long_sequence_is_counted_as_it_goes() -> None:
    table = SequenceTable(4)
    table.add(("t",), 0, OPENS)
    for page in range(1, 301):
        table.add(("t",), page, CONTINUES | OPENS if page < 300 else CONTINUES)
    assert table.counts() == SequenceCounts(followed=300)
