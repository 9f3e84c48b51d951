from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import botocore.session
import pytest

from analyzer.knowledge.iam import FEATURES, IMPLIED, SAMPLE_SCOPE, Scope, Tier, actions_of, features_of, policy
from collectors.aws.errors import permission_of
from collectors.canary.parse import PREFIX

ROOT = Path(__file__).parents[2]
SERVICES = ("application-autoscaling", "cloudtrail", "cloudwatch", "dynamodb", "logs", "s3", "sns", "sts", "xray")
TELLING = {"parse.py", "rates.py", "errors.py", "differences.py", "facts.py", "scaling.py", "blind_spots.py"}
"""Modules that name operations and call none; decoders do so too."""
WATCHED = re.compile(
    r"(?:Batch|Transact)?(?:Get|Put|Update|Delete|Write)Items?|Query|Scan|(?:Batch)?Execute\w+|Search\w+"
)
"""The requests that we look at, and never make; the canary makes some."""
FREE = {"sts:GetCallerIdentity"}
"""Needs no permission (Service Authorization Reference, "AWS Security Token Service")."""


def operations() -> dict[str, str]:
    """Return the service of each operation that AWS has, of those services that we call."""
    session = botocore.session.get_session()
    models = {service: session.get_service_model(service) for service in SERVICES}
    return {operation: service for service, model in models.items() for operation in model.operation_names}


def called() -> set[str]:
    """Return the permission of each operation that the code of the collectors, and of a lease, names in a call."""
    rooms = (ROOT / "collectors", ROOT / "analyzer/doctor")
    return called_in(*(ROOT / "analyzer").glob("*.py"), *(path for room in rooms for path in room.rglob("*.py")))


def called_in(*places: Path) -> set[str]:
    """Return the same of some modules."""
    known = operations()
    found = set()
    for path in places:
        if path.name in TELLING or "decoders" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known:
                if known[node.value] == "dynamodb" and WATCHED.fullmatch(node.value) and "canary" not in path.parts:
                    continue
                found.add(permission_of(known[node.value], node.value))
    return found - FREE


def test_every_operation_that_is_called_is_allowed_and_nothing_else_is() -> None:
    assert actions_of(features_of(Tier.WRITES)) - IMPLIED == called()


@pytest.mark.parametrize(
    ("room", "names"),
    [
        ("table_catalog", {"TableCatalog", "TableCatalogTables", "TableCatalogTags"}),
        ("cloudwatch_metrics", {"CloudwatchMetrics"}),
        ("changes", {"Changes"}),
        ("contributor_insights", {"ContributorInsights", "ContributorInsightsTables", "ContributorInsightsReports"}),
        ("insights_watch", {"InsightsWatch", "InsightsWatchCost", "InsightsWatchRole"}),
        ("canary", {"Canary", "CanaryTables"}),
    ],
)
def test_a_collector_calls_what_its_own_statements_allow(room: str, names: set[str]) -> None:
    allowed = actions_of(features_of(Tier.WRITES, frozenset(names))) - IMPLIED
    assert called_in(*(ROOT / "collectors" / room).rglob("*.py")) <= allowed


def test_the_walk_through_the_code_finds_what_there_is() -> None:
    assert {"cloudwatch:GetMetricData", "s3:GetObject", "dynamodb:UpdateContributorInsights"} <= called()


@pytest.mark.parametrize("tier", Tier)
def test_a_published_policy_is_what_the_tier_allows(tier: Tier, request: pytest.FixtureRequest) -> None:
    path = ROOT / "deploy/iam" / f"{tier}.json"
    text = json.dumps(policy(features_of(tier)), indent=2) + "\n"
    if request.config.getoption("--rewrite-golden"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text


def test_the_first_tier_bears_no_key_and_only_the_last_changes_a_table() -> None:
    first, second, last = (actions_of(features_of(tier)) for tier in Tier)
    assert not [action for action in first if "Insight" in action or action.startswith("logs:")]
    assert first < second < last
    writing = re.compile(r":(?:Update|Create|Delete|Put)")
    ours = {"s3:DeleteObject", "s3:PutObject"}  # the lease, history, and reports
    assert {action for action in second if writing.search(action)} == ours
    assert "dynamodb:GetItem" not in last
    assert "dynamodb:Scan" not in last
    assert not any("*" in action for action in last)


def test_a_policy_fits_what_iam_takes() -> None:
    document = policy(features_of(Tier.WRITES))
    assert len(json.dumps(document, separators=(",", ":"))) < 6144  # IAM's bound of a managed policy
    sids = [statement["Sid"] for statement in document["Statement"]]
    assert len(set(sids)) == len(sids)
    assert all(re.fullmatch(r"[A-Za-z0-9]+", sid) for sid in sids)


def statements(scope: Scope, *names: str) -> dict[str, Any]:
    document = policy(features_of(Tier.WRITES, frozenset(names)), scope)
    return {statement["Sid"]: statement for statement in document["Statement"]}


def test_what_the_scope_names_is_allowed_and_no_more() -> None:
    scope = Scope(regions=("eu-west-1",), tables=("orders*",), buckets=("b",), objects=("b/p/*",), groups=("/g",))
    found = statements(scope, "TableCatalogTables", "InsightsWatch", "LogBuckets", "LogObjects", "LogGroups", "Lease")
    assert {sid: one["Resource"] for sid, one in found.items()} == {
        "TableCatalogTables": ["arn:aws:dynamodb:eu-west-1:*:table/orders*"],
        "LogBuckets": ["arn:aws:s3:::b"],
        "LogObjects": ["arn:aws:s3:::b/p/*"],
        "LogGroups": ["arn:aws:logs:eu-west-1:*:log-group:/g:*"],
        "InsightsWatch": [
            "arn:aws:dynamodb:eu-west-1:*:table/orders*",
            "arn:aws:dynamodb:eu-west-1:*:table/orders*/index/*",
        ],
    }


def test_a_log_group_that_is_an_arn_stays_one_in_every_region() -> None:
    group = "arn:aws:logs:eu-west-1:111122223333:log-group:/g:*"
    found = statements(Scope(regions=("eu-west-1", "us-east-1"), groups=(group,)), "LogGroups")
    assert found["LogGroups"]["Resource"] == [group]


@pytest.mark.parametrize(
    ("region", "partition"), [("eu-west-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")]
)
def test_each_part_of_the_world_has_its_own_name(region: str, partition: str) -> None:
    (resource,) = statements(Scope(regions=(region,)), "TableCatalogTables")["TableCatalogTables"]["Resource"]
    assert resource.startswith(f"arn:{partition}:dynamodb:{region}:")


def test_the_role_that_aws_makes_may_be_made_for_nothing_else() -> None:
    (found,) = statements(SAMPLE_SCOPE, "InsightsWatchRole").values()
    assert found["Condition"] == {"StringEquals": {"iam:AWSServiceName": "contributorinsights.dynamodb.amazonaws.com"}}


def test_a_canary_writes_under_its_own_keys_alone() -> None:
    found = statements(Scope(probed=("orders",)), "Canary")["Canary"]
    assert found["Condition"]["ForAllValues:StringLike"] == {"dynamodb:LeadingKeys": [f"{PREFIX}*"]}
    assert found["Resource"] == ["arn:aws:dynamodb:*:*:table/orders", "arn:aws:dynamodb:*:*:table/orders/index/*"]


def test_every_feature_allows_something_on_something() -> None:
    assert {statement["Sid"] for statement in policy(FEATURES)["Statement"]} == {one.name for one in FEATURES}
