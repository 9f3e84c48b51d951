from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from analyzer.cli.main import execute

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "deploy/demo/contract.yaml"
LOG = ROOT / "tests/data/demo.jsonl.gz"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = execute(["diff", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def changed(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = DEMO.read_text("utf-8")
    for old, new in changes:
        assert re.search(old, text, re.DOTALL)
        text = re.sub(old, new, text, flags=re.DOTALL)
    path = tmp_path / "changed.yaml"
    path.write_text(text, "utf-8")
    return path


def test_the_same_contract_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, DEMO, DEMO)
    assert (code, out) == (
        0,
        "CHANGE OF CONTRACT\nNothing changes in what is served, by which key, and at what cost.\n",
    )


def test_shards_and_a_narrower_projection_are_weighed_at_observed_traffic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = changed(
        tmp_path, ("REGION#<region>", "REGION#<region>#<0..9>"), ("projection: all", "projection: keys_only")
    )
    code, out, _ = run(capsys, DEMO, after, "--log", LOG)
    assert code == 0
    assert "No heat crosses 1, and no pattern loses its index." in out
    assert "at the observed rates" in out
    assert re.search(r"GSI2 +GSI2PK=REGION#<region>#<0\.\.9> +write +1\.46 → 0\.\d\d", out)
    assert "projection all → keys_only" in out


def test_an_index_that_is_lost_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    after = changed(
        tmp_path,
        (r"      - name: GSI1.*?(?=      - name: GSI2)", ""),
        (r"      - id: list-active.*?(?=      - id: case-h)", ""),
    )
    code, out, _ = run(capsys, DEMO, after, "--log", LOG)
    assert code == 1
    assert "! cases: list-active-cases loses its index: GSI1 is gone" in out
    assert "Observed, and declared no more: list-active-cases (3.72/s)" in out


def test_heat_over_one_ends_with_1_and_markdown_says_it_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = changed(
        tmp_path, (r"rate: \{p95: 10, peak: 60\}", "rate: {p95: 10, peak: 60}\n        per_key: {read_rate: 9000}")
    )
    code, _, _ = run(capsys, DEMO, after, "-o", tmp_path / "a.md")
    text = (tmp_path / "a.md").read_text("utf-8")
    assert code == 1
    assert text.startswith("# Change of contract\n\n> **cases: heat of PK=CASE")
    assert "at the declared rates: no traffic was given" in text


def test_json_tells_every_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    after = changed(tmp_path, ("page_size: 20", "page_size: 200"))
    told = json.loads(run(capsys, DEMO, after, "--format", "json")[1])
    patterns = {one["pattern"]: one for one in told["tables"][0]["patterns"]}
    assert told["v"] == 1
    assert patterns["case-history"]["fields"] == ["page_size 20 → 200"]
    assert patterns["case-history"]["units_after"] > patterns["case-history"]["units_before"]
    assert patterns["load-case"]["what"] == "same"


def test_a_table_that_costs_nobody_knows_what_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, size in (("a", 1), ("b", 9000)):
        pattern = f"{{id: get, operation: GetItem, key: {{PK: 'X#<x>'}}, item_bytes: {size}}}"
        (tmp_path / name).write_text(
            f"version: 1\ntables:\n  - {{name: t, partition_key: PK, patterns: [{pattern}]}}\n"
        )
    _, out, _ = run(capsys, tmp_path / "a", tmp_path / "b")
    assert "What it costs cannot be told" in out
    assert "Not in that sum, too little is declared or observed: get." in out


def test_logs_of_other_tables_are_said_to_be_that(
    tmp_path: Path, quiet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = changed(tmp_path, ("- name: cases", "- name: users"))
    code, out, _ = run(capsys, before, before, "--log", quiet)
    assert code == 3
    assert "the logs hold no request to a table of" in out


def test_an_index_whose_loss_no_log_shows_cannot_be_told(
    tmp_path: Path, quiet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = changed(tmp_path, ("- name: cases", "- name: users"))
    before = before.rename(tmp_path / "before.yaml")
    after = changed(
        tmp_path,
        ("- name: cases", "- name: users"),
        (r"      - name: GSI1.*?(?=      - name: GSI2)", ""),
        (r"      - id: list-active.*?(?=      - id: case-h)", ""),
    )
    code, out, _ = run(capsys, before, after, "--log", quiet)
    told = " ".join(out.split())
    assert code == 3
    assert "the traffic that was given does not tell whether its requests go on" in told
    assert "at the declared rates: the traffic that was given holds nothing of this table" in told
    assert "no traffic was given" not in told
    assert run(capsys, before, after)[0] == 1


def test_a_table_that_is_new_is_not_said_to_be_missing_in_the_log(
    tmp_path: Path, quiet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = changed(tmp_path, ("- name: cases", "- name: users"))
    _, out, _ = run(capsys, DEMO, after, "--log", quiet)
    assert "traffic is that of the old contract, which does not declare this table" in " ".join(out.split())


def test_an_empty_log_cannot_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.jsonl"
    log.touch()
    code, out, err = run(capsys, DEMO, DEMO, "--log", log)
    assert (code, out) == (3, "")
    assert f"{log}: no request can be read" in err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("DEMO", "gone.yaml"), 2, "gone.yaml: there is no such file or folder"),
        (("DEMO", "DEMO", "--since", "7d"), 2, "--since bounds the stretch of a --log"),
        (("DEMO", "BROKEN"), 2, "broken.yaml:3"),
    ],
)
def test_what_cannot_work_is_said(
    words: tuple[str, ...], code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.yaml").write_text("version: 1\ntables:\n  - {name: t}\n")
    places = {"DEMO": str(DEMO), "BROKEN": str(tmp_path / "broken.yaml")}
    ended, _, err = run(capsys, *(places.get(word, word) for word in words))
    assert ended == code
    assert told in err


@pytest.mark.parametrize("name", ["github-diff.yml", "gitlab-diff.yml"])
def test_the_recipes_are_yaml_and_call_commands_that_exist(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "deploy/ci" / name).read_text("utf-8")
    assert YAML(typ="safe").load(text)
    commands = re.findall(r"(?:- |: )dynascope ([a-z]+)([^\n]*)", text)
    assert [command for command, _ in commands] == ["check", "diff"]
    for command, rest in commands:
        assert execute([command, "--help"]) == 0
        help_text = capsys.readouterr().out
        assert all(option in help_text for option in re.findall(r"(?<=\s)--?[a-z]+", rest))
