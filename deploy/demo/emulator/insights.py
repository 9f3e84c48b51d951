"""Contributor Insights: which resources are watched in which mode, their rules, and reports of them.

Sources: Developer Guide, "Contributor Insights: how it works"; the API models of DynamoDB and CloudWatch, read
2026-11-30. Where AWS says nothing (what a truncated rule name looks like, how large a period's top set is) this is our
choice, and nobody may rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deploy.demo.emulator.clock import MINUTE
from deploy.demo.emulator.minutes import Minutes, Ranked, Resource
from deploy.demo.emulator.refusal import answer_error, invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deploy.demo.emulator.clock import Clock
    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.store import Schema

__all__ = ["ACCESSED", "MODES", "THROTTLED", "Insights", "Watch"]

Body = dict[str, Any]

ACCESSED = "ACCESSED_AND_THROTTLED_KEYS"
THROTTLED = "THROTTLED_KEYS"
MODES = (ACCESSED, THROTTLED)

_ENABLING_SECONDS = 1.0
_NAME_LENGTH = 128
_RULE_QUOTA = 100
_PAGE = 100
_RULE_PAGE = 500


@dataclass(slots=True)
class Watch:
    """One watched resource: since when, in which mode, and its rules with the second from which each counts."""

    mode: str
    changed_at: float
    is_enabled: bool = True
    rules: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Rule (PKC, SKC, PKT or SKT) to its name and since when it counts."""
    failure: str | None = None


class Insights:
    """The state of Contributor Insights in all places."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.watches: dict[Resource, Watch] = {}
        self.enabling_seconds = _ENABLING_SECONDS
        self.rule_quota = _RULE_QUOTA

    def status(self, watch: Watch | None) -> str:
        """Return the status by the emulator's clock."""
        if watch is None:
            return "DISABLED"
        if watch.failure is not None:
            return "FAILED"
        is_settling = self._clock.now() < watch.changed_at + self.enabling_seconds
        if watch.is_enabled:
            return "ENABLING" if is_settling else "ENABLED"
        return "DISABLING" if is_settling else "DISABLED"

    def enable(self, resource: Resource, schema: Schema, mode: str, since: float | None = None) -> Watch:
        """Watch a resource; throttle rules stay through a change of mode, the others come and go with it.

        With `since`, it is enabled at once and its rules count from then.
        """
        now = self._clock.now()
        old = self.watches.get(resource)
        kept = old.rules if old is not None and old.is_enabled else {}
        wanted = (*(("PKC",) if mode == ACCESSED else ()), "PKT")
        wanted += tuple(rule.replace("PK", "SK") for rule in wanted) if schema.sort else ()
        began = now if since is None else since
        rules = {rule: kept.get(rule) or (_rule_name(rule, resource, now), began) for rule in wanted}
        watch = Watch(mode, now if since is None else now - self.enabling_seconds, rules=rules)
        others = sum(len(each.rules) for name, each in self.watches.items() if name != resource)
        if others + len(rules) > self.rule_quota:
            watch.failure, watch.rules = "LimitExceededException", {}
        self.watches[resource] = watch
        return watch

    def disable(self, resource: Resource) -> Watch:
        """Stop watching: the rules are gone."""
        watch = Watch(ACCESSED, self._clock.now(), is_enabled=False)
        self.watches[resource] = watch
        return watch

    def update(self, resource: Resource, schema: Schema, body: Body) -> Body:
        """Serve UpdateContributorInsights: without a mode it is ACCESSED_AND_THROTTLED_KEYS, whatever it was."""
        action = body.get("ContributorInsightsAction")
        mode = str(body.get("ContributorInsightsMode") or ACCESSED)
        if action not in {"ENABLE", "DISABLE"} or mode not in MODES:
            raise invalid("ContributorInsightsAction and ContributorInsightsMode must satisfy their enums")
        watch = self.enable(resource, schema, mode) if action == "ENABLE" else self.disable(resource)
        return _named(resource) | {
            "ContributorInsightsStatus": self.status(watch),
            "ContributorInsightsMode": watch.mode,
        }

    def describe(self, resource: Resource) -> Body:
        """Serve DescribeContributorInsights."""
        watch = self.watches.get(resource)
        told = _named(resource) | {"ContributorInsightsStatus": self.status(watch)}
        if watch is None:
            return told
        told["LastUpdateDateTime"] = watch.changed_at
        told["ContributorInsightsRuleList"] = [name for name, _ in watch.rules.values()]
        told["ContributorInsightsMode"] = watch.mode
        if watch.failure is not None:
            told["FailureException"] = {
                "ExceptionName": watch.failure,
                "ExceptionDescription": f"Contributor Insights could not be enabled: {watch.failure}",
            }
        return told

    def list(self, place: Place, body: Body) -> Body:
        """Serve ListContributorInsights."""
        found = sorted(
            (each for each in self.watches if each.place == place and body.get("TableName") in {None, each.table}),
            key=lambda each: (each.table, each.index or ""),
        )
        start, size = int(body.get("NextToken") or 0), int(body.get("MaxResults") or _PAGE)
        told: Body = {
            "ContributorInsightsSummaries": [
                _named(each)
                | {
                    "ContributorInsightsStatus": self.status(self.watches[each]),
                    "ContributorInsightsMode": self.watches[each].mode,
                }
                for each in found[start : start + size]
            ]
        }
        if start + size < len(found):
            told["NextToken"] = str(start + size)
        return told

    def describe_rules(self, place: Place, body: Mapping[str, Any]) -> Body:
        """Serve CloudWatch's DescribeInsightRules: the rules of DynamoDB, which make up all that we serve."""
        watched = ((name, watch) for name, watch in self.watches.items() if name.place == place)
        names = sorted(rule for _, watch in watched if watch.is_enabled for rule, _ in watch.rules.values())
        start, size = int(body.get("NextToken") or 0), int(body.get("MaxResults") or _RULE_PAGE)
        schema = {"State": "ENABLED", "Schema": '{"Name": "CloudWatchLogRule", "Version": 1}', "Definition": "{}"}
        told: Body = {"InsightRules": [{"Name": name, **schema} for name in names[start : start + size]]}
        if start + size < len(names):
            told["NextToken"] = str(start + size)
        return told

    def rule(self, place: Place, name: str) -> tuple[Ranked, float] | None:
        """Return what a rule ranks and since when; None where there is no such rule."""
        for resource, watch in self.watches.items():
            if resource.place != place:
                continue
            for rule, (told, since) in watch.rules.items():
                if told == name:
                    return Ranked(resource, rule), since
        return None

    def go_back(self, at: float) -> None:
        """Take what was changed later than a time as changed then; what has settled stays so."""
        for watch in self.watches.values():
            has_settled = self.status(watch) in {"ENABLED", "DISABLED"}
            latest = at - self.enabling_seconds if has_settled else at
            watch.changed_at = min(watch.changed_at, latest)
            watch.rules = {rule: (name, min(since, at)) for rule, (name, since) in watch.rules.items()}

    def forget(self, place: Place, table: str) -> None:
        """Drop what is said of a table that is gone."""
        self.watches = {
            resource: watch
            for resource, watch in self.watches.items()
            if (resource.place, resource.table) != (place, table)
        }


