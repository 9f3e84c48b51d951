from __future__ import annotations

from analyzer.model.batch import InsightSeries, MetricSeries
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.target import Target
from collectors.contributor_insights.blind_spots import blind_spots

CASES = Target(None, None, "cases")
BOTH, THROTTLED = "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"


def series(rule: str = "PKC", mode: str = BOTH, target: Target = CASES, *values: float) -> InsightSeries:
    times = tuple(range(len(values)))
    return InsightSeries(target, rule, mode, 60, ("a",) if values else (), times, values)


def metric(name: str, *values: float, **dimensions: str) -> MetricSeries:
    named = {"TableName": "cases", **dimensions}
    times = tuple(range(len(values)))
    return MetricSeries(name, named, "Sum", 60, times, values, is_complete=True)


def test_where_all_can_be_seen_nothing_is_told() -> None:
    assert blind_spots([series(), series("PKT")]) == ()
    assert blind_spots([]) == ()


def test_in_throttled_mode_accessed_keys_are_not_visible() -> None:
    index = CASES.at("GSI1")
    (table, gsi) = blind_spots([series("PKT", THROTTLED), series("PKT", THROTTLED, index), series("SKT", THROTTLED)])
    assert table == Gap(
        SourceName.CONTRIBUTOR_INSIGHTS,
        GapReason.NOT_ENABLED,
        "DescribeContributorInsights: in mode THROTTLED_KEYS the most accessed keys are not ranked",
        "switch for a while: dynascope insights watch cases --for 30m",
        "cases",
    )
    assert (gsi.index, gsi.hint) == (
        "GSI1",
        "switch for a while: dynascope insights watch cases --index GSI1 --for 30m",
    )


def test_statements_are_not_counted() -> None:
    latency = metric("SuccessfulRequestLatency", 3, Operation="ExecuteStatement")
    idle = metric("SuccessfulRequestLatency", 0, Operation="BatchExecuteStatement")
    (gap,) = blind_spots([series(), series("PKC", BOTH, CASES.at("GSI1"))], [latency, idle])
    assert (gap.reason, gap.detail) == (
        GapReason.UNSUPPORTED,
        "Contributor Insights does not count PartiQL, and there is some: ExecuteStatement",
    )
    assert blind_spots([series()], [idle, metric("SuccessfulRequestLatency", 3, Operation="Query")]) == ()


def test_an_empty_throttle_rule_clears_nothing_while_an_index_refuses_writes() -> None:
    refused = metric("WriteThrottleEvents", 0, 7, GlobalSecondaryIndexName="GSI1")
    (gap,) = blind_spots([series("PKT"), series("SKT")], [refused])
    assert gap.detail.startswith("PKT: writes of cases refused for want of capacity in GSI1 are not counted")
    assert blind_spots([series("PKT", BOTH, CASES, 3.0)], [refused]) == ()
    assert blind_spots([series("PKC")], [refused]) == ()
    others = [
        metric("WriteThrottleEvents", 7),
        metric("ReadThrottleEvents", 7, GlobalSecondaryIndexName="GSI1"),
        metric("WriteThrottleEvents", 0, GlobalSecondaryIndexName="GSI1"),
    ]
    assert blind_spots([series("PKT")], others) == ()
