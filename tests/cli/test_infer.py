from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.main import execute
from analyzer.contract.lint import lint
from analyzer.contract.load import load_contract, read_text

if TYPE_CHECKING:
    from pathlib import Path


def line(second: float, **fields: object) -> str:
    at = f"2026-06-01T10:{int(second // 60):02}:{second % 60:06.3f}Z"
    return json.dumps({"v": 1, "time": at, "table": "cases", "caller": "web"} | fields)


def value(text: str) -> dict[str, str]:
    return {"S": text}


def lines() -> list[str]:
    """Two minutes of clear keys: reads of cases and of their audit, and a scan."""
    listed = []
    for n in range(240):
        key = {"PK": value(f"CASE#{n}x"), "SK": value("META")}
        listed.append(line(n / 2, op="GetItem", key=key))
        listed.append(
            line(
                n / 2,
                op="Query",
                key={"PK": value(f"CASE#{n}x")},
                key_condition="#p = :p AND begins_with(SK, :s)",
                names={"#p": "PK"},
                values={":p": value(f"CASE#{n}x"), ":s": value("AUDIT#")},
                limit=25,
                forward=False,
            )
        )
    return [*listed, line(3, op="Scan", caller="report")]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([*lines(), "junk", '{"v": 1}']) + "\n")
    return path


