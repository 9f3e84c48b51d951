"""The sections of what is read from AWS: where, as whom, for how much, and what each collector is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from pydantic import Field, field_validator, model_validator

from analyzer.config_kinds import UNITS_MS, AccountNumber, Duration, Limit, Section, Texts, whole_globs
from analyzer.model.sight import SourceName
from collectors.aws.config import AwsAccount, AwsConfig
from collectors.canary.config import CanaryPlace, PolledCanaryConfig
from collectors.changes.config import ChangesConfig
from collectors.cloudwatch_metrics.config import CloudWatchMetricsConfig
from collectors.contributor_insights.config import ContributorInsightsConfig
from collectors.table_catalog.config import TableCatalogConfig

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "AwsAccountSettings",
    "AwsSettings",
    "CanaryIndexSettings",
    "CanarySettings",
    "ChangesSettings",
    "CloudwatchMetricsSettings",
    "ContributorInsightsSettings",
    "SourcesConfig",
    "TableCatalogSettings",
    "TablesSettings",
]

_MINUTE = UNITS_MS["m"]
Collected = Literal["table-catalog", "cloudwatch-metrics", "contributor-insights", "changes"]


class AwsAccountSettings(Section):
    """One account to look at."""

    account: AccountNumber | None = Field(
        None, description="its twelve digits; left out, the account of the credentials"
    )
    role: str | None = Field(None, description="ARN of the role to assume there")
    external_id: str | None = Field(None, description="external id that the role asks for")
    regions: Texts = Field((), description="its regions, where they differ from those of `aws`")

    @model_validator(mode="after")
    def _role_has_an_account(self) -> AwsAccountSettings:
        if self.role is not None and self.account is None:
            raise ValueError("a role belongs to an account; write account: and its twelve digits")
        return self

    def config(self) -> AwsAccount:
        """Return what the way to AWS needs."""
        return AwsAccount(self.account, self.role, self.external_id, self.regions)


class TablesSettings(Section):
    """Which tables are looked at, by every collector."""

    include: Texts = Field(("*",), description="globs of table names")
    exclude: Texts = Field((), description="globs of table names that are left out")
    tags: dict[str, str] = Field({}, description="tags that a table must bear, their values globs; reads tags hourly")
    exclude_tags: dict[str, str] = Field({}, description="tags that a table must not bear")

    @field_validator("include", "exclude")
    @classmethod
    def _globs_are_whole(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return whole_globs(value)


class AwsSettings(Section):
    """What is read from AWS, where, and for how much a day; without this section nothing is."""

    collect: tuple[Collected, ...] = Field(
        ("table-catalog", "cloudwatch-metrics", "changes"),
        description="what is read; `contributor-insights` bears keys, and is read only when it is named",
    )
    regions: Texts = Field((), description="regions to look at; left out, that of the environment")
    accounts: tuple[AwsAccountSettings, ...] = Field(
        (), description="accounts to look at, each by a role; left out, that of the credentials"
    )
    tables: TablesSettings = TablesSettings.model_validate({})
    max_usd_per_day: float | None = Field(
        10.0, ge=0, allow_inf_nan=False, description="where reading stops until midnight UTC; null never stops"
    )
    endpoint_url: str | None = Field(None, description="one address for all services: a private endpoint, or a test's")
    profile: str | None = Field(None, description="profile of the credentials; left out, as the SDK finds them")
    connect_timeout_ms: Duration = Field(3000, alias="connect_timeout", description="to wait for a connection")
    read_timeout_ms: Duration = Field(20_000, alias="read_timeout", description="to wait for a byte of an answer")
    rate_share: float = Field(0.5, gt=0, le=1, description="part of AWS's published rates that is used at most")

    @field_validator("endpoint_url")
    @classmethod
    def _endpoint_is_an_address(cls, value: str | None) -> str | None:
        if value is None:
            return value
        parts = urlsplit(value)
        try:
            is_sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:  # no number, or beyond 65535
            is_sound = False
        if not is_sound:
            raise ValueError("it is no address; write one such as http://127.0.0.1:8000 or https://vpce.example")
        return value

    @field_validator("connect_timeout_ms", "read_timeout_ms")
    @classmethod
    def _there_is_time(cls, value: int) -> int:
        if value == 0:
            raise ValueError("no answer comes in no time; write a duration such as 3s")
        return value

    @field_validator("regions")
    @classmethod
    def _regions_stand_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value))

    def config(self) -> AwsConfig:
        """Return what the way to AWS needs."""
        accounts = tuple(one.config() for one in self.accounts)
        return AwsConfig(
            regions=self.regions,
            accounts=accounts or (AwsAccount(),),
            endpoint_url=self.endpoint_url,
            profile=self.profile,
            connect_ms=self.connect_timeout_ms,
            read_ms=self.read_timeout_ms,
            rate_share=self.rate_share,
            max_usd_per_day=self.max_usd_per_day,
        )

    def collects(self, source: SourceName) -> bool:
        """Whether a source is read."""
        return source.value in self.collect


class _Polled(Section):
    """What every collector has that is asked again and again."""

    @field_validator("every_ms", check_fields=False)
    @classmethod
    def _every_poll_costs(cls, value: int) -> int:
        if value < _MINUTE:
            raise ValueError("every look is calls to AWS, and its points are minutes; write 1m or more")
        return value


class CloudwatchMetricsSettings(_Polled):
    """How CloudWatch's metrics are read."""

    every_ms: Duration = Field(300_000, alias="every", description="how often; each metric is billed each time")
    delay_ms: Duration = Field(180_000, alias="delay", description="age at which a minute has settled")
    slow_delay_ms: Duration = Field(360_000, alias="slow_delay", description="the same of a metric of five minutes")
    overlap_ms: Duration = Field(900_000, alias="overlap", description="what is read again: points come late")
    keep_ms: Duration = Field(3_600_000, alias="keep", description="how long points are kept")
    baselines: bool = Field(default=True, description="also read the past that windows are compared with")
    most_series: Limit = Field(50_000, description="bound of the series that are read")

    def config(self, tables: TablesSettings) -> CloudWatchMetricsConfig:
        """Return what the collector needs."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return CloudWatchMetricsConfig(include=tables.include, exclude=tables.exclude, **values)


class ContributorInsightsSettings(_Polled):
    """How the reports of Contributor Insights are read."""

    every_ms: Duration = Field(60_000, alias="every", description="how often")
    delay_ms: Duration = Field(120_000, alias="delay", description="age at which a report has settled")
    overlap_ms: Duration = Field(600_000, alias="overlap", description="what is read again: reports come late")
    discover_every_ms: Duration = Field(600_000, alias="discover_every", description="how often to ask what is enabled")

    def config(self, tables: TablesSettings) -> ContributorInsightsConfig:
        """Return what the collector needs."""
        return ContributorInsightsConfig(
            include=tables.include,
            exclude=tables.exclude,
            every_ms=self.every_ms,
            delay_ms=self.delay_ms,
            overlap_ms=self.overlap_ms,
            discover_every_ms=self.discover_every_ms,
        )


class TableCatalogSettings(_Polled):
    """How tables are described."""

    every_ms: Duration = Field(300_000, alias="every", description="how often")
    lookback_ms: Duration = Field(86_400_000, alias="look_back", description="how far back scaling activities are told")

    def config(self, tables: TablesSettings, *, with_tags: bool) -> TableCatalogConfig:
        """Return what the collector needs."""
        return TableCatalogConfig(
            include=tables.include,
            exclude=tables.exclude,
            tags=tables.tags,
            exclude_tags=tables.exclude_tags,
            with_tags=with_tags,
            every_ms=self.every_ms,
            lookback_ms=self.lookback_ms,
        )


class ChangesSettings(_Polled):
    """How changes are read from CloudTrail."""

    every_ms: Duration = Field(120_000, alias="every", description="how often")
    overlap_ms: Duration = Field(1_200_000, alias="overlap", description="what is read again: events come late")
    lookback_ms: Duration = Field(86_400_000, alias="look_back", description="how long a change is told")

    def config(self, tables: TablesSettings) -> ChangesConfig:
        """Return what the collector needs."""
        values = {"every_ms": self.every_ms, "overlap_ms": self.overlap_ms, "lookback_ms": self.lookback_ms}
        return msgspec.convert({"include": tables.include, "exclude": tables.exclude, **values}, ChangesConfig)


class CanaryIndexSettings(Section):
    """One index that the canary probes."""

    table: str = Field(description="its table")
    index: str = Field(description="the GSI whose lag is measured")
    account: AccountNumber | None = Field(None, description="its account; left out, each that is looked at")
    region: str | None = Field(None, description="its region; left out, each that is looked at")


class CanarySettings(_Polled):
    """The canary: it WRITES items under reserved keys, and removes them, to measure how indexes lag."""

    indexes: tuple[CanaryIndexSettings, ...] = Field((), description="the indexes that it probes")
    dry_run: bool = Field(default=True, description="only say what would be written, and what that costs")
    every_ms: Duration = Field(300_000, alias="every", description="how often")
    probes: int = Field(25, ge=1, le=1000, description="items an index, each time")
    gap_ms: Duration = Field(1000, alias="gap", description="between two items")
    max_usd_per_day: float = Field(
        0.1,
        ge=0,
        allow_inf_nan=False,
        description="what an index may cost a day at worst; over it none is written",
    )
    keep_ms: Duration = Field(3_600_000, alias="keep", description="how long what an item told is kept")

    def config(self, folder: Path) -> PolledCanaryConfig:
        """Return what the collector needs; `folder` is the daemon's state folder."""
        places = tuple(CanaryPlace(one.table, one.index, one.account, one.region) for one in self.indexes)
        return PolledCanaryConfig(
            folder=folder,
            places=places,
            every_ms=self.every_ms,
            probes=self.probes,
            gap_ms=self.gap_ms,
            most_usd_per_day=self.max_usd_per_day,
            dry_run=self.dry_run,
            keep_ms=self.keep_ms,
        )


class SourcesConfig(Struct, frozen=True, kw_only=True):
    """What the collectors need; None stands for one that nobody asked for."""

    aws: AwsConfig
    catalog: TableCatalogConfig | None
    metrics: CloudWatchMetricsConfig | None
    insights: ContributorInsightsConfig | None
    changes: ChangesConfig | None
    canary: PolledCanaryConfig | None = None

    def names(self) -> frozenset[SourceName]:
        """Return the sources that are asked for."""
        asked = {
            SourceName.TABLE_CATALOG: self.catalog,
            SourceName.CLOUDWATCH_METRICS: self.metrics,
            SourceName.CONTRIBUTOR_INSIGHTS: self.insights,
            SourceName.CHANGES: self.changes,
            SourceName.CANARY: self.canary,
        }
        return frozenset(name for name, config in asked.items() if config is not None)
