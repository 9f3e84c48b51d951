"""What a configuration must be allowed at AWS: which features it uses, and on which tables, buckets and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.knowledge.iam import FEATURES, Scope, Tier

if TYPE_CHECKING:
    from collections.abc import Collection

    from analyzer.deliver import Place
    from analyzer.setup import Setup

__all__ = ["delivered", "names_of", "scope_of"]

_OF_SOURCE = {
    "table-catalog": ("TableCatalog", "TableCatalogTables"),
    "cloudwatch-metrics": ("CloudwatchMetrics",),
    "changes": ("Changes",),
    "contributor-insights": ("ContributorInsights", "ContributorInsightsTables", "ContributorInsightsReports"),
}
_UNLIKE_IAM = frozenset("[]!")
"""Globs know classes of characters, IAM only stars and question marks."""


def delivered(places: Collection[Place], name: str = "dynascope-*") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what weekly reports are written to in S3, `bucket/key` with a star for the week, and their topics."""
    keys = []
    for bucket, _, key in (one.address.removeprefix("s3://").partition("/") for one in places if one.kind == "s3"):
        keys.append(f"{bucket}/{key}{name}" if not key or key.endswith("/") else f"{bucket}/{key}")
    topics = [one.address.removeprefix("sns:") for one in places if one.kind == "sns"]
    return tuple(dict.fromkeys(keys)), tuple(dict.fromkeys(topics))


def names_of(setup: Setup, lease: str | None = None) -> frozenset[str]:
    """Return the features that a configuration uses; of writes, which are made by hand, all."""
    names = {name for source in setup.sources for name in _OF_SOURCE.get(source.value, ())}
    log = setup.request_log
    names |= {"LogBuckets", "LogObjects"} if log.s3 else set()
    names |= {"LogGroups"} if log.cloudwatch_logs else set()
    names |= {"Xray"} if log.xray else set()
    catalog = None if setup.collected is None else setup.collected.catalog
    names |= {"TableCatalogTags"} if catalog is not None and catalog.needs_tags else set()
    names |= {"AccountsByRole"} if _roles(setup) else set()
    names |= {"Lease"} if lease is not None else set()
    names |= {"HistoryBucket", "HistoryObjects"} if setup.history is not None and setup.history.needs_aws else set()
    return frozenset(names | {feature.name for feature in FEATURES if feature.tier is Tier.WRITES})


def scope_of(setup: Setup, lease: str | None = None) -> Scope:
    """Return what its policy names."""
    log, collected = setup.request_log, setup.collected
    regions = () if collected is None else _regions(setup)
    include = ("*",) if collected is None or collected.catalog is None else collected.catalog.include
    tables = tuple(glob if not _UNLIKE_IAM & set(glob) else "*" for glob in include)
    return Scope(
        regions=regions,
        tables=tables,
        probed=tables,
        roles=_roles(setup),
        buckets=tuple(dict.fromkeys(one.bucket for one in log.s3)),
        objects=tuple(f"{one.bucket}/{one.prefix}*" for one in log.s3),
        groups=tuple(one.group for one in log.cloudwatch_logs),
        lease=lease,
        history=_history(setup),
    )


def _history(setup: Setup) -> str | None:
    """Return where history is written to in S3, None where it is not."""
    if setup.history is None or not setup.history.needs_aws:
        return None
    bucket, _, prefix = setup.history.to.removeprefix("s3://").partition("/")
    prefix = prefix.strip("/")
    return f"{bucket}/{prefix}/" if prefix else f"{bucket}/"


def _regions(setup: Setup) -> tuple[str, ...]:
    """Return every region that is named; none where a place takes that of the environment."""
    collected = setup.collected
    accounts = () if collected is None else collected.aws.accounts
    named = [account.regions or (collected.aws.regions if collected is not None else ()) for account in accounts]
    log = setup.request_log
    of_logs = (*(one.region for one in log.s3), *(one.region for one in log.cloudwatch_logs))
    others = [(region,) for region in of_logs if region is not None]
    if not all(named):
        return ()
    return tuple(sorted({region for regions in (*named, *others) for region in regions}))


def _roles(setup: Setup) -> tuple[str, ...]:
    if setup.collected is None:
        return ()
    return tuple(account.role for account in setup.collected.aws.accounts if account.role is not None)
