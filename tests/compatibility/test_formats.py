"""Files of every format version are read for ever: nobody removes a file from this folder."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from analyzer.cli.main import execute
from analyzer.contract.load import load_contract
from analyzer.model.counts import Count
from analyzer.model.request import RequestRecord
from analyzer.recording import read_recording, read_requests
from analyzer.requests.digest import Digest
from analyzer.requests.lexicon import Lexicon
from tests.support.request_lines import LEXICON
from tests.support.schemas import recording_schema, report_schema

HERE = Path(__file__).parent
REFERENCE = HERE.parents[1] / "docs/reference"
GOLDEN = HERE.parents[1] / "tests/golden"


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


@pytest.mark.parametrize(("name", "calls"), [("digest-v1.bin", 0), ("digest-v2.bin", 14)])
def test_the_state_of_a_digest_is_read(name: str, calls: int) -> None:
    digest = Digest.restore((HERE / name).read_bytes(), LEXICON)
    assert (digest.read.read, len(digest.calls()), len(digest.slices())) == (14, calls, 5)
    assert (digest.calls().since is None) is bool(calls)
    assert digest.totals().values[:, Count.REQUESTS].sum() == 14
    digest.update((HERE / "request-log-v1.jsonl").read_bytes())
    assert (digest.read.read, digest.read.duplicate) == (14, 14)


SCHEMAS = {
    "request-record": lambda: msgspec.json.schema(RequestRecord),
    "recording": recording_schema,
    "report": report_schema,
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_published_schema_is_current(name: str, request: pytest.FixtureRequest) -> None:
    text = json.dumps(SCHEMAS[name](), indent=2, sort_keys=True) + "\n"
    published = REFERENCE / f"{name}.schema.json"
    if request.config.getoption("--rewrite-golden"):
        published.write_text(text, "utf-8")
    assert published.read_text("utf-8") == text


def test_a_report_that_is_printed_fits_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    execute(["replay", str(HERE / "recording-v1.jsonl"), "--format", "json"])
    execute(["analyze", str(empty), "--format", "json"])
    printed = capsys.readouterr().out.replace("}\n{", "}\0{").split("\0")
    assert len(printed) == 2
    for text in ((GOLDEN / "render/report.json").read_text("utf-8"), *printed):
        jsonschema.validate(json.loads(text), report_schema())


def test_a_recording_fits_its_schema() -> None:
    schema = recording_schema()
    schema["$defs"]["RequestLine"]["properties"]["request"] = {}
    for line in (HERE / "recording-v1.jsonl").read_text("utf-8").splitlines():
        jsonschema.validate(json.loads(line), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"kind": "gap", "source": "astrology", "reason": "denied", "detail": ""}, schema)
