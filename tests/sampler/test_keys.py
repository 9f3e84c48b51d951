"""Tokens: the same under one salt, wherever they are made; and what the schema knows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from dynascope_sampler.keys import KeyPolicy, Salt, capture
from dynascope_sampler.schema import Schema, TableSchema, load_schema
from hypothesis import given
from hypothesis import strategies as st

from analyzer.requests import tokens
from analyzer.requests.templates import Template

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import json, sys
import dynascope_sampler
from botocore.session import Session
out = open(sys.argv[1], "ab", 0)
session = Session()
session.set_credentials("x", "x")
dynascope_sampler.instrument(session, sink=out.write, request_rate=1.0, caller=sys.argv[2])
client = session.create_client("dynamodb", region_name="us-east-1")
client.meta.events.register("before-send.dynamodb", lambda request, **_: answer(request))
from botocore.awsrequest import AWSResponse
class Raw:
    def stream(self, *_, **__): yield b"{}"
def answer(request): return AWSResponse(request.url, 200, {}, Raw())
for number in range(60):
    case = "CASE#hot" if number % 3 else f"CASE#{sys.argv[2]}{number}"
    client.get_item(TableName="cases", Key={"PK": {"S": case}, "SK": {"S": "META"}})
"""


def test_two_processes_with_one_salt_have_one_heavy_hitter(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for caller in ("a", "b"):
        environment = {"DYNASCOPE_SALT": "shared", "PATH": "", "PYTHONPATH": ":".join(sys.path)}
        subprocess.run([sys.executable, "-c", PROGRAM, str(path), caller], check=True, env=environment)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    counts = Counter((record["salt_id"], record["key"]["PK"]["S"]) for record in records)
    (_, hot), (_, next_one) = counts.most_common(2)
    assert (len(records), hot, next_one) == (120, 80, 1)
    assert {record["caller"] for record in records} == {"a", "b"}


def test_without_a_salt_tokens_join_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYNASCOPE_SALT", raising=False)
    one, other = Salt(None), Salt(None)
    assert not one.joinable
    assert one.salt_id.startswith("p-")
    assert one.salt_id != other.salt_id


def test_a_salt_comes_from_argument_environment_file_or_callable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Salt("s3cret").salt_id
    assert Salt(b"s3cret").salt_id == given
    assert Salt(lambda: "s3cret").salt_id == given
    path = tmp_path / "salt"
    path.write_text("s3cret\n")
    monkeypatch.setenv("DYNASCOPE_SALT_FILE", str(path))
    assert Salt(None).salt_id == given
    monkeypatch.setenv("DYNASCOPE_SALT", "other")
    assert Salt(None).salt_id != given


def test_a_secret_store_that_is_down_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def down() -> str:
        raise RuntimeError("the secret is hunter2")

    assert not Salt(down).joinable
    assert "RuntimeError" in caplog.text
    assert "hunter2" not in caplog.text


@given(st.text(), st.binary(min_size=1), st.frozensets(st.sampled_from(["CASE", "META", "1"])))
def test_the_analyzer_makes_the_same_tokens(text: str, secret: bytes, literals: frozenset[str]) -> None:
    policy = KeyPolicy("token", Salt(secret))
    theirs = tokens.Salt(secret)
    assert policy.text("S", text, literals) == theirs.tokenize(text, literals)
    assert Salt(secret).salt_id == theirs.id


@pytest.mark.parametrize("value", [{"N": "-12.5"}, {"N": "12"}, {"B": "AC8B"}])
def test_the_analyzer_hashes_numbers_and_binaries_alike(value: dict[str, str]) -> None:
    ((kind, text),) = value.items()
    token = KeyPolicy("token", Salt("s")).attribute_value(kind, text, frozenset())
    assert token == tokens.Salt(b"s").tokenize_value(value)


@pytest.mark.parametrize(
    ("value", "captured"),
    [
        ({"S": "a"}, ("S", "a")),
        ({"N": "1"}, ("N", "1")),
        ({"B": b"ab"}, ("B", "YWI=")),
        ({"B": bytearray(b"ab")}, ("B", "YWI=")),
        ({"BOOL": True}, None),
        ({"SS": ["a"]}, None),
    ],
)
def test_only_what_can_be_a_key_is_captured(value: dict[str, Any], captured: tuple[str, str] | None) -> None:
    assert capture(value) == captured


CONTRACT = {
    "version": 1,
    "tables": [
        {
            "name": "*-cases",
            "partition_key": "PK",
            "sort_key": "SK",
            "ttl_attribute": "expiresAt",
            "entities": [{"name": "Case", "PK": "CASE#<caseId>", "SK": "META", "item_bytes": 2000}],
            "indexes": [{"name": "GSI1", "partition_key": ["GSI1PK", "region"], "sort_key": "GSI1SK"}],
            "patterns": [
                {"id": "a", "key": {"GSI1PK": "INV#<id>#STATUS#<status=OPEN|CLOSED>", "GSI1SK": "begins_with DUE#"}},
                {"id": "b", "key": [{"SK": "between FROM#<a> and TO#<b>"}, {"SK": "<= UPTO#v<n>"}]},
            ],
        }
    ],
}


def test_a_contract_is_a_schema_with_the_literals_of_its_templates(tmp_path: Path) -> None:
    path = tmp_path / "contract.json"
    path.write_text(json.dumps(CONTRACT))
    for given_ in (CONTRACT, path, str(path), CONTRACT["tables"]):
        table = Schema(load_schema(given_)).table("prod-cases")  # type: ignore[arg-type]
        assert table.key == ("PK", "SK")
        assert table.partition == ("PK",)
        assert table.indexes == {"GSI1": ("GSI1PK", "region", "GSI1SK")}
        assert table.ttl_attribute == "expiresAt"
        assert table.literals == {"CASE", "META", "INV", "STATUS", "OPEN", "CLOSED", "DUE", "FROM", "TO", "UPTO"}


@pytest.mark.parametrize(
    "template",
    [
        "CASE#<caseId>",
        "META",
        "INV#<id>#STATUS#<status=OPEN|CLOSED>",
        "begins_with DUE#",
        "between FROM#<a> and TO#<b>",
        ">= V#v<n>|x/<m>",
        '"begins_with us"',
    ],
)
def test_sampler_and_analyzer_read_the_same_literals_from_a_template(template: str) -> None:
    table = load_schema({"tables": [{"name": "t", "patterns": [{"id": "p", "key": {"PK": template}}]}]})["t"]
    assert table.literals == Template.parse(template).segments_literal()


def test_a_short_schema_is_a_map_by_table() -> None:
    schema = Schema(load_schema({"t": {"partition_key": "id", "indexes": {"I": ["a", "b"]}, "literals": ["X"]}}))
    assert schema.table("t").key == ("id",)
    assert schema.table("t").indexes == {"I": ("a", "b")}
    assert schema.table("other").key == ()


def test_what_is_learnt_completes_what_was_given() -> None:
    schema = Schema(load_schema({"t": {"literals": ["X"]}}))
    schema.learn_partition("t", "p")
    schema.learn_key("t", ["s", "p"])
    assert set(schema.table("t").key) == {"p", "s"}
    assert schema.table("t").partition == ("p",)
    assert schema.table("t").literals == {"X"}


def test_a_partition_learnt_last_comes_first_in_the_key() -> None:
    schema = Schema({})
    schema.learn_key("t", ["s", "p"])
    schema.learn_partition("t", "p")
    assert schema.table("t").key == ("p", "s")


def test_no_more_than_two_thousand_tables_are_remembered_however_they_are_learnt() -> None:
    schema = Schema({})
    for number in range(2500):
        schema.learn_key(f"k{number}", ["id"])
        schema.learn_partition(f"p{number}", "id")
        schema.learn(f"d{number}", TableSchema(("id",), ("id",)))
    assert len(schema._tables) == 2000
    schema.learn_partition("k0", "id")
    assert (schema.table("k0").partition, schema.table("k2499").key) == (("id",), ())
