"""The least that AWS must allow for what is read, in three tiers. Pure; a test holds it to the calls that are made.

`metrics` bears no key of anybody's items. `keys` adds what does. `writes` adds the only changes that are ever made, and
those by hand. Which actions take resources is AWS's own: Service Authorization Reference, read 2026-11-30.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FEATURES", "IMPLIED", "SAMPLE_SCOPE", "Feature", "Scope", "Tier", "actions_of", "features_of", "policy"]


class Tier(StrEnum):
    """How much is allowed; each holds those before it."""

    METRICS = "metrics"
    KEYS = "keys"
    WRITES = "writes"

    @property
    def rank(self) -> int:
        """0 for metrics up to 2."""
        return _TIERS.index(self)


_TIERS = list(Tier)


class Scope(Struct, frozen=True, kw_only=True):
    """What is named in resources: tables and buckets by their names or globs, roles and log groups as configured.

    `regions` empty is every region. `probed` are tables that a canary may write to, `objects` `bucket/key*` of logs,
    `lease` is `bucket/key`, `history` what history is written to: `bucket/prefix/`, or `bucket/`. Weekly reports go to
    `reports`, `bucket/key` or `bucket/prefix/*`, and to `topics`, which are ARNs.
    """

    regions: tuple[str, ...] = ()
    tables: tuple[str, ...] = ("*",)
    probed: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    lease: str | None = None
    history: str | None = None
    reports: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


SAMPLE_SCOPE = Scope(
    probed=("REPLACE-TABLE",),
    roles=("arn:aws:iam::REPLACE-ACCOUNT:role/REPLACE-ROLE",),
    buckets=("REPLACE-LOG-BUCKET",),
    objects=("REPLACE-LOG-BUCKET/*",),
    groups=("REPLACE-LOG-GROUP",),
    lease="REPLACE-BUCKET/REPLACE-LEASE",
    history="REPLACE-HISTORY-BUCKET/",
    reports=("REPLACE-REPORT-BUCKET/*",),
    topics=("arn:aws:sns:REPLACE-REGION:REPLACE-ACCOUNT:REPLACE-TOPIC",),
)
"""What the published policies name; a configuration names its own."""


class Feature(Struct, frozen=True):
    """One thing that is read or done: its statement's name, its tier, its actions, and what they are allowed on.

    `on` is the kind of resource: `*`, table, probed (tables that a canary writes to), rule, role, bucket, object,
    group, lease, history's bucket and objects, reports, or topic.
    """

    name: str
    tier: Tier
    actions: tuple[str, ...]
    on: str = "*"
    condition: dict[str, dict[str, Any]] = {}


FEATURES: tuple[Feature, ...] = (
    Feature("AccountsByRole", Tier.METRICS, ("sts:AssumeRole",), "role"),
    Feature(
        "TableCatalog",
        Tier.METRICS,
        (
            "application-autoscaling:DescribeScalableTargets",
            "application-autoscaling:DescribeScalingActivities",
            "application-autoscaling:DescribeScalingPolicies",
            "application-autoscaling:DescribeScheduledActions",
            "dynamodb:DescribeLimits",
            "dynamodb:ListTables",
        ),
    ),
    Feature(
        "TableCatalogTables",
        Tier.METRICS,
        ("dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive"),
        "table",
    ),
    Feature("TableCatalogTags", Tier.METRICS, ("dynamodb:ListTagsOfResource",), "table"),
    Feature("CloudwatchMetrics", Tier.METRICS, ("cloudwatch:GetMetricData", "cloudwatch:ListMetrics")),
    Feature("Changes", Tier.METRICS, ("cloudtrail:LookupEvents",)),
    Feature("Xray", Tier.METRICS, ("xray:BatchGetTraces", "xray:GetTraceSummaries")),
    Feature("Lease", Tier.METRICS, ("s3:GetObject", "s3:PutObject"), "lease"),
    Feature("HistoryBucket", Tier.METRICS, ("s3:ListBucket",), "history-bucket"),
    Feature("HistoryObjects", Tier.METRICS, ("s3:DeleteObject", "s3:GetObject", "s3:PutObject"), "history-objects"),
    Feature("ReportObjects", Tier.METRICS, ("s3:PutObject",), "reports"),
    Feature("ReportTopics", Tier.METRICS, ("sns:Publish",), "topic"),
    Feature(
        "ContributorInsights",
        Tier.KEYS,
        ("cloudwatch:DescribeInsightRules", "dynamodb:ListContributorInsights"),
    ),
    Feature("ContributorInsightsTables", Tier.KEYS, ("dynamodb:DescribeContributorInsights",), "table"),
    Feature("ContributorInsightsReports", Tier.KEYS, ("cloudwatch:GetInsightRuleReport",), "rule"),
    Feature("LogBuckets", Tier.KEYS, ("s3:ListBucket",), "bucket"),
    Feature("LogObjects", Tier.KEYS, ("s3:GetObject",), "object"),
    Feature("LogGroups", Tier.KEYS, ("logs:FilterLogEvents",), "group"),
    Feature(
        "InsightsWatch",
        Tier.WRITES,
        (
            "dynamodb:DescribeContributorInsights",
            "dynamodb:DescribeTable",
            "dynamodb:UpdateContributorInsights",
        ),
        "table",
    ),
    Feature("InsightsWatchCost", Tier.WRITES, ("cloudwatch:DescribeInsightRules", "cloudwatch:GetMetricData")),
    Feature("CanaryTables", Tier.WRITES, ("dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive"), "probed"),
    Feature(
        "Canary",
        Tier.WRITES,
        ("dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query"),
        "probed",
        {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["__dynascope_canary__*"]}},
    ),
    Feature(
        "InsightsWatchRole",
        Tier.WRITES,
        ("iam:CreateServiceLinkedRole",),
        condition={"StringEquals": {"iam:AWSServiceName": "contributorinsights.dynamodb.amazonaws.com"}},
    ),
)
"""Every statement there is. sts:GetCallerIdentity needs no permission."""

IMPLIED = frozenset({"iam:CreateServiceLinkedRole"})
"""Actions that nobody calls: AWS does, the first time that Contributor Insights is switched on in an account."""

_RULE = "DynamoDBContributorInsights-*"
_INDEXED = frozenset({"ContributorInsightsTables", "InsightsWatch", "Canary"})
"""Of these an index is a resource of its own."""


def features_of(tier: Tier, names: frozenset[str] | None = None) -> tuple[Feature, ...]:
    """Return the features up to a tier, or those of them that have these names."""
    known = (feature for feature in FEATURES if feature.tier.rank <= tier.rank)
    return tuple(feature for feature in known if names is None or feature.name in names)


def actions_of(features: Iterable[Feature]) -> frozenset[str]:
    """Return all that is allowed."""
    return frozenset(action for feature in features for action in feature.actions)


def policy(features: Iterable[Feature], scope: Scope = SAMPLE_SCOPE) -> dict[str, Any]:
    """Return the policy document; a feature whose resources the scope does not name is left out."""
    statements = []
    for feature in features:
        resources = _resources(feature, scope)
        if resources:
            statement = {"Sid": feature.name, "Effect": "Allow", "Action": sorted(feature.actions)}
            condition = {"Condition": feature.condition} if feature.condition else {}
            statements.append({**statement, "Resource": resources, **condition})
    return {"Version": "2012-10-17", "Statement": statements}


def _resources(feature: Feature, scope: Scope) -> list[str]:
    partition = _partition(scope.regions)
    regions = scope.regions or ("*",)
    found: dict[str, list[str]] = {
        "*": ["*"],
        "role": list(scope.roles),
        "bucket": [f"arn:{partition}:s3:::{bucket}" for bucket in scope.buckets],
        "object": [f"arn:{partition}:s3:::{key}" for key in scope.objects],
        "lease": [] if scope.lease is None else [f"arn:{partition}:s3:::{scope.lease}"],
        "history-bucket": [f"arn:{partition}:s3:::{name.partition('/')[0]}" for name in _known(scope.history)],
        "history-objects": [f"arn:{partition}:s3:::{name}*" for name in _known(scope.history)],
        "reports": [f"arn:{partition}:s3:::{name}" for name in scope.reports],
        "topic": list(scope.topics),
        "rule": [f"arn:{partition}:cloudwatch:{region}:*:insight-rule/{_RULE}" for region in regions],
        "group": [
            group if group.startswith("arn:") else f"arn:{partition}:logs:{region}:*:log-group:{group}:*"
            for group in scope.groups
            for region in regions
        ],
        "table": _tables(feature, scope.tables, partition, regions),
        "probed": _tables(feature, scope.probed, partition, regions),
    }
    return list(dict.fromkeys(found[feature.on]))


def _known(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _tables(feature: Feature, tables: tuple[str, ...], partition: str, regions: tuple[str, ...]) -> list[str]:
    return [
        f"arn:{partition}:dynamodb:{region}:*:table/{table}{part}"
        for region in regions
        for table in tables
        for part in (("", "/index/*") if feature.name in _INDEXED and table != "*" else ("",))
    ]


def _partition(regions: tuple[str, ...]) -> str:
    """Return AWS's own name of the part of the world; regions of several parts are not looked at together."""
    first = regions[0] if regions else ""
    return "aws-cn" if first.startswith("cn-") else "aws-us-gov" if first.startswith("us-gov-") else "aws"
