from __future__ import annotations

import gzip
from typing import Any

import msgspec
import pytest

from analyzer.recording_requests import Concealer, tables_of
from analyzer.requests.digest import Digest
from analyzer.requests.digest_block import Line, ReadCounters, read_lines
from analyzer.requests.lexicon import Lexicon, TableKeys
from analyzer.requests.tokens import Salt
from tests.support.demo_log import LOG

SALT = Salt(b"0123456789abcdef0123456789abcdef")
CANARY = "canary-4e02"
KEY = {"PK": {"S": f"TENANT#{CANARY}"}, "SK": {"S": CANARY}}
ERROR = {
    "code": "ValidationException",
    "message": f"The item {CANARY} of 'TENANT#{CANARY}' is too much",
    "reasons": [{"reason": CANARY + "!", "resource": CANARY}],
    "cancellation": ["ConditionalCheckFailed", None, f"#{CANARY}"],
}


def line_of(**fields: Any) -> Line:
    told = {"v": 1, "time": "2026-06-01T02:30:00.000Z", "op": "PutItem", "table": "orders"} | fields
    counters = ReadCounters()
    (line,) = read_lines(msgspec.json.encode(told), counters)
    assert not counters.bad
    return line


def concealed(lexicon: Lexicon | None = None, **fields: Any) -> dict[str, Any]:
    return Concealer(lexicon or Lexicon(), SALT).record(line_of(**fields))


def said_of(lines: list[bytes]) -> dict[Any, Any]:
    """What a digest counts, by place, shape and caller."""
    digest = Digest(Lexicon())
    digest.update(b"\n".join(lines))
    totals = digest.totals()
    assert not digest.read.bad
    return {
        (cell.target, cell.shape.fingerprint, cell.caller, cell.secondary): values
        for cell, values in zip(totals.cells, totals.values.tolist(), strict=True)
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"key": KEY},
        {"key": {"PK": {"B": CANARY}, "SK": {"N": "4711"}}},
        {"index_keys": {"by-day": KEY}, "key": KEY},
        {"op": "Query", "key_condition": "PK = :p", "values": {":p": KEY["PK"], ":m": {"M": {CANARY: {}}}}},
        {"op": "ExecuteStatement", "statement": f"SELECT * FROM orders WHERE PK = 'TENANT#{CANARY}' -- {CANARY}"},
        {"op": "ExecuteStatement", "statement": f'UPDATE orders SET m."{CANARY}" = ? WHERE PK = ?'},
        {"op": "UpdateItem", "update": "SET #m.#e = :v", "names": {"#m": "scores", "#e": CANARY, "#unused": CANARY}},
        {"op": "UpdateItem", "update": "SET m.canary4e02 = :v"},
        {"op": "Query", "filter": f"owner = '{CANARY}'", "condition": f"PK = TENANT#{CANARY}"},
        {"key": KEY, "error": ERROR, "tries": [{"code": f"#{CANARY}", "reason": CANARY + "?", "resource": CANARY}]},
        {"key": KEY, "error": f"{CANARY}: refused"},
        {"op": "BatchWriteItem", "parts": [{"op": "Put", "key": KEY, "index_keys": {"i": KEY}, "table": "orders"}]},
        {"op": "TransactWriteItems", "parts": [{"op": "Put", "condition": f"a = '{CANARY}'"}]},
        {"op": "BatchExecuteStatement", "parts": [{"op": f"#{CANARY}", "statement": f"'{CANARY}'"}]},
        {"op": "Query", "returned": [{"key": f"TENANT#{CANARY}\t{CANARY}", "version": CANARY}]},
        {"ttl_seen": {"attribute": "expires", "value": {"S": CANARY}}},
        {"ttl_seen": CANARY, "error": ""},
        {"trace_id": CANARY, "request_id": CANARY, "principal": CANARY, "user_agent": CANARY, "own_field": CANARY},
        {"key": {"PK": {"L": [CANARY]}}, "values": {CANARY: 1}, "consumed": CANARY, "strata": CANARY},
        {"keys": "token", "key": KEY, "salt_id": "abc"},
        {"keys": "hidden", "key": KEY},
    ],
)  # fmt: skip
def test_a_clear_key_stands_nowhere_in_what_is_kept(fields: dict[str, Any]) -> None:
    text = msgspec.json.encode(concealed(**fields)).decode().replace("-", "")
    assert CANARY.replace("-", "") not in text


def test_keys_become_tokens_of_the_salt_but_for_what_the_contract_declares() -> None:
    lexicon = Lexicon((TableKeys(name="orders", literals=frozenset({"TENANT"})),))
    told = concealed(lexicon, key=KEY)
    assert told["key"] == {"PK": {"S": f"TENANT#{SALT.token(CANARY)}"}, "SK": {"S": SALT.token(CANARY)}}
    assert (told["keys"], told["salt_id"]) == ("token", SALT.id)


def test_tokens_stay_as_they_are_with_the_words_beside_them() -> None:
    told = concealed(keys="token", salt_id="abc", key={"PK": {"S": "TENANT#~kabcdefgh"}})
    assert told["key"] == {"PK": {"S": "TENANT#~kabcdefgh"}}
    assert (told["keys"], told["salt_id"]) == ("token", "abc")
    assert concealed(keys="template", key={"PK": {"S": "T#<id>"}})["keys"] == "template"


def test_a_number_has_one_token_however_it_is_written() -> None:
    one, other = (concealed(key={"PK": {"N": text}})["key"] for text in ("1", "1.0"))
    assert one == other


