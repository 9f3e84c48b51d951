from __future__ import annotations

from typing import Any, ClassVar

import pytest

from analyzer.config import Settings
from analyzer.deliver import place_of
from analyzer.doctor.examine import examine
from analyzer.knowledge.iam import Tier, actions_of, features_of
from analyzer.permissions import delivered, names_of, scope_of
from analyzer.setup import Setup, build_setup
from collectors.aws.errors import permission_of
from tests.doctor.test_places import ANSWERS, ENABLED
from tests.test_sources import HERE, NOW, Aws

WRITES = {"InsightsWatch", "InsightsWatchCost", "InsightsWatchRole", "Canary", "CanaryTables"}
ROLE = "arn:aws:iam::111122223333:role/watch"


def setup_of(**settings: Any) -> Setup:
    return build_setup(Settings.model_validate(settings))


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"request_log": {"files": "log"}}, set()),
        ({"aws": {}}, {"TableCatalog", "TableCatalogTables", "CloudwatchMetrics", "Changes"}),
        ({"aws": {"collect": ["changes"]}}, {"Changes"}),
        (
            {"aws": {"collect": ["contributor-insights"]}},
            {"ContributorInsights", "ContributorInsightsTables", "ContributorInsightsReports"},
        ),
        (
            {"aws": {"collect": ["table-catalog"], "tables": {"tags": {"team": "*"}}}},
            {"TableCatalog", "TableCatalogTables", "TableCatalogTags"},
        ),
        (
            {"aws": {"collect": ["changes"], "accounts": [{"account": "111122223333", "role": ROLE}]}},
            {"Changes", "AccountsByRole"},
        ),
        (
            {"request_log": {"s3": [{"bucket": "b"}], "cloudwatch_logs": [{"group": "g"}], "xray": [{}]}},
            {"LogBuckets", "LogObjects", "LogGroups", "Xray"},
        ),
    ],
)
def test_what_is_read_is_allowed_and_what_is_done_by_hand(settings: dict[str, Any], names: set[str]) -> None:
    assert names_of(setup_of(**settings)) == names | WRITES


def test_a_lease_in_a_bucket_is_one_more() -> None:
    setup = setup_of(aws={"collect": ["changes"]})
    assert names_of(setup, "b/lease") == {"Changes", "Lease", *WRITES}
    assert scope_of(setup, "b/lease").lease == "b/lease"


@pytest.mark.parametrize(("to", "scope"), [("s3://b/a/h", "b/a/h/"), ("s3://b", "b/"), ("/var/history", None)])
def test_history_in_a_bucket_is_written_read_and_listed(to: str, scope: str | None) -> None:
    setup = setup_of(aws={"collect": ["changes"]}, history={"to": to})
    assert scope_of(setup).history == scope
    more = set() if scope is None else {"HistoryBucket", "HistoryObjects"}
    assert names_of(setup) == {"Changes", *more, *WRITES}


def test_reports_go_to_objects_under_a_prefix_and_to_topics() -> None:
    topic = "arn:aws:sns:eu-west-1:111122223333:weekly"
    places = ("s3://b/reports/", "s3://b", "s3://b/now.html", "s3://b", f"sns:{topic}", "https://chat.example.com/x")
    assert delivered([place_of(one) for one in places]) == (
        ("b/reports/dynascope-*", "b/dynascope-*", "b/now.html"),
        (topic,),
    )


def test_tables_buckets_and_groups_are_named() -> None:
    logs = {
        "s3": [{"bucket": "b", "prefix": "p/", "region": "eu-west-1"}, {"bucket": "b", "prefix": "q/"}],
        "cloudwatch_logs": [{"group": "/g"}],
    }
    aws = {
        "regions": ["us-east-1"],
        "tables": {"include": ["orders*", "c[ab]"]},
        "accounts": [{"account": "111122223333", "role": ROLE, "regions": ["us-west-2"]}, {}],
    }
    scope = scope_of(setup_of(aws=aws, request_log=logs))
    assert scope.tables == ("orders*", "*")
    assert (scope.buckets, scope.objects, scope.groups) == (("b",), ("b/p/*", "b/q/*"), ("/g",))
    assert scope.roles == (ROLE,)
    assert scope.regions == ("eu-west-1", "us-east-1", "us-west-2")


def test_where_one_place_takes_the_region_of_the_environment_no_region_is_named() -> None:
    account = {"account": "111122223333", "regions": ["us-west-2"]}
    assert scope_of(setup_of(aws={"accounts": [account, {}]})).regions == ()
    assert scope_of(setup_of(request_log={"s3": [{"bucket": "b", "region": "eu-west-1"}]})).regions == ()


class Asked(Aws):
    """Remembers which permission each call needs."""

    skew_ms: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__(HERE, **{**ANSWERS, **ENABLED})
        self.needed: set[str] = set()

    async def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        self.needed.add(permission_of(service, operation))
        return await super().call(service, operation, **params)


@pytest.mark.parametrize("source", ["table-catalog", "cloudwatch-metrics", "changes", "contributor-insights"])
async def test_what_doctor_asks_of_a_source_is_what_its_policy_allows(source: str) -> None:
    setup, aws = setup_of(aws={"collect": [source]}), Asked()
    aws_like: Any = aws
    await examine(setup, aws_like, lambda: NOW)
    tier = Tier.KEYS if source == "contributor-insights" else Tier.METRICS
    assert aws.needed - {"sts:GetCallerIdentity"} == actions_of(features_of(tier, names_of(setup)))
