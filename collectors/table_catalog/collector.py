"""The table catalog: what the control plane says of tables, polled slowly, and what changed between two polls."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import msgspec

from analyzer.errors import AbsentError, CollectError, MalformedError
from analyzer.model.batch import Batch, Check
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.table import TableSnapshot
from analyzer.model.target import Target
from collectors.asking import HERE, Paging, ask_check, fold_gaps, follow_pages, in_turns, member
from collectors.table_catalog.differences import bounds_changes, first_changes, table_changes, without_doubles
from collectors.table_catalog.parse import parse_table, parse_time_to_live
from collectors.table_catalog.scaling import activity_changes, parse_scaling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analyzer.interfaces import AwsCaller
    from analyzer.model.finding import Change, Direction
    from analyzer.model.instant import Instant
    from analyzer.model.table import ScalingLimits, TimeToLive
    from analyzer.model.window import Window
    from collectors.asking import Spot
    from collectors.table_catalog.config import TableCatalogConfig

__all__ = ["TableCatalog"]

T = TypeVar("T")

_MOST_CHANGES = 1000
"""Changes of the look-back that are remembered; the oldest go first."""
_ACTIVITY_PAGES = 40
"""Pages of 50 activities: two thousand steps of autoscaling a day and region, far more than its cooldowns allow."""
_LISTED = Paging("TableNames", "LastEvaluatedTableName", "ExclusiveStartTableName")
_SCALING = {
    "ScalableTargets": "DescribeScalableTargets",
    "ScalingPolicies": "DescribeScalingPolicies",
    "ScheduledActions": "DescribeScheduledActions",
    "ScalingActivities": "DescribeScalingActivities",
}


class _Seen(NamedTuple):
    """One table as far as it could be described; no snapshot where it is not meant, not there, or `is_unknown`."""

    snapshot: TableSnapshot | None
    gaps: tuple[Gap, ...] = ()
    is_unknown: bool = False


class _Tags(NamedTuple):
    """A table's tags, and when they were read."""

    tags: dict[str, str]
    at: Instant


