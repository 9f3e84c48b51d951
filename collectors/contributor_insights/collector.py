"""Contributor Insights: the keys that AWS itself ranks, where somebody has switched that on. Read-only."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from analyzer.errors import AbsentError, CollectError, MalformedError
from analyzer.knowledge.names import table_name
from analyzer.model.batch import Batch, Check
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.target import Target
from analyzer.model.window import Window
from collectors.asking import HERE, Paging, ask_check, fold_gaps, follow_pages, in_turns
from collectors.contributor_insights.blind_spots import Enabled, blind_spots, rule_gaps
from collectors.contributor_insights.parse import (
    ACCESSED,
    MOST_CONTRIBUTORS,
    InsightReport,
    InsightRules,
    parse_insights,
    parse_report,
    read_report,
    series_of,
    unlisted_minutes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from analyzer.interfaces import AwsCaller
    from analyzer.model.batch import InsightSeries
    from analyzer.model.instant import Instant
    from collectors.asking import Spot
    from collectors.contributor_insights.config import ContributorInsightsConfig

__all__ = ["ContributorInsights"]

_SOURCE = SourceName.CONTRIBUTOR_INSIGHTS
_LISTED = Paging("ContributorInsightsSummaries")
_ON = frozenset({"ENABLED", "ENABLING", "FAILED"})
_LONGEST_REPORT_MS = 86_400_000
_RETENTION_MS = 15 * 86_400_000
"""A report spans a day at most, and lies within the last fifteen (CloudWatch User Guide, "Viewing reports")."""


class _Question(NamedTuple):
    """One rule to ask."""

    target: Target
    rule: str
    name: str
    mode: str


class _Answer(NamedTuple):
    """What a rule told, and what it did not."""

    question: _Question
    series: tuple[InsightSeries, ...] = ()
    gaps: tuple[Gap, ...] = ()


class ContributorInsights:
    """Asks the rules of one account and region.

    `conceal` makes of a table, an attribute and a key's clear value what may be kept: clear values go no further.
    `expected` are tables and indexes that are known to be there: those without Contributor Insights are told as gaps.
    `clock` says what has settled. `spot` is where calls go; `account_id` names the account where that
    is the daemon's own.
    """

    name: ClassVar[str] = _SOURCE

    def __init__(
        self,
        aws: AwsCaller,
        config: ContributorInsightsConfig,
        conceal: Callable[[str, str, str], str],
        spot: Spot = HERE,
        account_id: str | None = None,
        expected: Callable[[], Iterable[Target]] = lambda: (),
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._aws = aws
        self._config = config
        self._conceal = conceal
        self._spot = spot
        self._account = spot.account or account_id
        self._expected = expected
        self._clock = clock
        self._enabled: tuple[Enabled, ...] = ()
        self._not_enabled: tuple[Gap, ...] = ()
        self._asked_at: Instant | None = None

    async def collect(self, window: Window) -> Batch:
        """Read the keys of a window, and again those of the overlap before it, as far as they have settled."""
        gaps = await self.discover(window.end)
        stretch = self._settled(window)
        if stretch is None:
            detail = f"GetInsightRuleReport: what is younger than {self._config.delay_ms // 1000} s has not settled"
            gaps.append(Gap(_SOURCE, GapReason.LATE, detail, "ask again a little later", start=window.start))
            return self._batch(window, (), gaps)
        questions = [
            _Question(target, rule, name, insights.mode)
            for target, insights in self._enabled
            for rule, name in insights.rules.items()
        ]
        answers = await in_turns(lambda one: self._ask(one, stretch), questions, self._config.concurrent)
        gaps += [gap for answer in answers for gap in answer.gaps]
        return self._batch(window, answers, [*gaps, *rule_gaps(self._enabled)], stretch)

    async def discover(self, now: Instant) -> list[Gap]:
        """Ask which tables and indexes are enabled, once in a while; what could not be asked is asked again soon."""
        if self._asked_at is not None and abs(now - self._asked_at) < self._config.discover_every_ms:
            return list(self._not_enabled)
        api = ("dynamodb", "ListContributorInsights")
        only = self._config.only
        paged = await follow_pages(self._aws, api, _LISTED, self._spot, {} if only is None else {"TableName": only})
        gaps = [] if paged.error is None else [Gap.from_error(_SOURCE, paged.error)]
        listed = {self._target(row): str(row.get("ContributorInsightsStatus")) for row in paged.rows}
        meant = {target: status for target, status in listed.items() if self._config.takes(target.table)}
        known = {one.target: one for one in self._enabled} if gaps else {}
        on = [target for target, status in meant.items() if status in _ON]
        found = await in_turns(self._describe, [*on, *(t for t in known if t not in meant)], self._config.concurrent)
        enabled = []
        for target, insights in found:
            if isinstance(insights, InsightRules):
                enabled += [Enabled(target, insights)] if insights.status in _ON else []
            elif not isinstance(insights, AbsentError):
                gaps.append(self._gap(insights, target))
        self._enabled = tuple(enabled)
        self._not_enabled = tuple(self._missing(on)) if not gaps else ()
        self._asked_at = None if gaps else now
        return [*gaps, *self._not_enabled]

    def enabled(self) -> tuple[Enabled, ...]:
        """Return the tables and indexes that were found enabled."""
        return self._enabled

    def questions(self, name: str, window: Window) -> list[dict[str, object]]:
        """Return the members of each GetInsightRuleReport with which a rule is asked of a window, by its name."""
        stretch = self._settled(window)
        days = () if stretch is None else _days(stretch, self._clock())
        return [asked for day in days for asked in self._questions(name, day)]

    async def check(self) -> tuple[Check, ...]:
        """Try what it needs, and say what is enabled."""
        self._asked_at = None
        now = self._clock()
        gaps = await self.discover(now)
        failed = [gap for gap in gaps if gap.reason is not GapReason.NOT_ENABLED]
        name = "contributor-insights: enabled"
        checks = [Check(name, "error", gap.detail, gap.hint) for gap in fold_gaps(failed)]
        if not self._enabled and not failed:
            hint = "aws dynamodb update-contributor-insights, or for a while: dynascope insights watch TABLE --for 30m"
            checks.append(Check(name, "unchecked", "no table or index has it switched on", hint))
        if self._enabled:
            places = ", ".join(str(one.target) for one in self._enabled[:5])
            checks.append(Check(name, "ok", f"{len(self._enabled)} tables and indexes, such as {places}"))
        checks += [Check(name, "warning", gap.detail, gap.hint) for gap in rule_gaps(self._enabled)]
        rules = [rule for one in self._enabled for rule in one.insights.rules.values()]
        for rule in rules[:1]:
            asked = _params(rule, Window(now - 300_000, now), self._config.period_seconds)
            api = ("cloudwatch", "GetInsightRuleReport")
            checks.append(await ask_check(self._aws, _SOURCE, api, self._spot, **asked))
        return tuple(checks)

    def _target(self, row: dict[str, Any]) -> Target:
        return Target(self._account, self._spot.region, table_name(str(row.get("TableName"))), row.get("IndexName"))

    def _missing(self, on: list[Target]) -> Iterator[Gap]:
        for target in self._expected():
            if target not in on and self._config.takes(target.table):
                index = "" if target.index is None else f" --index {target.index}"
                hint = f"switch it on for a while: dynascope insights watch {target.table}{index} --for 30m"
                detail = "Contributor Insights is not enabled"
                yield Gap(_SOURCE, GapReason.NOT_ENABLED, detail, hint, target.table, target.index)

    async def _describe(self, target: Target) -> tuple[Target, InsightRules | CollectError]:
        asked = {"TableName": target.table} | ({} if target.index is None else {"IndexName": target.index})
        operation = "DescribeContributorInsights"
        try:
            answer = await self._call("dynamodb", operation, asked)
            return target, parse_insights(answer)
        except CollectError as error:
            return target, error
        except ValueError:
            hint = "look at it with `aws dynamodb describe-contributor-insights`"
            return target, MalformedError(f"{operation}: the answer is not as AWS documents it", hint=hint)

    def _settled(self, window: Window) -> Window | None:
        """Return the stretch to ask for, its overlap included, in whole periods; None where nothing has settled."""
        period = self._config.period_seconds * 1000
        end = min(window.end, (self._clock() - self._config.delay_ms) // period * period)
        start = (window.start - self._config.overlap_ms) // period * period
        return Window(start, -(-end // period) * period) if start < end else None

    async def _ask(self, question: _Question, stretch: Window) -> _Answer:
        """Ask a rule, and make series of what it told."""
        target = question.target
        reports: list[InsightReport] = []
        error = await self._read_into(reports, question, stretch)
        if isinstance(error, AbsentError):
            self._asked_at = None
        gaps = () if error is None else (self._gap(error, target, stretch),)
        if not reports:
            return _Answer(question, gaps=gaps)
        of = series_of(target, question.rule, question.mode, self._config.period_seconds)
        series = parse_report(reports, of, lambda label, value: self._conceal(target.table, label, value))
        return _Answer(question, series, gaps)

    async def _read_into(
        self, reports: list[InsightReport], question: _Question, stretch: Window
    ) -> CollectError | None:
        """Read day by day, and once more minutes whose hottest key was not listed; return what went wrong."""
        period = self._config.period_seconds
        try:
            for day in _days(stretch, self._clock()):
                asked = [self._report(one) for one in self._questions(question.name, day)]
                told = await asyncio.gather(*asked, return_exceptions=True)
                reports += [one for one in told if isinstance(one, InsightReport)]
                failed = next((one for one in told if isinstance(one, BaseException)), None)
                if failed is not None:
                    raise failed
            missed = [t for r in reports if question.rule in ACCESSED for t in unlisted_minutes(r, period)]
            for minute in missed[: self._config.most_questions]:
                alone = Window(minute, minute + period * 1000)
                reports += [await self._report(_params(question.name, alone, period))]
        except CollectError as error:
            return error
        return None

    def _questions(self, name: str, stretch: Window) -> list[dict[str, object]]:
        period = self._config.period_seconds
        return [_params(name, stretch, period, order) for order in self._config.orders]

    async def _report(self, asked: Mapping[str, object]) -> InsightReport:
        answer = await self._call("cloudwatch", "GetInsightRuleReport", asked)
        hint = "it is asked again by itself; what is unusual about the rule, please report"
        malformed = MalformedError("GetInsightRuleReport: the answer is not as AWS documents it", hint=hint)
        if not answer.keys() & {"KeyLabels", "Contributors", "AggregationStatistic"}:
            raise malformed
        try:
            return read_report(answer)
        except ValueError as error:
            raise malformed from error

    @staticmethod
    def _gap(error: CollectError, target: Target, stretch: Window | None = None) -> Gap:
        return Gap.from_error(_SOURCE, error, window=stretch, table=target.table, index=target.index)

    async def _call(self, service: str, operation: str, params: Mapping[str, object]) -> dict[str, Any]:
        spot = self._spot
        return await self._aws.call(service, operation, region=spot.region, account=spot.account, **params)

    def _covers(self, answers: Iterable[_Answer], stretch: Window) -> Iterator[Covers]:
        """Yield what was read whole; where nothing is enabled, everything was: there is nothing to read."""
        whole: dict[Target, bool] = {}
        for answer in answers:
            whole[answer.question.target] = whole.get(answer.question.target, True) and not answer.gaps
        if not whole and self._asked_at is not None:
            yield Covers(_SOURCE, stretch)
        for target, is_whole in whole.items():
            if is_whole:
                yield Covers(_SOURCE, stretch, target.table, target.index)

    def _batch(
        self, window: Window, answers: Iterable[_Answer], gaps: list[Gap], stretch: Window | None = None
    ) -> Batch:
        insights = tuple(series for answer in answers for series in answer.series)
        return Batch(
            window=window,
            covers=() if stretch is None else tuple(self._covers(answers, stretch)),
            insights=insights,
            gaps=fold_gaps([*gaps, *blind_spots(insights)]),
            account=self._account,
            region=self._spot.region,
        )


def _params(name: str, stretch: Window, period_seconds: int, order: str = "Sum") -> dict[str, object]:
    """Return the question to a rule: the order is always said, since its default is not published."""
    return {
        "RuleName": name,
        "StartTime": stretch.start / 1000,
        "EndTime": stretch.end / 1000,
        "Period": period_seconds,
        "MaxContributorCount": MOST_CONTRIBUTORS,
        "Metrics": ["MaxContributorValue"],
        "OrderBy": order,
    }


def _days(stretch: Window, now: Instant) -> Iterator[Window]:
    """Yield a stretch in parts that one report may span, as far back as reports reach."""
    start = max(stretch.start, now - _RETENTION_MS)
    while start < stretch.end:
        end = min(start + _LONGEST_REPORT_MS, stretch.end)
        yield Window(start, end)
        start = end