def test_a_contract_is_drafted_from_a_log(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "contract.yaml"
    assert execute(["infer", str(log), "-o", str(output)]) == 0
    assert f"{output}: 3 patterns; set aside: 0. Next: dynascope check {output}" in capsys.readouterr().out
    contract = load_contract(output)
    (table,) = contract.tables
    keys = {p.id: {k.attribute: k.template.text for k in p.keys[0]} for p in table.patterns if p.keys}
    assert keys == {
        "get-case-meta": {"PK": "CASE#<id>", "SK": "META"},
        "list-case-audit": {"PK": "CASE#<id>", "SK": "begins_with AUDIT#"},
    }
    assert table.pattern("scan-cases") is not None
    listed = table.pattern("list-case-audit")
    assert listed is not None
    assert (listed.order, listed.callers, listed.rate.peak) == ("descending", ("web",), 2)
    assert [remark.rule for remark in lint(contract) if remark.severity == "fail"] == ["scan-pattern"]


def test_without_a_file_it_is_printed_and_no_key_is_in_it(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["infer", str(log)]) == 0
    text = capsys.readouterr().out
    assert len(read_text(text, "c.yaml").contract.tables[0].patterns) == 3
    assert "17x" not in text


def test_a_scan_is_told_with_what_check_will_ask_of_it(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["infer", str(log)]) == 0
    told = "`dynascope check` fails until somebody says why scan-cases is a Scan: add purpose, schedule and"
    assert told in capsys.readouterr().err
    log.write_text("\n".join(lines()[:2]) + "\n")
    assert execute(["infer", str(log)]) == 0
    assert "dynascope check" not in capsys.readouterr().err
    log.write_text("\n".join(line(n, op="Scan", table=f"t{n}") for n in range(4)) + "\n")
    assert execute(["infer", str(log)]) == 0
    assert "scan-t0, scan-t1, scan-t2 and more are Scans" in capsys.readouterr().err


def test_a_contract_is_never_overwritten(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["infer", str(log), "-o", str(log)]) == 2
    assert "infer never overwrites a contract" in capsys.readouterr().err


def test_without_a_request_there_is_nothing_to_draft_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "log.jsonl"
    for text in ("junk\n", ""):
        empty.write_text(text)
        assert execute(["infer", str(empty)]) == 3
        assert "nothing to draft from: no request can be read" in capsys.readouterr().err
    assert execute(["infer", str(tmp_path / "gone.jsonl")]) == 2


def test_a_log_that_breaks_off_is_drafted_from_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torn = tmp_path / "log.jsonl.gz"
    torn.write_bytes(gzip.compress("\n".join(lines()).encode())[:-20])
    assert execute(["infer", str(torn)]) == 3
    told = capsys.readouterr()
    assert "breaks off" in told.err
    assert "get-case-meta" in told.out


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("gone/contract.yaml", "there is no folder"),
        ("contract.json", "infer writes YAML; name the file"),
        ("locked/contract.yaml", "is not yours to write in"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, place: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda folder, _: not str(folder).endswith("locked"))
    log = tmp_path / "log.jsonl"
    log.write_text("junk\n")
    assert execute(["infer", str(log), "-o", str(tmp_path / place)]) == 2
    assert told in capsys.readouterr().err


# adding to a contract

OURS = """\
# Ours, and written by hand.
callers:
  web: {services: [web]}
tables:
  - name: cases
    partition_key: PK
    sort_key: SK
    patterns:
      - id: load-case   # the one that matters
        operation: GetItem
        key: {PK: "CASE#<caseId>", SK: META}
"""


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "contract.yaml"
    path.write_text(OURS)
    return path


def test_a_contract_gets_what_it_lacks_and_keeps_every_line(
    log: Path, ours: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["infer", str(log), "--into", str(ours)]) == 0
    told = capsys.readouterr()
    text = ours.read_text()
    assert text.startswith(OURS)
    assert [pattern.id for pattern in load_contract(ours).tables[0].patterns] == [
        "load-case",
        "list-case-audit",
        "scan-cases",
    ]
    assert told.out.startswith(f"--- {ours}\n+++ {ours} (as written)\n")
    assert "+      - id: list-case-audit\n" in told.out
    assert f"{ours}: added 2 patterns. Next: dynascope check {ours}\n" in told.out
    assert "cases scan-cases: operation: a Scan" in told.err
    assert execute(["infer", str(log), "--into", str(ours)]) == 0
    assert "nothing to add" in capsys.readouterr().out
    assert ours.read_text() == text


def test_a_dry_run_shows_the_difference_and_writes_nothing(
    log: Path, ours: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["infer", str(log), "--into", str(ours), "--dry-run"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"--- {ours}\n+++ {ours} (as it would be)\n")
    assert not [line for line in told.out.splitlines()[2:] if line.startswith("-")]
    assert "would get 2 patterns; nothing is written" in told.err
    assert ours.read_text() == OURS


def test_what_a_contract_lacks_goes_to_a_file_of_its_own_where_that_is_asked_for(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, more = tmp_path / "patterns.md", tmp_path / "more.yaml"
    table.write_text(
        "# cases\n\n| pattern | entity | key condition | read/write | est. freq | served by |\n"
        "|---|---|---|---|---|---|\n"
        "| Load a case | Case | PK=CASE#<id>, SK=META | read | high | base table GetItem |\n"
    )
    assert execute(["infer", str(log), "--into", str(table)]) == 2
    assert "only YAML and JSON are added to" in capsys.readouterr().err
    assert execute(["infer", str(log), "--into", str(table), "-o", str(more), "--dry-run"]) == 0
    assert "+      - id: list-case-audit\n" in capsys.readouterr().out
    assert not more.exists()
    assert execute(["infer", str(log), "--into", str(table), "-o", str(more)]) == 0
    assert "added" in capsys.readouterr().out
    assert execute(["check", str(table), str(more), "--format", "json"]) == 1  # the Scan
    ids = [pattern.id for one in load_contract([table, more]).tables for pattern in one.patterns]
    assert sorted(ids) == ["list-case-audit", "load-a-case", "scan-cases"]


LOAD = "{id: load-case, operation: GetItem, key: {PK: 'CASE#<caseId>', SK: META}}"

CASES = "  - name: cases\n    partition_key: PK\n    sort_key: SK\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"tables:\n  - name: a\n    partition_key: PK\n    patterns: &p [{LOAD}]\n{CASES}    patterns: *p\n",
            "contract.yaml:4: nothing can be added here: an alias of `&p` repeats the patterns of its table cases",
        ),
        (
            f"tables:\n  cases:\n    partition_key: PK\n    sort_key: SK\n    patterns: [{LOAD}]\n",
            "contract.yaml:2: nothing can be added here: its tables are a mapping by name; write `tables:` as a list",
        ),
        ("tables:\n\t# mine\n  - name: cases\n", "contract.yaml:2: this is no YAML: a tab stands here"),
    ],
)
def test_what_cannot_be_added_to_is_told_with_line_reason_and_mend(
    log: Path, ours: Path, text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ours.write_text(text)
    assert execute(["infer", str(log), "--into", str(ours)]) == 2
    assert told in capsys.readouterr().err
    assert ours.read_text() == text


@pytest.mark.parametrize("name", ["contract.json", "contract.yaml"])
def test_a_contract_in_json_stays_json(log: Path, tmp_path: Path, name: str) -> None:
    ours = tmp_path / name
    table = {"name": "cases", "partition_key": "PK", "sort_key": "SK", "patterns": []}
    ours.write_text(json.dumps({"tables": [table]}, indent=2))
    assert execute(["infer", str(log), "--into", str(ours)]) == 0
    (read,) = json.loads(ours.read_text())["tables"]
    assert [pattern["id"] for pattern in read["patterns"]] == ["get-case-meta", "list-case-audit", "scan-cases"]


def test_what_only_begins_like_json_is_yaml(log: Path, ours: Path) -> None:
    ours.write_text("{tables: [{name: cases, partition_key: PK, sort_key: SK, patterns: []}]}\n")
    assert execute(["infer", str(log), "--into", str(ours)]) == 0
    assert len(load_contract(ours).tables[0].patterns) == 3


def test_byte_order_mark_line_ends_and_mode_stay_and_a_link_still_leads_there(log: Path, tmp_path: Path) -> None:
    real, ours = tmp_path / "real.yaml", tmp_path / "contract.yaml"
    before = b"\xef\xbb\xbf" + OURS.replace("\n", "\r\n").encode()
    real.write_bytes(before)
    real.chmod(0o640)
    ours.symlink_to(real)
    assert execute(["infer", str(log), "--into", str(ours)]) == 0
    after = real.read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == after.count(b"\r\n") > before.count(b"\n")
    assert (ours.is_symlink(), real.stat().st_mode & 0o777) == (True, 0o640)


def test_a_contract_that_was_edited_meanwhile_is_left_alone(
    log: Path, ours: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited(*_: object) -> str:
        ours.write_text("# theirs\n")
        return ""

    monkeypatch.setattr("analyzer.cli.infer_into._diff", edited)
    assert execute(["infer", str(log), "--into", str(ours)]) == 2
    assert "was changed while the logs were read: nothing is written" in capsys.readouterr().err
    assert ours.read_text() == "# theirs\n"


def test_a_disk_that_fills_up_leaves_the_contract_as_it_was(
    log: Path, ours: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert execute(["infer", str(log), "--into", str(ours)]) == 2
    assert "no space left on device" in capsys.readouterr().err
    assert ours.read_text() == OURS
    assert execute(["infer", str(log), "-o", str(ours.with_name("fresh.yaml"))]) == 2
    assert sorted(path.name for path in ours.parent.iterdir()) == ["contract.yaml", "log.jsonl"]


def test_wrong_usage_of_into_is_told_before_the_work(
    log: Path, ours: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert execute(["infer", str(log), "--dry-run"]) == 2
    assert execute(["infer", str(log), "--into", str(tmp_path / "gone.yaml")]) == 2
    assert "write a first contract with -o" in capsys.readouterr().err
    assert execute(["infer", str(log), "--into", str(tmp_path)]) == 2
    assert "is a folder: name the file of it that is added to" in capsys.readouterr().err
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or path == ours)
    assert execute(["infer", str(log), "--into", str(ours)]) == 2
    assert "its folder is not yours to write in" in capsys.readouterr().err
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    assert execute(["infer", str(log), "--into", str(ours)]) == 2
    assert "it is not yours to write" in capsys.readouterr().err


def test_what_cannot_be_declared_is_told_where_it_is_not_added(
    tmp_path: Path, ours: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = line(1, op="Query", index="typo", error={"code": "ValidationException"}, key={"PK": value("X")})
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join([*lines()[:4], refused]) + "\n")
    assert execute(["infer", str(log), "--into", str(ours)]) == 0
    assert "not added: list-typo of cases: every call was refused" in capsys.readouterr().err


# what else is known


def test_tables_as_they_are_described_name_keys_and_indexes(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]
    index = {"IndexName": "GSI7", "KeySchema": keys[:1], "Projection": {"ProjectionType": "ALL"}}
    tables = tmp_path / "tables.json"
    described = {"TableName": "cases", "KeySchema": keys, "GlobalSecondaryIndexes": [index]}
    tables.write_text(json.dumps({"Table": described}))
    assert execute(["infer", str(log), "--tables", str(tables)]) == 0
    assert "- name: GSI7  # unsure: no request of the log reads it" in capsys.readouterr().out
    assert execute(["infer", str(log), "--tables", str(tmp_path / "gone.json")]) == 2


def test_a_recording_is_told_from_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "recording.jsonl"
    recording.write_text('{"kind": "recording", "v": 1}\n')
    assert execute(["infer", str(recording)]) == 2
    assert "is a recording, and infer reads request logs" in capsys.readouterr().err


def test_more_than_a_few_guesses_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(line(n, op="GetItem", table=f"t{n}", key={"id": value("A")}) for n in range(9)) + "\n")
    assert execute(["infer", str(log)]) == 0
    assert "  and 3 more\n" in capsys.readouterr().err


def test_a_bar_shows_how_far_it_is_on_a_terminal(
    log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert execute(["infer", str(log)]) == 0
    assert "get-case-meta" in capsys.readouterr().out


def test_rates_of_a_log_of_hours_are_by_minute(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analyzer.cli.inferring._MOST_SLICES", 100)
    monkeypatch.setattr("analyzer.cli.inferring._EACH", 500)
    monkeypatch.setattr("analyzer.cli.reading._BLOCK", 20_000)
    log = tmp_path / "log.jsonl"
    key = {"PK": value("CASE#1"), "SK": value("META")}
    log.write_text(
        "\n".join(
            json.dumps({"v": 1, "time": f"2026-06-01T{h:02}:{m:02}:{s:02}Z", "op": "GetItem", "table": "t", "key": key})
            for h in range(4)
            for m in range(60)
            for s in range(0, 60, 10)
        )
        + "\n"
    )
    assert execute(["infer", str(log)]) == 0
    assert "rate: {p95: 0.1, peak: 0.1}" in capsys.readouterr().out


def test_a_put_before_the_key_of_its_table_was_known_is_taken_up_again(tmp_path: Path) -> None:
    log, draft = tmp_path / "js.log", tmp_path / "draft.yaml"

    def call(number: int, command: str, **asked: object) -> str:
        told = {"timestamp": f"2026-06-01T09:00:{number:02d}.000Z", "clientName": "DynamoDBClient"}
        asked["TableName"] = "orders"
        return json.dumps({**told, "commandName": command, "input": asked, "output": {}, "metadata": {"attempts": 1}})

    keys = [{"PK": {"S": f"ORDER#{1000 + number}"}, "SK": {"S": "META"}} for number in range(60)]
    puts = [call(number, "PutItemCommand", Item={**keys[number], "a": {"S": "x"}}) for number in range(30)]
    gets = [call(number, "GetItemCommand", Key=keys[number]) for number in range(30, 60)]
    log.write_text("\n".join([*puts, *gets]) + "\n")
    assert execute(["infer", str(log), "-o", str(draft)]) == 0
    patterns = load_contract(draft).tables[0].patterns
    assert sorted(pattern.id for pattern in patterns) == ["get-order-meta", "put-order-meta"]
