"""Lines of request logs for tests of the digest: one made by hand, or many of all kinds drawn by hypothesis."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from analyzer.requests.lexicon import Lexicon, TableKeys
from analyzer.requests.templates import Template

__all__ = ["LEXICON", "START_MS", "batches", "calls", "line", "lines_of", "records"]

START_MS = 1_796_032_800_000
"""2026-11-30T10:00:00Z."""

LEXICON = Lexicon(
    [
        TableKeys(
            name="cases",
            partition_key=("PK",),
            sort_key=("SK",),
            indexes={"GSI1": (("GSI1PK",), ("GSI1SK",)), "LSI1": (("PK",), ("due",))},
            templates={
                "PK": (Template.parse("CASE#<caseId>"), Template.parse("TENANT#<t>#CASE#<caseId>")),
                "SK": (Template.parse("META"), Template.parse("AUDIT#<time>"), Template.parse("begins_with AUDIT#")),
                "GSI1PK": (Template.parse("STATUS#<status>"),),
            },
        )
    ]
)


def line(op: str = "GetItem", *, at: float = 0.0, **fields: Any) -> dict[str, Any]:
    """Make a record of one call, so many seconds after the start."""
    milliseconds = round(at * 1000)
    second, rest = divmod(milliseconds, 1000)
    time = f"2026-11-30T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{rest:03}Z"
    return {"v": 1, "time": time, "op": op, "table": "cases", **fields}


def lines_of(records: list[dict[str, Any]]) -> bytes:
    """Write records as JSON Lines."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


_PARTITIONS = st.one_of(
    st.integers(1, 4).map(lambda n: f"CASE#{n}"),
    st.tuples(st.integers(1, 2), st.integers(1, 3)).map(lambda n: f"TENANT#{n[0]}#CASE#{n[1]}"),
    st.sampled_from(["other", "CASE#a", "CASE#\u00e4", 'CASE#"quoted"', "~kaaaaaaaa"]),
)
_SORTS = st.one_of(st.just("META"), st.integers(1, 3).map(lambda n: f"AUDIT#{n}"))
_UNITS = st.sampled_from([0.5, 1.0, 1.5, 128.0])
_RATES = st.sampled_from([1.0, 0.5, 0.1, 0.3333])
_TIMES = st.floats(0, 45)
_ERRORS = st.sampled_from(
    [
        {"code": "ConditionalCheckFailedException", "message": "The conditional request failed"},
        {"code": "InternalServerError"},
        {"code": "ConnectTimeoutError"},
        {
            "code": "ProvisionedThroughputExceededException",
            "reasons": [{"reason": "TableReadKeyRangeThroughputExceeded", "resource": None}],
        },
        {"code": "ThrottlingException"},
        {"code": "TransactionCanceledException", "cancellation": [None, "ThrottlingError"]},
    ]
)
_TRIES = st.lists(
    st.sampled_from(
        [
            {"at_ms": 3.0, "code": "ThrottlingException", "reason": "IndexWriteKeyRangeThroughputExceeded"},
            {"at_ms": 9.0, "code": "ProvisionedThroughputExceededException"},
            {"code": "ReadTimeoutError"},
        ]
    ),
    max_size=3,
)


def _optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


_COMMON = _optional(
    caller=st.sampled_from(["api", "worker"]),
    latency_ms=st.floats(0, 3000),
    attempts=st.integers(1, 4),
    count=st.integers(0, 20),
    scanned=st.integers(0, 40),
    returned_bytes=st.integers(0, 10_000),
    sample_rate=_RATES,
    keys=st.sampled_from(["reveal", "token"]),
    error=_ERRORS,
    tries=_TRIES,
    more=st.booleans(),
    resumed=st.booleans(),
    region=st.just("us-east-1"),
)


def _item_key(part: str, sort: str) -> dict[str, Any]:
    return {"PK": {"S": part}, "SK": {"S": sort}}


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """Draw one call of one table."""
    part, sort, units = draw(_PARTITIONS), draw(_SORTS), draw(_UNITS)
    key = _item_key(part, sort)
    common = draw(_COMMON)
    at = draw(_TIMES)
    kind = draw(st.sampled_from(["get", "query", "gsi", "lsi", "put", "scan"]))
    if kind == "get":
        return line("GetItem", at=at, key=key, consumed={"total": units, "read": units}, **common)
    if kind == "query":
        values = {":p": {"S": part}, ":s": {"S": draw(st.sampled_from(["AUDIT#", "AUDIT#1", "X"]))}}
        condition = "PK = :p AND begins_with(SK, :s)"
        fields = {"key": {"PK": {"S": part}}, "values": values, "consumed": {"total": units}}
        return line("Query", at=at, key_condition=condition, **fields, **common)
    if kind in {"gsi", "lsi"}:
        index, name = ("GSI1", "GSI1PK") if kind == "gsi" else ("LSI1", "PK")
        consumed = {"total": units, "table": 0, "indexes": {index: units}}
        key = {name: {"S": part}}
        return line("Query", at=at, index=index, key_condition=f"{name} = :p", key=key, consumed=consumed, **common)
    if kind == "scan":
        return line("Scan", at=at, consumed={"total": units}, **common)
    entry = {"GSI1PK": {"S": f"STATUS#{sort}"}, "GSI1SK": {"S": part}}
    consumed = {"total": 3.0, "write": 3.0, "table": 2.0, "indexes": {"GSI1": 1.0}}
    return line("PutItem", at=at, key=key, index_keys={"GSI1": entry}, consumed=consumed, **common)


@st.composite
def batches(draw: st.DrawFn) -> dict[str, Any]:
    """Draw one call of several members, perhaps over two tables."""
    keys = draw(st.lists(st.tuples(_PARTITIONS, _SORTS), min_size=1, max_size=4))
    tables = draw(st.lists(st.sampled_from(["cases", "audit"]), min_size=len(keys), max_size=len(keys)))
    parts = [{"op": "Get", "table": t, "key": _item_key(*key)} for t, key in zip(tables, keys, strict=True)]
    by_table = {table: {"total": 0.5 * tables.count(table)} for table in set(tables)}
    consumed = {"total": 0.5 * len(keys), "by_table": by_table}
    record = line("BatchGetItem", at=draw(_TIMES), parts=parts, consumed=consumed, **draw(_COMMON))
    del record["table"]
    return record


def records(*, most: int = 30) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Draw a log."""
    return st.lists(st.one_of(calls(), calls(), calls(), batches()), max_size=most)