def _rule_name(rule: str, resource: Resource, now: float) -> str:
    name = resource.table if resource.index is None else f"{resource.table}-{resource.index}"
    head, tail = f"DynamoDBContributorInsights-{rule}-", f"-{int(now * 1000)}"
    return head + name[: _NAME_LENGTH - len(head) - len(tail)] + tail


def _named(resource: Resource) -> Body:
    return {"TableName": resource.table} | ({} if resource.index is None else {"IndexName": resource.index})


def periods(
    minutes: Minutes, ranked: Ranked, window: tuple[int, int], period: int
) -> Iterator[tuple[int, Mapping[tuple[str, ...], float]]]:
    """Yield each period that has keys, with what each key has in it; both ends of the window are minutes."""
    by_minute = minutes.keys.get(ranked, {})
    start, end = window
    if (end - start) // MINUTE > len(by_minute):
        there = sorted(minute for minute in by_minute if start <= minute < end)
    else:
        there = [minute for minute in range(start, end, MINUTE) if minute in by_minute]
    found: dict[int, dict[tuple[str, ...], float]] = {}
    for minute in (minute for minute in there if by_minute[minute]):
        of_period = found.setdefault(start + (minute - start) // period * period, {})
        for key, value in by_minute[minute].items():
            of_period[key] = of_period.get(key, 0.0) + value
    yield from found.items()


def unknown_table(name: str) -> Exception:
    """Answer that there is no such table or index."""
    return answer_error("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found")
