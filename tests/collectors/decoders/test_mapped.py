from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from analyzer.errors import ConfigError
from analyzer.model.request import Consumed, RequestError, RequestRecord
from analyzer.model.sight import Sight
from collectors.request_log.decoders.decoding import decode
from collectors.request_log.decoders.mapped import MappedDecoder
from collectors.request_log.decoders.mapping_file import read_mapping
from tests.collectors.decoders.conftest import records

POWERTOOLS = """\
version: 1
when: {$.message: ddb_query}
fields:
  time: $.timestamp
  op: $.ddb.op
  table: $.ddb.table
  index: $.ddb.index
  key: {pk: $.ddb.pk}
  count: $.ddb.count
  scanned: $.ddb.scanned
  read_units: $.ddb.rcu
  more: $.ddb.lek
  attempts: $.ddb.attempts
  caller: $.service
"""
LINE: dict[str, Any] = {
    "level": "INFO",
    "message": "ddb_query",
    "timestamp": "2026-11-30 10:35:27,404+0000",
    "service": "orders",
    "ddb": {"op": "Query", "table": "t", "index": "gsi1", "pk": "a", "count": 3, "scanned": 900, "rcu": 128.5,
            "lek": True, "attempts": 1},
}  # fmt: skip
SHORT = "fields: {time: $.time, op: $.op, table: $.table"


def mapped(text: str) -> MappedDecoder:
    return MappedDecoder(read_mapping(text.encode(), "map.yaml"))


def read(text: str, *entries: dict[str, Any]) -> list[RequestRecord]:
    decoded = decode(mapped(text), "\n".join(map(json.dumps, entries)).encode())
    assert decoded.bad == {}
    return records(decoded)


def faults(text: str | bytes) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        read_mapping(text if isinstance(text, bytes) else text.encode(), "map.yaml")
    return [str(fault) for fault in raised.value.faults]


def test_a_log_of_powertools_is_read_as_the_mapping_says() -> None:
    (record,) = read(POWERTOOLS, LINE, {"level": "INFO", "message": "else"}, {"message": "ddb_query"})
    assert (record.time, record.op, record.table, record.index) == ("2026-11-30T10:35:27.404Z", "Query", "t", "gsi1")
    assert (record.key, record.count, record.scanned) == ({"pk": {"S": "a"}}, 3, 900)
    assert (record.consumed, record.more, record.attempts) == (Consumed(read=128.5), True, 1)
    assert (record.caller, record.resumed, record.latency_ms) == ("orders", None, None)


def test_the_sights_are_those_of_the_fields_that_are_mapped() -> None:
    assert mapped(SHORT + "}").sights == {Sight.REQUESTS}
    assert mapped(POWERTOOLS).sights == {
        Sight.REQUESTS, Sight.REQUEST_KEYS, Sight.REQUEST_COUNTS, Sight.REQUEST_UNITS, Sight.REQUEST_SEQUENCES,
    }  # fmt: skip


def test_paths_reach_into_lists_and_odd_names_and_what_is_no_path_is_always_so() -> None:
    text = """
fields:
  time: $._aws.Timestamp
  op: Query
  table: $["the table"]
  consumed: $.units[0]
  limit: 5
  trace_id: $['@trace'].id
operations: {}
"""
    entry = {"_aws": {"Timestamp": 1796034927404}, "the table": "t", "units": [1.5], "@trace": {"id": "T"}}
    first, second = read(text, entry, {"_aws": {"Timestamp": 1796034927404}, "the table": "t", "units": 3, "@trace": 1})
    assert (first.time, first.op, first.table, first.limit) == ("2026-11-30T10:35:27.404Z", "Query", "t", 5)
    assert (first.consumed, first.trace_id) == (Consumed(total=1.5), "T")
    assert (second.consumed, second.trace_id) == (None, None)


def test_an_applications_own_words_for_operations_are_translated() -> None:
    text = SHORT + ", error: $.error, statement: $.sql, sample_rate: $.rate}\noperations: {load: GetItem, 7: PutItem}"
    base = {"time": "2026-11-30T10:00:00Z", "table": "arn:aws:dynamodb:us-east-1:111122223333:table/t"}
    found = read(
        text,
        base | {"op": "load", "error": "x.ThrottlingException", "rate": 0.5},
        base | {"op": 7, "error": True, "rate": 2},
        base | {"op": "Scan", "error": "no code", "sql": "SELECT * FROM t WHERE a = 'b'"},
        base | {"op": "DeleteItem", "error": False},
        {"time": "2026-11-30T10:00:00Z", "op": "ExecuteStatement", "sql": "DELETE FROM t"},
    )
    assert [record.op for record in found] == ["GetItem", "PutItem", "Scan", "DeleteItem", "ExecuteStatement"]
    assert [record.error for record in found] == [
        RequestError("ThrottlingException"),
        RequestError("Error"),
        RequestError("Error"),
        None,
        None,
    ]
    assert [record.sample_rate for record in found] == [0.5, 1.0, 1.0, 1.0, 1.0]
    assert (found[0].table, found[0].account, found[2].statement) == (
        "t",
        "111122223333",
        "SELECT * FROM t WHERE a = ?",
    )


