"""How often AWS lets an API be called, an account and region.

Sources, read 2026-11-30: AWS General Reference, "CloudWatch endpoints and quotas"; CloudTrail API Reference,
"LookupEvents" (two a second); DynamoDB API Reference, "ListTagsOfResource" (ten a second) and "DescribeLimits" (once a
minute at most). What is not published stands for what other tools get along with.
"""

from __future__ import annotations

__all__ = ["rate_of"]

_PUBLISHED = {
    ("cloudwatch", "GetMetricData"): 500.0,
    ("cloudwatch", "GetMetricStatistics"): 400.0,
    ("cloudwatch", "ListMetrics"): 25.0,
    ("cloudwatch", "GetInsightRuleReport"): 20.0,
    ("cloudwatch", "DescribeInsightRules"): 20.0,
    ("cloudtrail", "LookupEvents"): 2.0,
    ("dynamodb", "ListTagsOfResource"): 10.0,
    ("dynamodb", "DescribeLimits"): 1 / 60,
}

_GUESSED = {
    ("dynamodb", "DescribeTable"): 50.0,
    ("dynamodb", "DescribeContributorInsights"): 20.0,
    ("logs", "FilterLogEvents"): 5.0,
    ("s3", "GetObject"): 200.0,
    ("s3", "ListObjectsV2"): 50.0,
    ("xray", "GetTraceSummaries"): 5.0,
    ("xray", "BatchGetTraces"): 5.0,
}

_ANY_OTHER = 10.0


def rate_of(service: str, operation: str) -> float:
    """Return the calls a second that an API takes."""
    api = (service, operation)
    return _PUBLISHED.get(api) or _GUESSED.get(api) or _ANY_OTHER
