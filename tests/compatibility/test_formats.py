"""Files of every format version are read for ever: nobody removes a file from this folder."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from analyzer.contract.load import load_contract
from analyzer.model.request import RequestRecord
from analyzer.recording import read_recording, read_requests
from analyzer.requests.digest import Digest
from analyzer.requests.lexicon import Lexicon

HERE = Path(__file__).parent
SCHEMA = HERE.parents[1] / "docs/reference/request-record.schema.json"


@pytest.mark.parametrize("name", ["request-log-v1.jsonl"])
def test_a_request_log_is_read(name: str) -> None:
    digest = Digest(Lexicon())
    digest.update((HERE / name).read_bytes())
    assert (digest.read.read, digest.read.bad) == (14, 0)


@pytest.mark.parametrize("name", ["recording-v1.jsonl"])
def test_a_recording_is_read(name: str) -> None:
    recording = read_recording(HERE / name)
    assert [gap.detail for gap in recording.batch.gaps] == ["PKT"]
    assert len(recording.sources) == 5
    digest = Digest(Lexicon())
    digest.update(b"\n".join(read_requests(HERE / name, recording)))
    assert (digest.read.read, digest.read.bad, digest.read.dropped) == (14, 0, 3)


@pytest.mark.parametrize("name", ["contract-v1.yaml"])
def test_a_contract_is_read(name: str) -> None:
    contract = load_contract([HERE / name])
    assert [len(table.patterns) for table in contract.tables] == [12]


def test_the_published_schema_of_a_request_record_is_current(request: pytest.FixtureRequest) -> None:
    text = json.dumps(msgspec.json.schema(RequestRecord), indent=2, sort_keys=True) + "\n"
    if request.config.getoption("--rewrite-golden"):
        SCHEMA.write_text(text, "utf-8")
    assert SCHEMA.read_text("utf-8") == text
