from __future__ import annotations

from typing import Any

import msgspec

from analyzer.cli.seen_beside import SeenBeside
from analyzer.model.request import RequestRecord
from analyzer.requests.tokens import Salt

SALT = Salt(b"0123456789abcdef")
KEY = {"PK": {"S": "A#1"}, "SK": {"S": "1"}}


def why(*records: dict[str, Any], index: str | None = None, attribute: str = "PK", salt: Salt | None = None) -> str:
    seen = SeenBeside("orders", index)
    for record in records:
        told = {"v": 1, "time": "2026-06-01T10:00:00Z", "op": "PutItem", "table": "orders", "key": KEY} | record
        seen.take(msgspec.convert(told, RequestRecord))
    return seen.why_nothing(attribute, salt)


def test_a_log_without_the_table_names_those_that_it_has() -> None:
    assert why({"table": "order-lines"}, {"table": "users"}, {"table": "users"}) == (
        "the log has no request to a table orders; it has requests to users, order-lines; did you mean order-lines?"
    )
    many = why(*({"table": f"t{n}"} for n in range(7)))
    assert many.endswith("it has requests to t0, t1, t2, t3, t4 and 2 more")
    assert why({"table": None, "statement": "SELECT * FROM carts WHERE a = 1"}).endswith("it has requests to carts")
    assert why({"table": None, "parts": [{"op": "Put", "table": "carts"}]}).endswith("it has requests to carts")
    assert why() == why({"table": None}) == "the log has no request that names a table; is it a request log?"


def test_a_table_is_known_by_its_arn() -> None:
    assert "goes to that PK of orders" in why({"table": "arn:aws:dynamodb:us-east-1:111122223333:table/orders"})


def test_an_index_that_no_request_uses_names_those_that_are_used() -> None:
    told = why({"index_keys": {"by-day": KEY}}, {"consumed": {"indexes": {"by-user": 1}}}, index="by-days")
    assert told.startswith("no request of the log uses an index by-days of orders; it uses ")
    assert told.endswith("did you mean by-day?")
    assert why({}, index="by-day").endswith("; it uses none")
    part = {"op": "Put", "index_keys": {"by-day": {"day": {"S": "1"}}}}
    assert "has an attribute PK; they have day" in why({"parts": [part]}, index="by-day")


def test_an_attribute_that_is_in_no_key_names_those_that_are() -> None:
    told = why({}, {"key": None, "parts": [{"op": "Put", "key": KEY}]}, attribute="id")
    assert told == "no key of orders in the log has an attribute id; they have PK, SK"


def test_a_log_without_keys_says_what_would_have_some() -> None:
    assert why({"key": None}).startswith("the log tells no key of orders: traces, CloudTrail and templates have none")
    assert "a sampler with tokens does" in why({"keys": "template"})


def test_a_key_that_nobody_asked_for_says_how_keys_are_written() -> None:
    assert why({}, {"key": None}) == (
        "no request of the log goes to that PK of orders (2 to orders, 1 of them with a key)\n"
        "  its keys stand in clear: write the value as the application does"
    )
    token = {"keys": "token", "salt_id": "abc"}
    assert "its keys are tokens: give the sampler's salt" in why(token)
    assert "`dynascope analyze LOG --keys token` shows" in why(token)
    assert f"its tokens are of the salt abc, and not of {SALT.id}, which was given" in why(token, salt=SALT)
    assert "check the value: it is written as" in why({"keys": "token", "salt_id": SALT.id}, salt=SALT)
