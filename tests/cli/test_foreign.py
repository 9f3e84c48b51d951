"""Logs of other shapes through the whole command: what is said of them, what is judged, and what is not."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import zstandard

from analyzer.cli import foreign
from analyzer.cli.inputs import STDIN
from analyzer.cli.main import execute
from analyzer.cli.reading import LogFile, end_of, read_blocks
from analyzer.cli.shapes import Input
from analyzer.model.instant import format_instant, parse_instant
from collectors.request_log.decoders.cloudtrail import CloudTrailDecoder
from collectors.request_log.decoders.mapped import MappedDecoder
from collectors.request_log.decoders.recognize import DECODERS

CONTRACT = """\
version: 1
callers:
  dashboard: {services: [dash], roles: ["arn:aws:iam::*:role/dash-*"]}
tables:
  - name: orders
    partition_key: PK
    sort_key: SK
    indexes: [{name: GSI1, kind: gsi, partition_key: GSI1PK}]
    patterns:
      - {id: load-order, operation: GetItem, key: {PK: "CUSTOMER#<c>", SK: "ORDER#<o>"}, callers: [dashboard]}
      - {id: place-order, operation: PutItem, key: {PK: "CUSTOMER#<c>", SK: "ORDER#<o>"}}
      - {id: list-orders, operation: Query, key: {PK: "CUSTOMER#<c>", SK: begins_with ORDER#}}
      - {id: open-orders, operation: Query, index: GSI1, key: {GSI1PK: OPEN}}
      - {id: pay, operation: TransactWriteItems, key: {PK: "CUSTOMER#<c>", SK: "ORDER#<o>"}}
"""
ROOT = Path(__file__).parents[2]
KEY = {"PK": "CUSTOMER#1", "SK": "ORDER#1"}
AT = "2026-11-30T10:00:{:02d}Z"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    def patterns(self) -> list[tuple[str, str | None, list[str]]]:
        return sorted((row["kind"], row["pattern"], row["candidates"]) for row in self.report["patterns"])


@pytest.fixture
def analyze(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    contract = tmp_path / "contract.yaml"
    contract.write_text(CONTRACT)

    def run(content: str | bytes, *arguments: str, name: str = "the.log") -> Ran:
        log = tmp_path / name
        log.write_bytes(content if isinstance(content, bytes) else content.encode())
        command = ["analyze", str(log), "--contract", str(contract), "--format", "json", *arguments]
        code = execute(command)
        told = capsys.readouterr()
        return Ran(code, told.out, told.err.replace(str(log), "the.log"))

    return run


def trail(second: int, name: str, parameters: dict[str, Any], **fields: Any) -> dict[str, Any]:
    place = {"awsRegion": "us-east-1", "recipientAccountId": "111122223333", "requestID": f"{name}{second}"}
    source = {"eventSource": "dynamodb.amazonaws.com", "eventName": name, "eventTime": AT.format(second)}
    return source | place | {"requestParameters": {"tableName": "orders"} | parameters} | fields


def call(second: int, name: str, **fields: Any) -> dict[str, Any]:
    entry = {"clientName": "DynamoDBClient", "commandName": f"{name}Command", "timestamp": AT.format(second)}
    return entry | {"service": "dash", "metadata": {"requestId": f"{name}{second}", "attempts": 1}} | fields


def span(second: int, name: str, **attributes: Any) -> dict[str, Any]:
    named = {
        "rpc.system": "aws-api",
        "rpc.service": "DynamoDB",
        "rpc.method": name,
        "aws.dynamodb.table_names": ["orders"],
    }
    return {"name": name, "kind": 3, "start_time": AT.format(second), "attributes": named | attributes}


def lines(*entries: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, entries))


def test_a_trail_is_read_in_the_order_of_time_and_its_roles_are_the_contracts_callers(analyze: Any) -> None:
    role = {"sessionContext": {"sessionIssuer": {"arn": "arn:aws:iam::111122223333:role/dash-api"}}}
    item = {"operation": "Put", "tableName": "orders", "key": KEY}
    events = [
        trail(30, "GetItem", {"key": KEY}, userIdentity=role),
        trail(10, "GetItem", {"key": KEY}, userIdentity=role),
        trail(20, "PutItem", {"key": KEY, "item": ["PK", "SK"]}),
        trail(25, "TransactWriteItems", {"tableName": None, "requestItems": [item]}),
        trail(26, "Query", {}),
    ]  # fmt: skip
    ran = analyze(gzip.compress(json.dumps({"Records": events}).encode()))
    assert ran.err == (
        "dynascope: reading the.log as CloudTrail data events:"
        " keys yes, counts no, units no, filters no, sequences no\n"
    )
    assert ran.patterns() == [
        ("ambiguous", None, ["list-orders"]),
        ("declared", "load-order", []),
        ("declared", "pay", []),
        ("declared", "place-order", []),
    ]
    hidden = {
        row["capability"] for row in ran.report["sight"] if row["table"] == "orders" and row["state"] == "not-seen"
    }
    assert {"REQUEST_COUNTS", "REQUEST_UNITS", "REQUEST_FILTERS"} <= hidden
    assert "REQUEST_KEYS" not in hidden


def test_spans_without_keys_are_ambiguous_and_never_undeclared(analyze: Any) -> None:
    ran = analyze(
        lines(
            span(1, "GetItem"),
            span(2, "PutItem"),
            span(3, "Query"),
            span(4, "Query", **{"aws.dynamodb.index_name": "GSI1"}),
            span(5, "TransactWriteItems", **{"aws.dynamodb.table_names": []}),
        )
    )
    assert "as OpenTelemetry spans: keys no, counts yes, units yes, filters no, sequences no" in ran.err
    assert ran.patterns() == [
        ("ambiguous", None, ["list-orders"]),
        ("ambiguous", None, ["load-order"]),
        ("ambiguous", None, ["open-orders"]),
        ("ambiguous", None, ["pay"]),
        ("ambiguous", None, ["place-order"]),
    ]
    skipped = {row["detector"] for row in ran.report["skipped"] if row["table"] == "orders"}
    assert {"hot-key", "filter-heavy-query"} <= skipped


def test_puts_of_the_javascript_sdk_have_the_declared_key_and_sides(analyze: Any) -> None:
    item = {name: {"S": value} for name, value in KEY.items()} | {"GSI1PK": {"S": "OPEN"}}
    units = {
        "CapacityUnits": 2,
        "Table": {"CapacityUnits": 1},
        "GlobalSecondaryIndexes": {"GSI1": {"CapacityUnits": 1}},
    }
    put = call(1, "PutItem", input={"TableName": "orders", "Item": item}, output={"ConsumedCapacity": units})
    ran = analyze(lines(put), "--reveal-keys")
    assert ran.patterns() == [("declared", "place-order", [])] * 2
    assert {json.dumps(row["key"]) for row in ran.report["keys"]} >= {'{"PK": "CUSTOMER#1"}', '{"GSI1PK": "OPEN"}'}


def test_the_same_traffic_in_the_sdks_shape_convicts_the_same_key(analyze: Any) -> None:
    def told(second: float, order: str, *, refused: bool = False) -> dict[str, Any]:
        at = format_instant(parse_instant(AT.format(0)) + round(second * 1000))
        units = {"ConsumedCapacity": {"TableName": "orders", "CapacityUnits": 100, "Table": {"CapacityUnits": 100}}}
        reason = {
            "reason": "TableReadKeyRangeThroughputExceeded",
            "resource": "arn:aws:dynamodb:us-east-1:1:table/orders",
        }
        failed = {"name": "ThrottlingException", "message": "slow down", "throttlingReasons": [reason]}
        key = {"PK": "CUSTOMER#1", "SK": f"ORDER#{order}"}
        entry = call(
            0,
            "GetItem",
            input={"TableName": "orders", "Key": key},
            **({"error": failed} if refused else {"output": units}),
        )
        return entry | {"timestamp": at, "metadata": {"requestId": f"{at}{order}", "attempts": 1}}

    entries = []
    for second in range(120):
        entries += [told(second + n / 30, "hot") for n in range(29)]
        entries += [told(second + 0.98, "hot", refused=True), told(second + 0.99, str(second))]
    ran = analyze(lines(*entries))
    found = {finding["detector"]: finding for finding in ran.report["findings"]}
    assert (found["hot-key"]["severity"], found["hot-key"]["confidence"]) == ("critical", "certain")
    assert found["hot-key"]["pattern"] == "load-order"


def test_what_cannot_be_read_is_a_gap_with_its_reasons(analyze: Any) -> None:
    good = call(1, "GetItem", input={"TableName": "orders", "Key": KEY}, output={})
    ran = analyze(lines(good, call(2, "GetItem")) + "\n{ clientName: 'DynamoDBClient',\n  input: {} }\n")
    (gap,) = ran.report["gaps"]
    assert gap["reason"] == "malformed"
    assert gap["detail"] == (
        "2 lines of the request log are no records: a request has no input: the logger leaves it out;"
        " an entry that looks like a request is no whole JSON object"
    )


def test_a_log_of_which_nothing_can_be_read_says_why(analyze: Any) -> None:
    ran = analyze(lines({**call(2, "GetItem"), "timestamp": None}))
    assert ran.code == 3
    assert ran.err.endswith(
        "the.log holds no request that could be read as AWS SDK for JavaScript v3: "
        "a request has no time: let the logger add one (`timestamp`)\n"
    )


def test_a_log_of_no_known_shape_says_so_and_how_to_name_one(analyze: Any) -> None:
    ran = analyze("plain text\n")
    assert ran.err.startswith(
        "dynascope: the.log is of no shape that is known, and read as request records; --input names a shape: wrapped,"
    )
    assert ran.code == 3


def test_several_processes_read_logs_of_other_shapes_likewise(analyze: Any) -> None:
    content = lines(
        *(call(n, "GetItem", input={"TableName": "orders", "Key": KEY}) for n in range(9)), call(9, "GetItem")
    )
    one, two = analyze(content), analyze(content, "--jobs", "2")
    assert two.report == one.report
    assert len(two.report["gaps"]) == 1


def test_the_end_of_such_a_log_is_known(analyze: Any) -> None:
    content = lines(*(call(n, "GetItem", input={"TableName": "orders", "Key": KEY}, output={}) for n in (5, 50)))
    ran = analyze(content, "--since", "30s")
    assert sum(row["requests"] for row in ran.report["patterns"]) == 1


def test_a_mapping_is_for_logs_that_only_its_writer_knows(analyze: Any, tmp_path: Path) -> None:
    mapping = tmp_path / "map.yaml"
    mapping.write_text("fields: {time: $.t, op: $.o, table: orders, key: {PK: $.p, SK: $.s}}")
    content = lines({"t": AT.format(1), "o": "GetItem", "p": "CUSTOMER#1", "s": "ORDER#1"})
    ran = analyze(content, "--input", "mapped", "--mapping", str(mapping))
    assert "as application log, as mapped: keys yes, counts no" in ran.err
    assert ran.patterns() == [("declared", "load-order", [])]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--input", "mapped"), "--input mapped and --mapping FILE go together"),
        (("--mapping", "x.yaml"), "--input mapped and --mapping FILE go together"),
        (("--input", "mapped", "--mapping", "none.yaml"), "none.yaml cannot be read: No such file"),
        (("--input", "mapped", "--mapping", "{bad}"), "bad.yaml:1: fields: does not map `time`"),
        (("--input", "cloudtrails"), "Invalid value for '--input'"),
    ],
)
def test_what_cannot_work_is_usage(analyze: Any, tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("fields: {op: $.o, table: $.t}")
    ran = analyze("{}", *(argument.format(bad=bad) for argument in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_a_shape_can_be_named_and_ours_needs_no_word(analyze: Any) -> None:
    ours = lines({"v": 1, "time": AT.format(1), "op": "Query", "table": "orders"})
    assert analyze(ours).err == ""
    assert analyze(ours, "--input", "native").err == ""
    assert "as CloudTrail data events" in analyze(ours, "--input", "cloudtrail").err


def test_infer_reads_them_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "sdk.log"
    log.write_text(
        lines(*(call(n, "GetItem", input={"TableName": "orders", "Key": KEY}, output={}) for n in range(30)))
    )
    assert execute(["infer", str(log)]) == 0
    told = capsys.readouterr()
    assert "as AWS SDK for JavaScript v3" in told.err
    assert "operation: GetItem" in told.out


def test_standard_input_is_looked_at_and_lost_nothing_of(monkeypatch: pytest.MonkeyPatch) -> None:
    content = gzip.compress(lines(*(trail(n, "GetItem", {"key": KEY}) for n in range(50))).encode())
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BufferedReader(io.BytesIO(content))}))
    log = LogFile(STDIN)
    (said,) = foreign.choose([log], Input.AUTO, None)
    assert said.startswith("reading standard input as CloudTrail data events")
    assert b"".join(read_blocks(log)).count(b"\n") == 50


def test_logs_of_one_shape_are_said_together(tmp_path: Path) -> None:
    logs = []
    for name in ("a.json", "b.json", "empty.json"):
        path = tmp_path / name
        path.write_text("" if name == "empty.json" else lines(trail(1, "GetItem", {"key": KEY})))
        logs.append(LogFile(path))
    (said,) = foreign.choose(logs, Input.AUTO, None)
    assert said.startswith("reading 2 logs as CloudTrail data events: keys yes")


def test_more_records_than_are_held_come_in_order_as_far_as_is_held(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(foreign, "_MOST_HELD", 2000)
    monkeypatch.setattr(foreign, "_BLOCK", 300)
    path = tmp_path / "trail.json"
    seconds = [*range(1, 60, 2), *range(0, 60, 2)]
    path.write_text(lines(*(trail(second, "GetItem", {"key": KEY}) for second in seconds)))
    log = LogFile(path, decoder=CloudTrailDecoder())
    blocks = list(read_blocks(log))
    assert b"".join(blocks).count(b"\n") == 60
    assert all(len(block) < 1000 for block in blocks)
    assert end_of([log]) == parse_instant(AT.format(59))


def test_a_packed_log_that_breaks_off_is_read_so_far(tmp_path: Path) -> None:
    path = tmp_path / "trail.json.gz"
    path.write_bytes(
        gzip.compress(lines(*(trail(n % 60, "GetItem", {"key": KEY}) for n in range(3000))).encode())[:-30]
    )
    log = LogFile(path)
    foreign.choose([log], Input.AUTO, None)
    assert b"".join(read_blocks(log)).count(b"\n") > 10
    assert log.breaks_off is not None


def test_every_decoder_can_be_named() -> None:
    assert {*Input} == {"auto", MappedDecoder.name, *(decoder.name for decoder in DECODERS)}


PRINTED = """\
{
  clientName: 'DynamoDBClient',
  commandName: 'GetItemCommand',
  input: { TableName: 'orders', Key: { PK: [Object], SK: [Object] } },
  metadata: {
    attempts: 1
  }
}
"""


def test_what_console_log_prints_is_told_with_the_logger_that_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "js.log").write_text(PRINTED)
    assert execute(["analyze", str(tmp_path / "js.log")]) == 3
    told = capsys.readouterr().err
    assert "js.log is what console.log prints of the entries of the AWS SDK for JavaScript" in told
    assert "--input names a shape" not in told
    assert foreign._JSON_LOGGER in told


def test_the_logger_is_that_of_the_documentation() -> None:
    assert foreign._JSON_LOGGER in (ROOT / "docs/collectors/request-log.md").read_text("utf-8")


OURS = b'{"v": 1, "time": "2026-11-30T10:00:00Z", "op": "GetItem", "table": "orders"}\n'


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(gzip.compress(OURS)),
        gzip.compress(zstandard.ZstdCompressor().compress(OURS)),
        OURS.decode().encode("utf-16"),
        gzip.compress(OURS.decode().encode("utf-16")),
    ],
    ids=["gzip twice", "zstd in gzip", "UTF-16", "UTF-16 in gzip"],
)
def test_what_is_packed_twice_or_is_utf_16_is_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    log = LogFile(path)
    assert foreign.choose([log], Input.AUTO, None) == ()
    assert b"".join(read_blocks(log)) == OURS


@pytest.mark.parametrize(
    "torn",
    [gzip.compress(gzip.compress(OURS)[:-6]), gzip.compress(gzip.compress(OURS))[:-9]],
    ids=["inside", "outside"],
)
def test_what_is_torn_within_is_read_so_far(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(torn)
    log = LogFile(path)
    assert b"".join(read_blocks(log)) in {b"", OURS}
    assert log.breaks_off is not None


def test_an_entry_longer_than_the_sample_tells_the_shape_too(tmp_path: Path) -> None:
    path = tmp_path / "log"
    call = {"clientName": "DynamoDBClient", "commandName": "GetItemCommand", "input": {"TableName": "t"}}
    whole = call | {"timestamp": AT.format(0), "output": {"Item": {"a": {"S": "x" * 2_000_000}}}, "metadata": {}}
    path.write_text(json.dumps(whole) + "\n")
    log = LogFile(path)
    (told,) = foreign.choose([log], Input.AUTO, None)
    assert "AWS SDK for JavaScript v3" in told
    assert b"".join(read_blocks(log)).count(b"\n") == 1
