"""CloudWatch's GetInsightRuleReport, and the metrics of a rule that expressions ask for.

Of the metrics only MaxContributorValue and Maximum mean anything on DynamoDB's rules; the others are there and wrong,
as they are on AWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deploy.demo.emulator.clock import MINUTE, Clock, minute_of
from deploy.demo.emulator.insights import Insights, periods
from deploy.demo.emulator.minutes import Minutes, top
from deploy.demo.emulator.wire import Rejected, Stamp, invalid_value, seconds_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deploy.demo.emulator.minutes import Key, Place

__all__ = ["Reports"]

_CONTRIBUTORS = 25
"""Source: Developer Guide, "Contributor Insights: how it works": asking for more is an error."""
_CONTRIBUTORS_UNASKED = 10
_WINDOW_SECONDS = 24 * 3600
_RETENTION_SECONDS = 15 * 86_400
_TOP_SET = 500
_METRICS = ("UniqueContributors", "MaxContributorValue", "SampleCount", "Sum", "Minimum", "Maximum", "Average")


class Reports:
    """Reads reports from the minutes."""

    def __init__(self, minutes: Minutes, insights: Insights, clock: Clock) -> None:
        self._minutes = minutes
        self._insights = insights
        self._clock = clock
        self.delay_seconds = 0.0
        self.top_set = _TOP_SET
        """How many keys a period keeps: a key below has no datapoint in it, however much it took."""

    def serve(self, place: Place, body: Mapping[str, Any]) -> dict[str, Any]:
        """Serve GetInsightRuleReport."""
        most = int(body.get("MaxContributorCount") or _CONTRIBUTORS_UNASKED)
        order = body.get("OrderBy") or "Sum"
        if not 1 <= most <= _CONTRIBUTORS:
            raise invalid_value(f"MaxContributorCount must be 1 to {_CONTRIBUTORS} for rules of DynamoDB, not {most}")
        if order not in {"Sum", "Maximum"}:
            raise invalid_value(f"OrderBy must be Sum or Maximum, not {order}")
        asked = body.get("Metrics") or ()
        if not set(asked) <= set(_METRICS):
            raise invalid_value("Metrics names one that there is not")
        period = int(body.get("Period") or 0)
        rule, found = self._periods(place, str(body.get("RuleName")), body, period)
        labels = ["PartitionKey", "SortKey"][: 1 + rule.startswith("SK")]
        return {"KeyLabels": labels} | _tell(found, most, str(order), list(asked))

    def metric(
        self, place: Place, rule: str, metric: str, window: tuple[float, float], period: int
    ) -> dict[int, float]:
        """Return one metric of a rule by period."""
        span = {"StartTime": window[0], "EndTime": window[1]}
        _, found = self._periods(place, rule, span, period)
        return {at: _metrics(keys)[metric] for at, keys in found.items()}

    def _periods(
        self, place: Place, name: str, body: Mapping[str, Any], period: int
    ) -> tuple[str, dict[int, dict[Key, float]]]:
        start, end = seconds_of(body.get("StartTime")), seconds_of(body.get("EndTime"))
        if period < MINUTE or period % MINUTE:
            raise invalid_value(f"Period must be a multiple of {MINUTE}")
        if not 0 < end - start <= _WINDOW_SECONDS:
            raise invalid_value("StartTime must be before EndTime, by 24 hours at most")
        rule = self._insights.rule(place, name)
        if rule is None:
            raise Rejected("ResourceNotFoundException", "There is no such insight rule", 404)
        ranked, since = rule
        now = self._clock.now()
        first = max(minute_of(start), minute_of(now - _RETENTION_SECONDS))
        told: dict[int, dict[Key, float]] = {}
        for at, keys in periods(self._minutes, ranked, (first, -(-int(end) // MINUTE) * MINUTE), period):
            if at >= since // MINUTE * MINUTE and is_published(at, period, now, self.delay_seconds):
                told[at] = dict(top(keys, self.top_set))
        return ranked.rule, told


def is_published(at: float, period: int, now: float, delay_seconds: float) -> bool:
    """Whether a period can be seen: at once as it fills where there is no delay, else so long after its end."""
    return at + period + delay_seconds <= now if delay_seconds else at <= now


def _tell(found: Mapping[int, Mapping[Key, float]], most: int, order: str, asked: list[str]) -> dict[str, Any]:
    sums: dict[Key, float] = {}
    peaks: dict[Key, float] = {}
    for keys in found.values():
        for key, value in keys.items():
            sums[key] = sums.get(key, 0.0) + value
            peaks[key] = max(peaks.get(key, 0.0), value)
    listed = [key for key, _ in top(sums if order == "Sum" else peaks, most)]
    told: dict[str, Any] = {
        "AggregationStatistic": "Sum",
        "AggregateValue": sum(sums[key] for key in listed),
        "ApproximateUniqueCount": len(sums),
        "Contributors": [
            {
                "Keys": list(key),
                "ApproximateAggregateValue": sums[key],
                "Datapoints": [
                    {"Timestamp": Stamp(at), "ApproximateValue": keys[key]} for at, keys in found.items() if key in keys
                ],
            }
            for key in listed
        ],
    }
    if asked:
        told["MetricDatapoints"] = [
            {"Timestamp": Stamp(at)} | {name: value for name, value in _metrics(keys).items() if name in asked}
            for at, keys in found.items()
        ]
    return told


def _metrics(keys: Mapping[Key, float]) -> dict[str, float]:
    most = max(keys.values())
    wrong = dict.fromkeys(_METRICS, 1.0)
    return {**wrong, "MaxContributorValue": most, "Maximum": most}
