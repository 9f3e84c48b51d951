from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from analyzer.cli.key_requests import KeyAsked, requests_at
from analyzer.cli.main import app
from analyzer.requests.tokens import Salt

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

    from analyzer.planning.whatif import Asked

KEY = KeyAsked(table="metrics", attribute="PK", value="METRIC#daily_total")


def record(op: str = "UpdateItem", second: int = 0, sort: str | None = "2026", **fields: Any) -> dict[str, Any]:
    key = {"PK": {"S": "METRIC#daily_total"}} | ({"SK": {"S": sort}} if sort else {})
    time = f"2026-03-02T09:00:{second:02}.000Z"
    return {"v": 1, "time": time, "op": op, "table": "metrics", "key": key, "consumed": {"total": 1}} | fields


def asked(*records: dict[str, Any], key: KeyAsked = KEY) -> list[Asked]:
    lines = "\n".join(json.dumps(one) for one in records).encode()
    return list(requests_at(key, [lines]))


def run(tmp_path: Path, *records: dict[str, Any], args: tuple[str, ...] = (), table: str = "metrics") -> Result:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    words = ["whatif", table, "--shard", "PK=METRIC#daily_total", "--into", "4", str(path), *args]
    return CliRunner().invoke(app, words)


def test_it_says_what_the_fullest_part_takes_and_what_readers_pay(tmp_path: Path) -> None:
    writes = [record(consumed={"total": 1}) for _ in range(900)]
    done = run(tmp_path, *writes, record("Query", 1, None, consumed={"total": 0.5}))
    assert done.exit_code == 0
    text = done.stdout
    assert text.startswith("901 requests to that PK of metrics in 2 seconds\n")
    rows = [line.split() for line in text.splitlines()]
    assert ["as", "it", "is", "900", "0.5", "0.25"] in rows
    assert "4 random suffixes" in text
    assert "by the sort key no more than 1 parts help" in text
    assert text.endswith(
        "split: it is too hot for one partition, though 100% of its reads want several items at once\n"
    )
    assert "daily_total" not in text


def test_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    text = run(tmp_path, record("GetItem", sort=None)).stdout
    assert "no more than" not in text
    text = run(tmp_path, record()).stdout
    assert "want several" not in text


def test_it_says_what_wrote_the_log_and_where_it_breaks_off(tmp_path: Path) -> None:
    packed = tmp_path / "cut.jsonl.gz"
    packed.write_bytes(gzip.compress((json.dumps(record()) + "\n").encode() * 9)[:-6])
    calls = [json.dumps({"eventSource": "dynamodb.amazonaws.com", "eventVersion": "1.08", "eventName": "GetItem"})]
    (tmp_path / "trail.jsonl").write_text("\n".join(calls))
    done = run(tmp_path, record(), args=(str(packed), str(tmp_path / "trail.jsonl")))
    assert "breaks off" in done.stderr
    assert "CloudTrail" in done.stderr


def test_it_prints_json_too(tmp_path: Path) -> None:
    done = run(tmp_path, record(), args=("--format", "json"))
    assert json.loads(done.stdout)["before"]["hottest_write_units"] == 1


def test_a_key_that_is_not_in_the_log_is_no_outcome(tmp_path: Path) -> None:
    done = run(tmp_path, record(), table="other")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "dynascope: the log has no request to a table other; it has requests to metrics\n"
    assert (
        "no request of the log uses an index by-day of metrics"
        in run(tmp_path, record(), table="metrics/by-day").stderr
    )
    salt = tmp_path / "salt"
    salt.write_text("a secret of the samplers")
    other = record(key={"PK": {"S": "~kabcdefgh"}}, keys="token", salt_id="abc")
    assert "give the sampler's salt with --salt-file" in run(tmp_path, other).stderr
    done = run(tmp_path, other, args=("--salt-file", str(salt)))
    assert "its tokens are of the salt abc, and not of " in done.stderr


def test_a_sort_key_is_no_key_to_be_split(tmp_path: Path) -> None:
    done = run(tmp_path, record(), record("Query", sort=None), args=("--shard", "SK=2026"))
    assert "--shard takes the partition key, and that of metrics is PK: requests of the log name it alone" in str(
        done.exception
    )
    assert run(tmp_path, record(), args=("--shard", "SK=2026")).exit_code == 0  # the log does not tell


def test_lines_that_could_not_be_read_are_said(tmp_path: Path) -> None:
    half = tmp_path / "half.jsonl"
    counter = json.dumps({"v": 1, "counter": "dropped", "count": 3})
    half.write_text(f"{json.dumps(record())}\n{counter}\n\nnot a record\n{{}}\n")
    said = "dynascope: 2 lines of the log could not be read, and count for nothing\n"
    assert run(tmp_path, record(), args=(str(half),)).stderr == said
    assert run(tmp_path, record()).stderr == ""


