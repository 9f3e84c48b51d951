"""How the tests of the local AWS ask for reports and metrics: around one time, in milliseconds from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.emulator import LocalAws

__all__ = ["MINUTE", "NOW", "get_series", "metric", "query", "report"]

NOW = 1_800_000_000_000
MINUTE = 60_000


def report(emulator: LocalAws, rule: str, minutes: int = 10, **more: Any) -> dict[str, dict[int, float]]:
    """Return the datapoints of each contributor, in its order."""
    asked = {"Period": 60, "MaxContributorCount": 25, "OrderBy": "Sum", **more}
    told = emulator.client("cloudwatch").get_insight_rule_report(
        RuleName=rule, StartTime=(NOW - minutes * MINUTE) / 1000, EndTime=(NOW + MINUTE) / 1000, **asked
    )
    return {
        "|".join(each["Keys"]): {
            int(point["Timestamp"].timestamp() * 1000) - NOW: point["ApproximateValue"] for point in each["Datapoints"]
        }
        for each in told["Contributors"]
    }


def query(
    name: str, dimensions: Mapping[str, str], stat: str = "Sum", period: int = 60, identifier: str = "m"
) -> dict[str, Any]:
    """Return one query of GetMetricData."""
    named = [{"Name": key, "Value": value} for key, value in dimensions.items()]
    asked = {"Namespace": "AWS/DynamoDB", "MetricName": name, "Dimensions": named}
    return {"Id": identifier, "MetricStat": {"Metric": asked, "Period": period, "Stat": stat}}


def get_series(emulator: LocalAws, *queries: dict[str, Any], minutes: int = 10, **more: Any) -> dict[str, Any]:
    """Ask GetMetricData from so many minutes ago until now."""
    told: dict[str, Any] = emulator.client("cloudwatch").get_metric_data(
        MetricDataQueries=list(queries),
        StartTime=(NOW - minutes * MINUTE) / 1000,
        EndTime=(NOW + MINUTE) / 1000,
        **more,
    )
    return told


def metric(emulator: LocalAws, name: str, stat: str = "Sum", **dimensions: str) -> dict[int, float]:
    """Return one series by minute, of ten minutes."""
    (told,) = get_series(emulator, query(name, dimensions, stat))["MetricDataResults"]
    stamps = [int(stamp.timestamp() * 1000) - NOW for stamp in told["Timestamps"]]
    return dict(zip(stamps, told["Values"], strict=True))