def test_values_are_kept_where_the_key_condition_uses_them() -> None:
    text = SHORT + ", key_condition: $.k, names: $.n, values: $.v, filter: $.f}"
    asked = {"k": "#p = :p", "n": {"#p": "pk", "#x": 5}, "v": {":p": "a", ":f": "secret", ":l": []}, "f": "x = :f"}
    entry = {"time": "2026-11-30T10:00:00Z", "op": "Query", "table": "t"}
    full, bare = read(text, entry | asked, entry)
    assert (full.values, full.names, full.filter) == ({":p": {"S": "a"}}, {"#p": "pk"}, "x = :f")
    assert (bare.values, bare.names, bare.key) == (None, None, None)


def test_what_cannot_be_read_is_counted_by_reason() -> None:
    good = {"time": "2026-11-30T10:00:00Z", "op": "Query", "table": "t"}
    entries = [
        good | {"op": "load"},
        good | {"op": 5},
        good | {"op": "DescribeTable"},
        good | {"time": "soon"},
        good | {"table": 5},
    ]
    decoded = decode(mapped(SHORT + "}"), "\n".join(map(json.dumps, entries)).encode())
    assert decoded.bad == {
        "an entry's `op` is no operation: translate it under `operations`": 2,
        "an entry's `time` is no time": 1,
        "an entry has no table where the mapping says": 1,
    }
    assert decoded.lines.count(b"\n") == 1, "an operation that nobody knows yet is kept"


def test_a_mapping_goes_to_other_processes() -> None:
    decoder = mapped(POWERTOOLS)
    assert pickle.loads(pickle.dumps(decoder)).mapping == decoder.mapping


def test_every_fault_of_a_mapping_is_told_at_once_with_its_line() -> None:
    text = """\
version: 2
feilds: {}
fields:
  time: $.a..b
  tabel: $.t
  count: [1]
  key: {pk: null}
operations:
  load: GetItems
when:
  message: x
"""
    assert faults(text) == [
        "map.yaml:2: feilds: is not known; did you mean fields?",
        "map.yaml:1: version: is not 1; write `version: 1`, or leave it out",
        "map.yaml:5: fields.tabel: is not known; did you mean table?",
        "map.yaml:3: fields: does not map `op`; add `op: $.…`",
        "map.yaml:3: fields: maps neither `table` nor `statement`; add `table: $.…`",
        'map.yaml:4: fields.time: $.a..b is no path from character 4 on; write steps as `.name`, `["a name"]` or `[0]`',
        "map.yaml:6: fields.count: is no path; write `$.…`, or a text that is always so",
        "map.yaml:7: fields.key.pk: is no path; write `$.…`, or a text that is always so",
        "map.yaml:9: operations.load: GetItems is no operation; did you mean GetItem?",
        "map.yaml:11: when.message: is no path; write `$.message: ddb_query`",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "map.yaml: holds no mapping"),
        ("- a", "map.yaml: holds no mapping"),
        ("fields: 5", "map.yaml:1: fields: is no mapping"),
        ("x: 1", "known are version, fields, operations, when"),
        (SHORT + "}\noperations: []", "map.yaml:2: operations: is no mapping"),
        (SHORT + ", limit: null}\noperations: {x: zzz}", "write an operation of DynamoDB's API"),
        (SHORT + '}\nwhen: {"$.a[": 1}', "no path from character 4 on"),
        (SHORT + ", key: $.k}", "fields.key: names no attributes"),
        ("fields: {a: [}", "cannot be read as YAML"),
        ("a: 1\na: 2", "cannot be read as YAML"),
        (b"\xff\xfe", "is no text in UTF-8"),
        ("#" * 300_000, "is no mapping file: it is too large"),
        ("!!timestamp x", "cannot be read as YAML"),
    ],
)
def test_what_is_no_mapping_at_all_is_told(text: str | bytes, told: str) -> None:
    assert any(told in fault for fault in faults(text))