def test_a_key_that_the_digest_would_not_read_is_left_out() -> None:
    assert "key" not in concealed(key={"PK": {"S": "a" * 3000}, "SK": {"S": "b"}})
    assert "index_keys" not in concealed(index_keys={"by-day": {"day": {"BOOL": True}}})


def test_what_became_of_a_call_is_kept() -> None:
    told = concealed(
        consumed={"total": 2.0, "indexes": {"by-day": 1.0}},
        tries=[{"at_ms": 0, "code": "ThrottlingException", "reason": "TableWriteKeyRangeThroughputExceeded"}],
        error={"code": "ConditionalCheckFailedException", "message": "The conditional request failed"},
        handed_back=[1],
        strata=[{"by": "trace", "rate": 0.5}, {"by": "secret", "rate": 0.5}],
        ttl_seen={"attribute": "expires", "value": {"N": "1780000000"}},
        sample_rate=0.5,
        latency_ms=3.5,
        request_id="A" * 52,
        caller="importer",
    )
    shown: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(told))
    assert shown["consumed"] == {"total": 2.0, "indexes": {"by-day": 1.0}}
    assert shown["tries"][0]["reason"] == "TableWriteKeyRangeThroughputExceeded"
    assert shown["error"] == {"code": "ConditionalCheckFailedException", "message": "The conditional request failed"}
    assert (shown["handed_back"], shown["strata"]) == ([1], [{"by": "trace", "rate": 0.5}])
    assert shown["ttl_seen"] == {"attribute": "expires", "value": {"N": "1780000000"}}
    assert (shown["sample_rate"], shown["latency_ms"], shown["caller"]) == (0.5, 3.5, "importer")
    assert shown["request_id"] == "A" * 52


def test_the_parameters_of_a_statement_keep_their_places() -> None:
    told = concealed(
        op="ExecuteStatement",
        statement="SELECT * FROM orders WHERE a = 'x' AND PK IN (?, ?) AND SK = ?",
        values={"?1": {"S": "A"}, "?2": {"S": "B"}, "?3": {"S": "C"}},
    )
    assert told["statement"].count("?") == 4
    assert told["values"] == {f"?{at}": {"S": SALT.token(text)} for at, text in ((2, "A"), (3, "B"), (4, "C"))}
    odd = concealed(
        op="ExecuteStatement", statement='SELECT "a ? b" FROM orders WHERE PK = ?', values={"?1": {"S": "A"}}
    )
    assert "values" not in odd


@pytest.mark.parametrize(
    ("fields", "tables"),
    [
        ({}, {"orders"}),
        ({"table": "arn:aws:dynamodb:us-east-1:1:table/carts/index/i"}, {"carts"}),
        ({"table": None}, set()),
        ({"table": None, "statement": "SELECT * FROM users WHERE a = 1"}, {"users"}),
        ({"parts": [{"op": "Get", "table": "users"}, {"op": "Get"}]}, {"orders", "users"}),
        ({"table": None, "parts": [{"op": "Get", "statement": "SELECT * FROM users"}]}, {"users"}),
    ],
)
def test_the_tables_of_a_request(fields: dict[str, Any], tables: set[str]) -> None:
    assert tables_of(line_of(**fields)) == tables


def test_the_demo_counts_alike_with_and_without_what_is_left_out() -> None:
    with gzip.open(LOG) as file:
        texts = [text for text in file.read().split(b"\n") if text]
    lines = read_lines(b"\n".join(texts), ReadCounters())
    concealer = Concealer(Lexicon(), SALT)
    assert said_of([msgspec.json.encode(concealer.record(line)) for line in lines]) == said_of(texts)


WHEN = {"v": 1, "time": "2026-06-01T02:30:00.000Z", "table": "orders"}
CLEAR: list[dict[str, Any]] = [
    {"op": "PutItem", "key": KEY, "index_keys": {"by-day": {"day": {"S": "2026-06-01"}}}, "consumed": {"total": 2.0}},
    {"op": "Query", "key_condition": "#p = :p AND begins_with(SK, :s)", "names": {"#p": "PK"},
     "values": {":p": KEY["PK"], ":s": {"S": "ORDER#"}}, "filter": "a.b.c > :x AND #n.d[3] = :y"},
    {"op": "UpdateItem", "key": KEY, "update": "SET #m.#e = :v, scores.ana = :w", "names": {"#m": "m", "#e": "u1"}},
    {"op": "ExecuteStatement", "statement": "SELECT a FROM orders WHERE PK = ? AND b IN (1, 2)", "key": KEY,
     "values": {"?1": KEY["PK"]}},
    {"op": "ExecuteStatement", "statement": "UPDATE orders SET a.b = 'x' WHERE PK = 'y' AND SK = 'z'", "key": KEY},
    {"op": "BatchWriteItem", "parts": [{"op": "Put", "key": KEY}, {"op": "Delete", "key": {"PK": {"S": "B#1"}}}]},
    {"op": "TransactWriteItems", "names": {"#a": "a"},
     "parts": [{"op": "Update", "key": KEY, "update": "SET #a.x = :v"}]},
    {"op": "Scan", "total_segments": 4, "limit": 100, "scanned": 100, "count": 3, "more": True},
    {"op": "GetItem", "key": KEY, "error": ERROR, "attempts": 3},
]  # fmt: skip
"""Each shape of call, with clear keys."""


def test_clear_records_keep_their_shapes_and_counts() -> None:
    texts = [msgspec.json.encode(WHEN | fields) for fields in CLEAR]
    lines = read_lines(b"\n".join(texts), ReadCounters())
    concealer = Concealer(Lexicon(), SALT)
    kept = [msgspec.json.encode(concealer.record(line)) for line in lines]
    assert said_of(kept) == said_of(texts)
