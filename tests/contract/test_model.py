from __future__ import annotations

import pytest

from analyzer.contract.load import contract_from
from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.model.target import Target


def table(name: str, **rest: object) -> dict[str, object]:
    return {"name": name, "partition_key": "PK", "patterns": []} | rest


CONTRACT = contract_from(
    {
        "callers": {
            "web": {"services": ["dash*"], "roles": "arn:aws:iam::*:role/dash-*", "user_agents": ["*exec-env/x*"]}
        },
        "tables": [
            table("*"),
            table("*-cases", owner="glob"),
            table("dev-cases", owner="exact"),
            table("orders", owner="eu", where={"regions": ["eu-*"]}),
            table("orders", owner="us", where={"accounts": ["1111*"]}),
        ],
    }
)


@pytest.mark.parametrize(
    ("target", "owner"),
    [
        (Target(None, None, "dev-cases"), "exact"),
        (Target(None, None, "prod-cases"), "glob"),
        (Target("1111", "eu-west-1", "orders"), "eu"),
        (Target("1111", "us-east-1", "orders", "GSI1"), "us"),
        (Target("2222", "us-east-1", "orders"), None),
        (Target(None, None, "orders"), "eu"),
        (Target(None, None, "anything"), None),
    ],
)
def test_a_target_falls_under_its_exact_name_then_a_glob_then_the_unnamed_table(
    target: Target, owner: str | None
) -> None:
    found = CONTRACT.table(target)
    assert found is not None
    assert found.owner == owner


def test_an_empty_contract_declares_nothing() -> None:
    assert EMPTY_CONTRACT.table(Target(None, None, "t")) is None
    assert EMPTY_CONTRACT.pattern(Target(None, None, "t"), "x") is None
    assert EMPTY_CONTRACT.lexicon().schema("t") is None


@pytest.mark.parametrize(
    ("service", "role", "agent", "name"),
    [
        ("dashboard", None, None, "web"),
        ("web", None, None, "web"),
        ("other", "arn:aws:iam::1:role/dash-1", None, "web"),
        (None, None, "aws-sdk exec-env/x", "web"),
        ("other", "arn:aws:iam::1:role/x", "curl", "other"),
        (None, None, None, None),
        ("arn:aws:iam::1:role/dash-1", None, None, "web"),
        ("arn:aws:iam::1:role/x", None, None, "arn:aws:iam::1:role/x"),
    ],
)
def test_a_caller_is_known_by_service_role_or_agent(
    service: str | None, role: str | None, agent: str | None, name: str | None
) -> None:
    assert CONTRACT.caller_of(service, role, agent) == name


FULL = contract_from(
    {
        "tables": [
            table(
                "cases",
                sort_key="SK",
                indexes=[{"name": "GSI1", "partition_key": ["a", "b"]}],
                entities=[{"name": "Case", "PK": "CASE#<id>", "SK": "META"}],
                patterns=[
                    {"id": "get", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "META"}},
                    {"id": "put", "operation": "PutItem", "key": {"PK": "CASE#<id>", "SK": "NOTE#<n>"}},
                ],
            ),
            table(
                "cases",
                where={"regions": ["eu-*"]},
                patterns=[{"id": "x", "operation": "GetItem", "key": {"PK": "X#<id>"}}],
            ),
        ]
    }
)


def test_declarations_are_looked_up_by_name() -> None:
    cases = FULL.tables[0]
    assert (cases.schema(None), cases.schema("GSI1"), cases.schema("G")) == (
        (("PK",), ("SK",)),
        (("a", "b"), ()),
        ((), ()),
    )
    assert (cases.has_sure_keys(None), cases.has_sure_keys("GSI1"), cases.has_sure_keys("G")) == (True, True, False)
    got = FULL.pattern(Target(None, None, "cases"), "get")
    assert got is not None
    assert (got.writes, got.scans, got.template("SI")) == (False, False, None)
    assert cases.entity("Case") is not None
    assert cases.entity(None) is None


def test_the_lexicon_knows_keys_and_templates_of_patterns_and_entities() -> None:
    lexicon = FULL.lexicon()
    assert lexicon.schema("cases", "GSI1") == (("a", "b"), ())
    assert lexicon.literals("cases") == {"CASE", "META", "NOTE", "X"}
    assert lexicon.classify("cases", "PK", "=", ("X#1",)).declared == ("X#<id>",)


def test_a_table_whose_keys_nobody_named_has_no_schema_in_the_lexicon() -> None:
    lexicon = contract_from([{"id": "a", "pk": "x", "index": "G", "query_type": "query"}]).lexicon()
    assert (lexicon.schema("t"), lexicon.schema("t", "G")) == (None, None)