class TableCatalog:
    """Describes the tables of one account and region.

    `spot` is where calls go; `account_id` names the account in targets where the calls go to the daemon's own.
    """

    name: ClassVar[str] = SourceName.TABLE_CATALOG

    def __init__(
        self, aws: AwsCaller, config: TableCatalogConfig, spot: Spot = HERE, account_id: str | None = None
    ) -> None:
        self._aws = aws
        self._config = config
        self._spot = spot
        self._account = spot.account or account_id
        self._known: dict[str, TableSnapshot] = {}
        self._bounds: dict[tuple[Target, Direction], ScalingLimits] | None = None
        self._tags: dict[str, _Tags] = {}
        self._changes: tuple[Change, ...] = ()
        self._known_quotas: dict[str, float] = {}
        self._quotas_at: Instant | None = None
        self.unknown: frozenset[str] = frozenset()
        """Tables that could not be described at the last look: they may be there still, as they were."""

    async def collect(self, window: Window) -> Batch:
        """Describe every table that is meant, as it stands at the window's end; each failure is a gap of its table."""
        described = await self.describe(window)
        tables = described.tables
        limits, more = await self._scaling(window)
        quotas, last = await self._quotas(window)
        changes = self._compare(tables, None if more else limits, window)
        seen = {one.target.table for one in tables}
        scaling = tuple(one for one in limits if one.target.table in seen)
        return msgspec.structs.replace(
            described,
            scaling=scaling,
            changes=without_doubles((*changes, *activity_changes(scaling, window.start - self._config.lookback_ms))),
            quotas=quotas,
            gaps=fold_gaps([*described.gaps, *more, *last]),
        )

    async def describe(self, window: Window) -> Batch:
        """Describe the tables alone: no autoscaling, no quotas, and nothing is remembered."""
        names, gaps = await self._names(window)
        seen = await in_turns(lambda name: self._describe(name, window), names, self._config.concurrent)
        tables = tuple(one.snapshot for one in seen if one.snapshot is not None)
        self.unknown = frozenset(name for name, one in zip(names, seen, strict=True) if one.is_unknown)
        gaps += [gap for one in seen for gap in one.gaps]
        nothing = () if gaps else (None,)  # where there is no table, everything was looked at
        names_seen = tuple(one.target.table for one in tables) or nothing
        return Batch(
            window=window,
            covers=tuple(Covers(SourceName.TABLE_CATALOG, window, name) for name in names_seen),
            tables=tables,
            gaps=tuple(gaps),
            account=self._account,
            region=self._spot.region,
        )

    async def check(self) -> tuple[Check, ...]:
        """Try what it needs, on the first table that is meant."""
        paged = await self._list()
        if paged.error is not None:
            checks = [Check("table-catalog: ListTables", "error", str(paged.error), paged.error.hint)]
        else:
            checks = [Check("table-catalog: ListTables", "ok", f"sees {len(paged.names)} tables")]
        for name in paged.names[:1]:
            for operation in ("DescribeTable", "DescribeTimeToLive"):
                checks.append(await self._try(("dynamodb", operation), TableName=name))
        if not paged.names and paged.error is None:
            hint = "check region and account, and `include` and `exclude`"
            checks.append(Check("table-catalog: DescribeTable", "unchecked", "there is no table to try it on", hint))
        for operation in _SCALING.values():
            checks.append(await self._try(("application-autoscaling", operation), ServiceNamespace="dynamodb"))
        checks.append(await self._try(("dynamodb", "DescribeLimits")))
        return tuple(checks)

    async def _try(self, api: tuple[str, str], **params: object) -> Check:
        return await ask_check(self._aws, SourceName.TABLE_CATALOG, api, self._spot, **params)

    async def _list(self) -> _Names:
        exact = self._config.exact_names
        if exact is not None:
            return _Names(exact)
        paged = await follow_pages(self._aws, ("dynamodb", "ListTables"), _LISTED, self._spot, {})
        names = (str(name) for name in dict.fromkeys(paged.rows))
        return _Names(tuple(name for name in names if self._config.takes_name(name)), paged.error)

    async def _names(self, window: Window) -> tuple[tuple[str, ...], list[Gap]]:
        """Return the tables to describe: where they cannot be listed to the end, those known from before too."""
        found = await self._list()
        if found.error is None:
            return found.names, []
        known = (name for name in self._known if name not in found.names)
        return (*found.names, *known), [self._gap(found.error, window)]

    async def _describe(self, name: str, window: Window) -> _Seen:
        try:
            answer = await self._ask("DescribeTable", TableName=name)
            described = member(answer, "Table", dict, "DescribeTable")
            table = _parsed(parse_table, described, "DescribeTable")
        except AbsentError as error:
            is_named = name in (self._config.exact_names or ())
            return _Seen(None, (self._gap(error, window, name),) if is_named else ())
        except CollectError as error:
            return _Seen(None, (self._gap(error, window, name),), is_unknown=True)
        gaps: list[Gap] = []
        tags = await self._tags_of(name, described.get("TableArn"), window, gaps)
        if not self._config.takes_tags(tags or {}) and tags is not None:
            return _Seen(None)
        target = Target(self._account, self._spot.region, table.name)
        ttl = await self._ttl(name, window, gaps) if self._config.with_ttl else None
        snapshot = TableSnapshot(target=target, time=window.end, table=table, ttl=ttl, tags=tags or {})
        return _Seen(snapshot, tuple(gaps))

    async def _ttl(self, name: str, window: Window, gaps: list[Gap]) -> TimeToLive | None:
        try:
            answer = await self._ask("DescribeTimeToLive", TableName=name)
            told = member(answer, "TimeToLiveDescription", dict, "DescribeTimeToLive")
            return _parsed(parse_time_to_live, told, "DescribeTimeToLive")
        except CollectError as error:
            gaps.append(self._gap(error, window, name))
            return None

    async def _tags_of(self, name: str, arn: str | None, window: Window, gaps: list[Gap]) -> dict[str, str] | None:
        """Return a table's tags, once an hour anew; None where they cannot be read, and then the table is seen."""
        if not self._config.needs_tags or arn is None:
            return {}
        known = self._tags.get(name)
        if known is not None and window.end - known.at < self._config.tags_every_ms:
            return known.tags
        api = ("dynamodb", "ListTagsOfResource")
        paged = await follow_pages(self._aws, api, Paging("Tags"), self._spot, {"ResourceArn": arn})
        if paged.error is not None:
            gaps.append(self._gap(paged.error, window, name))
            return None
        tags = {str(tag.get("Key")): str(tag.get("Value")) for tag in paged.rows}
        self._tags[name] = _Tags(tags, window.end)
        return tags

    async def _scaling(self, window: Window) -> tuple[tuple[ScalingLimits, ...], list[Gap]]:
        since = window.start - self._config.lookback_ms
        answers: dict[str, list[dict[str, Any]]] = {}
        gaps: list[Gap] = []
        for rows, operation in _SCALING.items():
            is_history = rows == "ScalingActivities"
            paged = await follow_pages(
                self._aws,
                ("application-autoscaling", operation),
                Paging(rows),
                self._spot,
                {"ServiceNamespace": "dynamodb"},
                most=_ACTIVITY_PAGES,
                enough=(lambda page: _is_older(page, since)) if is_history else lambda _: False,
            )
            answers[rows] = paged.rows
            if paged.error is not None:
                gaps.append(self._gap(paged.error, window))
            elif paged.is_cut:
                detail = f"{operation}: more than {_ACTIVITY_PAGES} pages"
                gaps.append(Gap(SourceName.TABLE_CATALOG, GapReason.LOW_COVERAGE, detail, start=since, end=window.end))
        try:
            limits = parse_scaling(answers, self._spot.region, self._account)
        except CollectError as error:
            return (), [*gaps, self._gap(error, window)]
        return tuple(_since(one, since) for one in limits), gaps

    async def _quotas(self, window: Window) -> tuple[dict[str, float], list[Gap]]:
        """Return the account's quotas, once an hour anew."""
        at, quotas = self._quotas_at, self._known_quotas
        if at is not None and window.end - at < self._config.quotas_every_ms:
            return quotas, []
        try:
            answer = await self._ask("DescribeLimits")
            quotas = {name: float(units) for name, units in answer.items() if isinstance(units, int | float)}
            if not quotas:
                hint = "something between here and AWS answered in its place: it is asked again"
                raise MalformedError("DescribeLimits: the answer has no limit", hint=hint)
        except CollectError as error:
            return {}, [self._gap(error, window)]
        self._known_quotas, self._quotas_at = quotas, window.end
        return self._known_quotas, []

    def _compare(
        self, tables: tuple[TableSnapshot, ...], scaling: tuple[ScalingLimits, ...] | None, window: Window
    ) -> tuple[Change, ...]:
        """Remember what was seen, and return the changes of the look-back; what was not seen stays as it was known."""
        since = window.start - self._config.lookback_ms
        found: list[Change] = []
        for snapshot in tables:
            before = self._known.get(snapshot.table.name)
            if before is None:
                found += first_changes(snapshot, since)
            else:
                found += table_changes(before, snapshot, before.time or since, window.end)
                snapshot = _with_ttl_of(before, snapshot)  # noqa: PLW2901 -- what was not told stays known
            self._known[snapshot.table.name] = snapshot
        gone = self._known.keys() - {snapshot.table.name for snapshot in tables} - self.unknown
        for name in gone:  # one that comes back under the same name is another table
            del self._known[name]
        self._tags = {name: tags for name, tags in self._tags.items() if name not in gone}
        if scaling is not None:
            bounds = {(one.target, one.direction): one for one in scaling}
            changes = bounds_changes(self._bounds, bounds, window.end) if self._bounds is not None else []
            found += [change for change in changes if change.table in self._known]
            self._bounds = bounds
        kept = (change for change in (*self._changes, *found) if change.time >= since)
        self._changes = without_doubles(kept)[-_MOST_CHANGES:]
        return self._changes

    async def _ask(self, operation: str, **params: object) -> dict[str, Any]:
        spot = self._spot
        return await self._aws.call("dynamodb", operation, region=spot.region, account=spot.account, **params)

    @staticmethod
    def _gap(error: CollectError, window: Window, table: str | None = None) -> Gap:
        return Gap.from_error(SourceName.TABLE_CATALOG, error, window=window, table=table)


class _Names(NamedTuple):
    """Names of tables, and why they are not all."""

    names: tuple[str, ...]
    error: CollectError | None = None


def _parsed(parse: Callable[[dict[str, Any]], T], answer: dict[str, Any], operation: str) -> T:
    try:
        return parse(answer)
    except ValueError as error:
        hint = "look at it with the AWS command line; please report what is unusual about it"
        raise MalformedError(f"{operation}: the answer is not as AWS documents it", hint=hint) from error


def _is_older(page: Sequence[dict[str, Any]], since: Instant) -> bool:
    """Whether the last row, the oldest, began before a time: AWS lists activities from the newest back."""
    start = page[-1].get("StartTime") if page else None
    seconds = start.timestamp() if isinstance(start, datetime) else start
    return isinstance(seconds, int | float) and seconds * 1000 < since


def _since(limits: ScalingLimits, since: Instant) -> ScalingLimits:
    recent = tuple(activity for activity in limits.activities if activity.start >= since)
    return msgspec.structs.replace(limits, activities=recent)


def _with_ttl_of(before: TableSnapshot, after: TableSnapshot) -> TableSnapshot:
    return after if after.ttl is not None else msgspec.structs.replace(after, ttl=before.ttl)
