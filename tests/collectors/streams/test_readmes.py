"""What the pages of the streams show works."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from analyzer.config import load_settings
from collectors.request_log.config import RequestLogConfig

ROOM = Path(__file__).parents[3] / "collectors" / "request_log"


@pytest.mark.parametrize("stream", ["s3", "cloudwatch_logs", "otlp", "xray"])
def test_the_configuration_on_the_page_of_a_stream_is_read(tmp_path: Path, stream: str) -> None:
    page = (ROOM / stream / "README.md").read_text("utf-8")
    example = re.search(r"(?m)^    request_log:\n(?:    .*\n)+", page)
    assert example is not None
    (tmp_path / "d.yaml").write_text(dedent(example[0]))
    config = load_settings(tmp_path / "d.yaml", {}).request_log.config()
    assert getattr(config, stream) != getattr(RequestLogConfig(), stream)


@pytest.mark.parametrize("stream", ["s3", "cloudwatch_logs", "otlp", "xray"])
@pytest.mark.parametrize("heading", ["Permissions", "Cost", "Delay", "What it cannot see"])
def test_every_page_says_what_people_ask_first(stream: str, heading: str) -> None:
    assert f"\n## {heading}\n" in (ROOM / stream / "README.md").read_text("utf-8")
