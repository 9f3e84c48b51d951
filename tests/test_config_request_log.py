from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.config import load_settings
from analyzer.errors import ConfigError
from analyzer.setup import load_setup
from collectors.request_log.config import RequestLogConfig
from collectors.request_log.otlp.config import OtlpConfig

if TYPE_CHECKING:
    from pathlib import Path

EVERY_LOG = """\
request_log:
  files: [log]
  s3:
    - {bucket: logs, prefix: ddb/}
    - {bucket: trails, layout: cloudtrail, region: eu-west-1, account: "111122223333", poll: 1m}
  cloudwatch_logs:
    - {group: /aws/lambda/orders, filter: TableName, overlap: 5m}
  otlp: {listen: "[::1]:4319"}
  xray:
    - {filter: 'service("orders")', settle: 2m}
  join: 30s
settle: 7s
"""


def read(folder: Path, text: str) -> RequestLogConfig:
    (folder / "d.yaml").write_text(text)
    return load_settings(folder / "d.yaml", {}).request_log.config()


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


def test_every_log_is_built_as_the_file_says(tmp_path: Path) -> None:
    config = read(tmp_path, EVERY_LOG)
    assert config.files == (str(tmp_path / "log"),)
    assert [one.path for one in config.s3] == ["s3://logs/ddb/", "s3://trails/"]
    assert [(one.times, one.delay_ms, one.poll_ms) for one in config.s3] == [
        ("%Y/%m/%d/%H/", 360_000, 30_000),
        ("%Y/%m/%d/", 900_000, 60_000),
    ]
    assert [(one.path, one.filter, one.overlap_ms) for one in config.cloudwatch_logs] == [
        ("logs:///aws/lambda/orders", "TableName", 300_000)
    ]
    assert config.otlp == OtlpConfig("::1", 4319)
    assert [(one.filter, one.settle_ms, one.delay_ms) for one in config.xray] == [
        ('service("orders")', 120_000, 150_000)
    ]
    assert config.join_ms == 30_000


def test_nothing_but_files_is_opened_unless_it_is_named(tmp_path: Path) -> None:
    config = read(tmp_path, "request_log: {files: a}")
    assert (config.s3, config.cloudwatch_logs, config.otlp, config.xray) == ((), (), None, ())
    assert not config.is_empty
    assert not config.is_joined
    assert RequestLogConfig().is_empty


def test_a_time_prefix_of_one_s_own_stands_before_the_layout_s(tmp_path: Path) -> None:
    (one,) = read(tmp_path, "request_log: {s3: [{bucket: b, time_prefix: 'dt=%Y-%m-%d/', delay: 1m}]}").s3
    assert (one.times, one.delay_ms) == ("dt=%Y-%m-%d/", 60_000)


@pytest.mark.parametrize(
    ("logs", "settle"),
    [
        ("{files: a}", 5000),
        ("{s3: [{bucket: b, layout: cloudtrail}]}", 905_000),
        ("{files: a, s3: [{bucket: b}]}", 65_000),
        ("{files: a, s3: [{bucket: b}], join: 0}", 5000),
        ("{s3: [{bucket: b}], otlp: {}}", 75_000),
    ],
)
def test_judging_waits_for_the_fastest_log_and_for_joining(tmp_path: Path, logs: str, settle: int) -> None:
    (tmp_path / "d.yaml").write_text(f"request_log: {logs}\n")
    assert load_setup(tmp_path / "d.yaml", {}).settle_ms == settle


@pytest.mark.parametrize(
    ("logs", "fault"),
    [
        ("s3: [{prefix: p}]", "d.yaml:2: request_log.s3.0.bucket: field required"),
        ("s3: [{bucket: b, bukket: c}]", "d.yaml:2: request_log.s3.0.bukket: unknown key; did you mean bucket?"),
        ("s3: [{bucket: ''}]", "bucket: '' is no bucket; write its name alone"),
        ("s3: [{bucket: 's3://b/logs'}]", "bucket: 's3://b/logs' is no bucket; write its name alone"),
        (
            "s3: [{bucket: b, time_prefix: '%Q'}]",
            "%Q is no part of a time here; write %Y, %m, %d, %H and %M",
        ),
        ("s3: [{bucket: b, time_prefix: '%Y/%'}]", "time_prefix: % is no part of a time here"),
        ("s3: [{bucket: b, layout: hive}]", "layout: 'hive' is no layout that is known; known: firehose"),
        ("shape: csv", "shape: 'csv' is no shape that is known; known: auto, native"),
        ("s3: [{bucket: b, shape: csv}]", "shape: 'csv' is no shape that is known; known: auto, native"),
        ("s3: [{bucket: b, poll: 10ms}]", "poll: every look is a call to AWS; write 1s or more"),
        ("s3: [{bucket: b, overlap: 3d}]", "overlap: what was seen is remembered for so long; write 1d or less"),
        ("s3: [{bucket: b}, {bucket: b}]", "s3://b/ is named twice; name each log once"),
        ("xray: [{account: 111122223333}]", "account: an account is a text of 12 digits; quote it"),
        ("otlp: {listen: '4318'}", "'4318' is not an address; write host:port, such as 127.0.0.1:4318"),
        ("otlp: {listen: '0.0.0.0:4318'}", "other machines can reach 0.0.0.0:4318 and are asked for no password"),
    ],
)
def test_what_is_wrong_with_a_log_is_told_with_its_line(tmp_path: Path, logs: str, fault: str) -> None:
    (told,) = faults(tmp_path, f"request_log:\n  {logs}\n")
    assert told.startswith("d.yaml:")
    assert fault in told
