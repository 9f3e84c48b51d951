from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from analyzer.requests.digest import Digest
from tests.support.request_lines import LEXICON, START_MS, line, lines_of

CASE = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}
WHOLE: dict[str, Any] = {"trace_id": "a" * 32, "key": CASE}
REFUSED: dict[str, Any] = {**WHOLE, "error": {"code": "ThrottlingException"}, "consumed": {"total": 1}}
BEYOND = 10**30


def taken(lines: bytes) -> Digest:
    """Take in lines, and come back from a snapshot as after a restart."""
    digest = Digest(LEXICON)
    digest.update(lines, START_MS)
    return Digest.restore(digest.snapshot(), LEXICON)


@pytest.mark.parametrize("number", [BEYOND, -BEYOND, 2**64])
@pytest.mark.parametrize(
    "fields",
    [
        {"op": "Query", "limit": "NUMBER"},
        {"op": "Scan", "total_segments": "NUMBER"},
        {"op": "Query", "count": "NUMBER"},
        {"op": "GetItem", "ttl_seen": {"attribute": "ttl", "value": {"N": "1"}, "expired_returned": "NUMBER"}},
        {
            "op": "BatchWriteItem",
            "unprocessed": 1,
            "parts": [{"op": "Put", "table": "cases", "key": CASE, "item_bytes": "NUMBER"}],
        },
    ],
    ids=["limit", "segments", "count", "expired", "item"],
)
def test_a_number_that_no_state_could_hold_ends_nothing(fields: dict[str, Any], number: int) -> None:
    written = lines_of([line(**WHOLE | fields)]).replace(b'"NUMBER"', str(number).encode())
    read = taken(written).read
    assert read.read + read.bad == 1


@pytest.mark.parametrize("name", ["error", "consumed", "index_keys", "ttl_seen", "parts", "tries", "values", "strata"])
def test_a_line_of_whatever_depth_ends_nothing(name: str) -> None:
    for depth in range(sys.getrecursionlimit() - 150, sys.getrecursionlimit() + 50):
        deep = b"[" * depth + b"]" * depth
        field = b'{"code":"X","value":%b,"reasons":%b}' % (deep, deep)
        written = msgspec.json.encode(line(**REFUSED | {name: "DEEP"})).replace(b'"DEEP"', field) + b"\n"
        read = taken(written).read
        assert read.read + read.bad == 1


def test_a_deep_line_among_good_ones_is_the_only_bad_one() -> None:
    good = lines_of([line(), line(at=1)])
    read = taken(good + b"[" * 5000 + b"\n" + good).read
    assert (read.read, read.bad) == (4, 1)


@pytest.mark.parametrize("number", [-1, -5, 1001, 1_000_000_000])
def test_attempts_that_no_sdk_makes_are_bad(number: int) -> None:
    digest = Digest(LEXICON)
    digest.update(lines_of([line(attempts=number), line(attempts=1000)]))
    assert (digest.read.read, digest.read.bad) == (1, 1)


@pytest.mark.parametrize("name", ["count", "scanned", "latency_ms", "item_bytes"])
def test_what_counts_is_never_negative(name: str) -> None:
    digest = Digest(LEXICON)
    digest.update(lines_of([line() | {name: -1}]))
    assert (digest.read.read, digest.read.bad) == (0, 1)