@pytest.mark.parametrize("spelling", ["-1500", "-1.50E+3", "-1500.0"])
def test_a_number_is_one_key_however_it_is_written(spelling: str) -> None:
    salt = Salt(b"secret")
    key = KeyAsked(table="metrics", attribute="PK", value=spelling, salt=salt)
    (clear, sampled) = asked(
        record(key={"PK": {"N": "-1.5e3"}}), record(key={"PK": {"N": salt.token("-1500")}}), key=key
    )
    assert (clear.units, sampled.units) == (1, 1)
    text = KeyAsked(table="metrics", attribute="PK", value="1.0")
    assert len(asked(record(key={"PK": {"S": "1.0"}}), record(key={"PK": {"S": "1"}}), key=text)) == 1


def test_it_says_in_words_what_to_do_with_the_items(tmp_path: Path) -> None:
    assert run(tmp_path, record()).stdout.splitlines()[-1].startswith("keep together: ")


@pytest.mark.parametrize("shard", ["PK", "=x", "PK="])
def test_a_shard_without_attribute_or_value_is_wrong_usage(shard: str, tmp_path: Path) -> None:
    done = run(tmp_path, record(), args=("--shard", shard))
    assert done.exception is not None
    assert "--shard names an attribute and a value" in str(done.exception)


def test_an_index_is_named_with_the_table_or_by_the_option(tmp_path: Path) -> None:
    entry = record(index_keys={"by-day": {"PK": {"S": "METRIC#daily_total"}}})
    option = ("--index", "by-day")
    told = run(tmp_path, entry, table="metrics/by-day").stdout
    assert "to that PK of metrics/by-day in" in told
    assert run(tmp_path, entry, args=option).stdout == told
    assert run(tmp_path, entry, args=option, table="metrics/by-day").stdout == told
    done = run(tmp_path, entry, args=option, table="metrics/by-user")
    assert "metrics/by-user --index by-day: name one index" in str(done.exception)


def test_units_are_those_of_the_place_else_the_total_else_the_least() -> None:
    told = asked(
        record(consumed={"total": 5, "table": 2}),
        record(consumed={"total": 5, "table": {"read": 0, "write": 3}}),
        record(consumed={"total": 5}),
        record(consumed=None),
        record("GetItem", consumed=None),
    )
    assert [one.units for one in told] == [2, 3, 5, 1, 0.5]


def test_a_query_without_a_sort_key_reads_a_range() -> None:
    (whole, one) = asked(record("Query", sort=None), record("Query"))
    assert (whole.is_range, one.is_range, one.sort) == (True, False, "2026")


def test_refused_tries_and_the_sample_rate_count() -> None:
    (one,) = asked(record(tries=[{"code": "ThrottlingException"}, {"code": "TimeoutError"}], sample_rate=0.1))
    assert (one.tries, one.weight) == (1, 10)


def test_parts_of_a_batch_share_what_it_cost() -> None:
    def part(op: str, value: str, table: str | None = None) -> dict[str, Any]:
        return {"op": op, "key": {"PK": {"S": value}, "SK": {"S": "1"}}} | ({"table": table} if table else {})

    parts = [part("Put", "METRIC#daily_total"), part("Put", "OTHER"), part("Put", "METRIC#daily_total", "elsewhere")]
    (one,) = asked(record("BatchWriteItem", parts=parts, consumed={"total": 8}))
    assert (one.units, one.is_write) == (4, True)
    gets = [part("Get", "METRIC#daily_total"), part("Get", "METRIC#daily_total")]
    assert [(one.is_range, one.units) for one in asked(record("BatchGetItem", parts=gets, consumed=None))] == [
        (True, 0.5),
        (True, 0.5),
    ]


def test_an_index_is_written_by_its_entries_and_read_by_its_queries() -> None:
    key = KeyAsked(table="metrics", attribute="status", value="OPEN", index="by-status")
    entry = {"by-status": {"status": {"S": "OPEN"}, "at": {"S": "9"}}}
    consumed = {"total": 3, "table": 1, "indexes": {"by-status": 2}}
    written = record(index_keys=entry, consumed=consumed)
    read = record("Query", index="by-status", key={"status": {"S": "OPEN"}}, consumed={"total": 4})
    batch = record("BatchWriteItem", parts=[{"op": "Put", "index_keys": entry, "key": {}}], consumed=consumed)
    assert [(one.is_write, one.units, one.sort) for one in asked(written, read, batch, record(), key=key)] == [
        (True, 2, "9"),
        (False, 0.5, None),
        (True, 2, "9"),
    ]


def test_tokens_are_known_with_their_salt_alone() -> None:
    salt = Salt(b"secret")
    token = record(key={"PK": {"S": f"METRIC#{salt.token('daily_total')}"}})
    assert asked(token) == []
    assert len(asked(token, key=KeyAsked(table="metrics", attribute="PK", value=KEY.value, salt=salt))) == 1


def test_lines_that_are_no_request_to_the_key_are_passed_over() -> None:
    scan = record("Scan", key=None)
    others = [record("ExecuteStatement"), record(table="t"), record(time="then"), {"counter": "dropped"}, scan]
    assert asked(*others) == []
