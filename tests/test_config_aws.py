"""The sections of what is read from AWS."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from analyzer.config import load_settings
from analyzer.errors import ConfigError
from analyzer.model.sight import SourceName
from analyzer.setup import Setup, build_setup, load_setup
from collectors.aws.config import AwsAccount, AwsConfig

if TYPE_CHECKING:
    from pathlib import Path

EVERYTHING = """\
aws:
  collect: [table-catalog, cloudwatch-metrics, contributor-insights, changes]
  regions: [eu-west-1, us-east-1]
  accounts:
    - {account: "011122223333", role: "arn:aws:iam::011122223333:role/watch", external_id: x7, regions: us-west-2}
    - {}
  tables: {include: [orders*, cases], exclude: [orders-old], tags: {team: pay*}, exclude_tags: {stage: dev}}
  max_usd_per_day: null
  endpoint_url: http://127.0.0.1:4566
  profile: watcher
  connect_timeout: 1s
  read_timeout: 7s
  rate_share: 0.25
table_catalog: {every: 10m, look_back: 2d}
cloudwatch_metrics:
  {every: 1m, delay: 2m, slow_delay: 7m, overlap: 20m, keep: 2h, baselines: false, most_series: 100}
contributor_insights: {every: 2m, delay: 1m, overlap: 5m, discover_every: 1h}
changes: {every: 3m, overlap: 30m, look_back: 12h}
"""


def build(folder: Path, text: str) -> Setup:
    (folder / "d.yaml").write_text(text)
    return build_setup(load_settings(folder / "d.yaml", {}))


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        build(folder, text)
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


def test_everything_is_built_as_the_file_says(tmp_path: Path) -> None:
    told = build(tmp_path, EVERYTHING).collected
    assert told is not None
    assert told.aws == AwsConfig(
        regions=("eu-west-1", "us-east-1"),
        accounts=(
            AwsAccount("011122223333", "arn:aws:iam::011122223333:role/watch", "x7", ("us-west-2",)),
            AwsAccount(),
        ),
        endpoint_url="http://127.0.0.1:4566",
        profile="watcher",
        connect_ms=1000,
        read_ms=7000,
        rate_share=0.25,
        max_usd_per_day=None,
    )
    assert told.names() == {name for name in SourceName if name.value in EVERYTHING.splitlines()[1]}
    assert told.catalog is not None
    assert told.metrics is not None
    assert told.insights is not None
    assert told.changes is not None
    for one in (told.catalog, told.metrics, told.insights, told.changes):
        assert (one.include, one.exclude) == (("orders*", "cases"), ("orders-old",))
    assert (told.catalog.tags, told.catalog.exclude_tags) == ({"team": "pay*"}, {"stage": "dev"})
    assert (told.catalog.every_ms, told.catalog.lookback_ms) == (600_000, 172_800_000)
    metrics = told.metrics
    assert (metrics.every_ms, metrics.delay_ms, metrics.slow_delay_ms) == (60_000, 120_000, 420_000)
    assert (metrics.overlap_ms, metrics.keep_ms, metrics.most_series) == (1_200_000, 7_200_000, 100)
    assert not metrics.baselines
    insights = told.insights
    assert (insights.every_ms, insights.delay_ms, insights.overlap_ms) == (120_000, 60_000, 300_000)
    assert insights.discover_every_ms == 3_600_000
    changes = told.changes
    assert (changes.every_ms, changes.overlap_ms, changes.lookback_ms) == (180_000, 1_800_000, 43_200_000)


def test_an_empty_section_reads_what_bears_no_keys_with_the_credentials_that_are_there(tmp_path: Path) -> None:
    setup = build(tmp_path, "aws: {}\n")
    told = setup.collected
    assert told is not None
    assert told.aws == AwsConfig()
    assert setup.sources == {SourceName.TABLE_CATALOG, SourceName.CLOUDWATCH_METRICS, SourceName.CHANGES}
    assert told.insights is None
    assert told.catalog is not None
    assert not told.catalog.needs_tags


def test_without_the_section_nothing_is_read_there(tmp_path: Path) -> None:
    setup = build(tmp_path, "request_log: {files: log}\ncloudwatch_metrics: {every: 1m}\n")
    assert (setup.collected, setup.sources) == (None, frozenset())


@pytest.mark.parametrize("source", ["table-catalog", "cloudwatch-metrics", "contributor-insights", "changes"])
def test_what_is_left_out_is_not_read(tmp_path: Path, source: str) -> None:
    setup = build(tmp_path, json.dumps({"aws": {"collect": [source]}}))
    assert setup.sources == {SourceName(source)}


def test_a_contract_that_speaks_of_tags_has_them_read(tmp_path: Path) -> None:
    table = {"name": "cases", "partition_key": "PK", "where": {"tags": {"stage": "prod"}}}
    (tmp_path / "c.yaml").write_text(json.dumps({"version": 1, "tables": [table]}))
    told = build(tmp_path, "aws: {}\ncontract: c.yaml\n").collected
    assert told is not None
    assert told.catalog is not None
    assert told.catalog.with_tags


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("aws: {collect: [metrics]}", "d.yaml:1: aws.collect.0: "),
        ("aws: {accounts: [{account: 011122223333}]}", "quote it, a leading zero would be lost"),
        ("aws: {accounts: [{role: 'arn:aws:iam::1:role/a'}]}", "a role belongs to an account; write account:"),
        ("aws: {max_usd_per_day: -1}", "aws.max_usd_per_day: input should be greater than or equal to 0"),
        ("aws: {max_usd_per_day: .inf}", "aws.max_usd_per_day: input should be a finite number"),
        ("aws: {endpoint_url: 'localhost:8000'}", "aws.endpoint_url: it is no address; write one such as http://"),
        ("aws: {endpoint_url: 'http://'}", "aws.endpoint_url: it is no address"),
        ("aws: {endpoint_url: 'file:///etc/passwd'}", "aws.endpoint_url: it is no address"),
        ("aws: {endpoint_url: 'http://127.0.0.1:99999'}", "aws.endpoint_url: it is no address"),
        ("aws: {accounts: [{account: '12'}]}", "'12' is no account; write its 12 digits, quoted"),
        ("aws: {connect_timeout: 0s}", "aws.connect_timeout: no answer comes in no time; write a duration such as 3s"),
        ("aws: {read_timeout: 0}", "aws.read_timeout: no answer comes in no time"),
        ("aws: {tables: {include: ['[a-']}}", "the bracket of '[a-' never closes; close it"),
        ("aws: {tables: {exclude: ['']}}", "an empty glob fits no table; write a name, or * for all"),
        ("aws: {rate_share: 0}", "aws.rate_share: input should be greater than 0"),
        ("aws: {region: [a]}", "aws.region: unknown key; did you mean regions?"),
        ("aws: {}\ncloudwatch_metrics: {every: 59s}", "cloudwatch_metrics.every: every look is calls to AWS"),
        ("aws: {}\nchanges: {every: 1s}", "d.yaml:2: changes.every: every look is calls to AWS"),
    ],
)
def test_what_is_wrong_is_told_with_its_mend(tmp_path: Path, text: str, fault: str) -> None:
    (told,) = faults(tmp_path, f"{text}\n")
    assert told.startswith("d.yaml:")
    assert fault in told


def test_a_region_that_is_named_twice_is_looked_at_once(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text("aws: {regions: [us-east-1, eu-west-1, us-east-1]}\n")
    settings = load_settings(file)
    assert settings.aws is not None
    assert settings.aws.regions == ("us-east-1", "eu-west-1")


def test_what_aws_is_asked_takes_a_restart(tmp_path: Path) -> None:
    first = build(tmp_path, "aws: {}\n").fixed
    assert load_setup(tmp_path / "d.yaml", {}).fixed == first
    assert build(tmp_path, "aws: {regions: eu-west-1}\n").fixed != first
