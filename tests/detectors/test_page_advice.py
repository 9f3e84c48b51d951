from __future__ import annotations

import pytest

from analyzer.detectors.page_advice import ask_stopper, encode_filter, follow_pages
from analyzer.model.finding import Risk
from tests.support.evidence import shape


@pytest.mark.parametrize(
    ("operation", "token", "call"),
    [
        ("Query", "LastEvaluatedKey", "table.query(**request)"),
        ("Scan", "LastEvaluatedKey", "table.scan(**request)"),
        ("ExecuteStatement", "NextToken", "client.execute_statement(**request)"),
    ],
)
def test_whoever_stops_is_shown_how_to_read_on(operation: str, token: str, call: str) -> None:
    one = follow_pages("api", shape(operation), "a short page is no end")
    assert one.text == f"Let api read on while the answer has a {token}, or enough was found: a short page is no end"
    assert all(part in (one.snippet or "") for part in (call, f'if "{token}" not in page'))
    assert (one.action, one.risk, one.reversible) == ("follow-pages", Risk.LOW, True)


def test_a_filter_moves_into_a_key_by_an_index_that_can_be_taken_away_again() -> None:
    (one,) = encode_filter(shape("Query", filter_attributes=("status", "size")))
    assert one.text == "Ask for status in the key condition, of the sort key or of an index"
    assert one.snippet == 'Key(partition).eq(value) & Key(sort).begins_with(f"STATUS#{wanted}")'
    assert (one.risk, one.reversible) == (Risk.HIGH, True)
    assert list(encode_filter(shape("Query"))) == []


def test_who_missed_something_is_asked_for_first() -> None:
    one = ask_stopper(None)
    assert (one.action, one.risk, one.takes) == ("fix-caller", Risk.NONE, "minutes")
    assert one.text == "Ask the owner of a caller not recorded who misses what it did not read, and since when"
