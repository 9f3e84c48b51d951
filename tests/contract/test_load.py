from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.contract import load
from analyzer.contract.load import contract_from, load_contract, plain_document, read_contract
from analyzer.contract.model import Contract, PatternDeclaration
from analyzer.errors import ContractError
from analyzer.model.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.contract.load import Reading

FULL = """\
version: 1
callers:
  case-dashboard-api: {services: [dash], roles: ["arn:aws:iam::*:role/dash-*"], user_agents: []}
tables:
  - name: cases
    where: {accounts: ["1111*"], regions: [us-east-1], tags: {stage: production}}
    partition_key: PK
    sort_key: SK
    owner: case-platform
    ttl_attribute: expiresAt
    ttl_purpose: cleanup
    source_of_truth: true
    replicas: {write_regions: one, consistency: eventual}
    streams: [{consumer: search-indexer, purpose: search, idempotent: true, max_age: 60s}]
    entities:
      - {name: Case, PK: "CASE#<caseId>", SK: META, item_bytes: 2000}
    indexes:
      - name: GSI1
        kind: gsi
        partition_key: GSI1PK
        sort_key: GSI1SK
        projection: keys_only
        sparse: true
        staleness_tolerance: 5s
        expected_write_amplification: 1.5
        backfill_impact: none while sparse
        hot_key_risk: one investigator during an incident
        owner: case-dashboard
        types: {GSI1SK: N}
    patterns:
      - id: list-active-cases
        title: Active cases of an investigator, soonest due first
        entity: Case
        operation: Query
        index: GSI1
        key:
          GSI1PK: INVESTIGATOR#<investigatorId>#STATUS#ACTIVE
          GSI1SK: begins_with DUE#
        order: ascending
        page_size: 25
        returns_all: false
        consistency: eventual
        freshness: 5s
        filter: none
        items_per_key: 2000
        item_bytes: 2000
        rate: {p95: 100, peak: 600}
        per_key: {read_rate: 5, write_rate: 0.1, growth_per_day: 20, top_share: 10%}
        surge: {incident: 10x, replay: 3x}
        condition: none
        idempotency: natural
        transaction: {items: 3, because: state and audit together}
        slo: {p99: 20ms, errors: 0.1%}
        callers: [case-dashboard-api]
        failure_mode: hot investigator during incident response
        allow:
          - {detector: hot-key, until: 2027-03-31, reason: sharding ships in Q1}
      - id: nightly-archive
        operation: Scan
        purpose: export
        callers: [archiver]
        schedule: "0 2 * * *"
        max_units_per_second: 200
        filter: {discards_at_most: 10%}
"""
CASES = Path(__file__).parents[1] / "data"


def pattern(reading: Reading, position: int = 0) -> PatternDeclaration:
    assert reading.faults == ()
    return reading.contract.tables[0].patterns[position]


def texts(declared: PatternDeclaration) -> list[dict[str, str]]:
    return [{k.attribute: k.template.text for k in key} for key in declared.keys]


def test_every_field_of_the_format_is_read(read: Callable[..., Reading]) -> None:
    reading = read(FULL)
    declared = pattern(reading)
    assert declared.rate.peak == 600
    assert declared.per_key.top_share == 0.1
    assert declared.surge == {"incident": 10, "replay": 3}
    assert declared.slo_p99_seconds == 0.02
    assert declared.allow[0].until == "2027-03-31"
    assert declared.filter is not None
    assert not declared.filter.allowed
    archive = pattern(reading, 1)
    assert archive.scans
    assert archive.filter is not None
    assert archive.filter.discards_at_most == 0.1
    table = reading.contract.tables[0]
    assert table.streams[0].max_age_seconds == 60
    assert table.replicas is not None
    assert table.replicas.write_regions == ("one",)
    assert (table.line, declared.line, table.indexes[0].line) == (5, 31, 18)


def test_several_write_regions_are_a_list() -> None:
    contract = contract_from(
        {"tables": [{"name": "t", "partition_key": "id", "replicas": {"write_regions": ["a", "b"]}}]}
    )
    assert contract.tables[0].replicas is not None
    assert contract.tables[0].replicas.write_regions == ("a", "b")


def test_all_faults_are_told_at_once_with_line_and_mend(faults: Callable[..., list[str]]) -> None:
    text = FULL.replace("order: ascending", "ordr: ascending").replace("freshness: 5s", "freshness: soon")
    text = text.replace("operation: Scan", "operation: Skan").replace("owner: case-platform", "onwer: x")
    place = "tables.cases.patterns"
    told = faults(text)
    assert told[0] == "c.yaml:9: tables.cases.onwer: 'onwer' is no field here; did you mean owner?"
    assert told[1] == f"c.yaml:39: {place}.list-active-cases.ordr: 'ordr' is no field here; did you mean order?"
    assert told[2].startswith(
        f"c.yaml:43: {place}.list-active-cases.freshness: 'soon' is no duration; write it like 5s, "
    )
    assert told[3].startswith(f"c.yaml:59: {place}.nightly-archive.operation: 'Skan' is no DynamoDB operation; one of ")
    assert len(told) == 4


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tables: [{partition_key: PK}]", "c.yaml:1: tables.1.name: 'name' is missing; give it a name"),
        ("tables: [{name: t}]", "'partition_key' is missing; name the partition key attribute: partition_key: PK"),
        ("tables: [{name: t, partition_key: []}]", "partition_key: it is empty; write at least one"),
        ("version: 2", "version: 2 is not known here; write 1"),
        ("tabels: []", "'tabels' is no field here; did you mean tables?"),
        ("a_b: 1", "'a_b' is no field here; one of version, callers, tables"),
        ("tables: 3", "tables: input should be a valid list; write a list here: [a, b]"),
        ("tables: [3]", "tables.1: input should be a valid dictionary"),
        ("just a text", "a contract is a mapping, and this is none"),
        ("a: [1", "this is no YAML"),
    ],
)
def test_a_fault_of_form_says_what_to_write_instead(faults: Callable[..., list[str]], text: str, fault: str) -> None:
    assert fault in faults(text)[0]


PATTERN = (
    "tables: [{name: t, partition_key: PK, sort_key: SK, indexes: [{name: GSI1, partition_key: G}], patterns: [{%s}]}]"
)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("operation: Query, key: {PK: x}", "'id' is missing"),
        ("id: a, key: {PK: x}", "'operation' is missing; say what serves it: operation: Query (or query_type)"),
        ("id: other, operation: Scan", "'other' is a word of the reports themselves; choose another id"),
        ("id: '', operation: Scan", "it is empty; write at least one"),
        ("id: a, operation: Query, key: {PK: <x}", "enclose a variable"),
        ("id: a, operation: Query, key: P K", "write a list here"),
        ("id: a, operation: Query, key: 7", "write a list here"),
        ("id: a, operation: Query, key: [[1]]", "write a mapping here"),
        ("id: a, operation: Query, key: {PK: [1]}", "write a text here"),
        ("id: a, operation: Query, index: GIS1", "'GIS1' is no declared index; did you mean GSI1?"),
        ("id: a, operation: Query, allow: {x: 1}", "write a list here"),
        ("id: a, operation: Query, order: newest", "'newest' is not known here; write ascending or descending"),
        ("id: a, operation: Query, page_size: many", "write a whole number"),
        ("id: a, operation: Query, page_size: -1", "write a larger number"),
        ("id: a, operation: Query, returns_all: perhaps", "write true or false"),
        ("id: a, operation: Query, consistency: 3", "3 is not known here"),
        ("id: a, operation: Query, rate: {p95: often}", "'often' is no rate"),
        ("id: a, operation: Query, rate: {p59: 1}", "did you mean p95?"),
        ("id: a, operation: Query, rate: {x: 1}", "one of p95, peak"),
        ("id: a, operation: Query, allow: [{detector: hot-key}]", "'until' is missing; add it"),
        ("id: a, operation: Query, surge: {x: lots}", "is no multiple"),
        ("id: a, operation: Query, max_units_per_second: 0", "write a larger number"),
        ("id: a, operation: Query}, {id: a, operation: Scan", "'a' stands twice; give each a name of its own"),
        ("7", "is no field here"),
    ],
)
def test_a_fault_of_a_pattern_says_what_to_write_instead(
    faults: Callable[..., list[str]], body: str, fault: str
) -> None:
    assert any(fault in told for told in faults(PATTERN % body)), faults(PATTERN % body)


def test_what_is_sound_is_read_beside_the_faults(read: Callable[..., Reading]) -> None:
    reading = read(PATTERN % "operation: Query}, {id: a, operation: Query, ordr: x}, {id: b, operation: Get")
    assert [p.id for p in reading.contract.tables[0].patterns] == ["a", "b"]
    assert len(reading.faults) == 2


def test_an_index_without_key_is_a_fault(faults: Callable[..., list[str]]) -> None:
    told = faults("tables: [{name: t, partition_key: PK, indexes: [{name: G}, {name: V, kind: vector}]}]")
    assert told == [
        "c.yaml:1: tables.t.indexes.G: it has no partition key; name its partition key attribute: partition_key: GSI1PK"
    ]


def test_an_index_of_a_table_without_any_says_to_declare_it(faults: Callable[..., list[str]]) -> None:
    told = faults("tables: [{name: t, partition_key: PK, patterns: [{id: a, operation: Query, index: G}]}]")
    assert told[0].endswith("'G' is no declared index; declare it under indexes, with its key")


def test_an_entity_may_name_key_attributes_alone(faults: Callable[..., list[str]]) -> None:
    told = faults("tables: [{name: t, partition_key: PK, entities: [{name: E, PK: x, item_byte: 3}]}]")
    assert told[0].endswith("'item_byte' is no key attribute of the table or an index; did you mean item_bytes?")


def test_a_projection_is_a_word_or_attributes(read: Callable[..., Reading]) -> None:
    text = "tables: [{name: t, partition_key: PK, indexes: [{name: G, partition_key: K, projection: %s}]}]"
    assert [read(text % p).contract.tables[0].indexes[0].projection for p in ("KEYS-ONLY", "ALL", "[a, b]")] == [
        "keys_only",
        "all",
        ("a", "b"),
    ]
    assert "is no projection" in str(read(text % "most").faults[0])
    assert len(read(text % "{a: 1}").faults) == 1


@pytest.mark.parametrize(
    ("filter_text", "allowed", "told"),
    [
        ("none", False, None),
        ("false", False, None),
        ("true", True, None),
        ("'a = :x'", True, "a = :x"),
        ("[a, b]", True, "a, b"),
    ],
)
def test_a_filter_may_be_said_in_a_word(
    read: Callable[..., Reading], filter_text: str, *, allowed: bool, told: str | None
) -> None:
    limit = pattern(read(PATTERN % f"id: a, operation: Query, filter: {filter_text}")).filter
    assert limit is not None
    assert (limit.allowed, limit.text) == (allowed, told)


def test_a_name_that_is_known_nowhere_near_lists_what_is(faults: Callable[..., list[str]]) -> None:
    told = faults("callers: {web: {servces: x, zzz: 1}}")
    assert told[0].endswith("did you mean services?")
    assert told[1].endswith("one of services, roles, user_agents")


def test_a_bare_rate_is_the_p95(read: Callable[..., Reading]) -> None:
    assert pattern(read(PATTERN % "id: 1, operation: get, rate: 100/s")).rate.p95 == 100


def test_a_list_of_key_maps_is_kept(read: Callable[..., Reading]) -> None:
    assert texts(pattern(read(PATTERN % "id: a, operation: [BatchGet], key: [{PK: a}, {PK: b, SK: 5}]"))) == [
        {"PK": "a"},
        {"PK": "b", "SK": "5"},
    ]


def test_json_is_read_like_yaml(read: Callable[..., Reading]) -> None:
    document = {"tables": [{"name": "t", "partition_key": "PK", "patterns": [{"id": "a", "operation": "Scan"}]}]}
    assert pattern(read(json.dumps(document, indent=1), "c.json")).id == "a"
    assert str(read("{,}", "c.json").faults[0]).startswith("c.json:1: this is no JSON")


def test_an_empty_file_declares_nothing(read: Callable[..., Reading]) -> None:
    for name in ("c.yaml", "c.json", "c.md", "c"):
        reading = read("", name)
        assert (reading.contract, reading.faults) == (Contract(), ())


def test_a_recording_line_is_loaded_as_it_stands() -> None:
    contract = contract_from({"version": 1, "tables": [{"name": "lease", "partition_key": "leaseKey", "patterns": []}]})
    assert contract.table(Target(None, None, "lease")) is not None
    with pytest.raises(ContractError, match=r"contract: tables\.1\.name"):
        contract_from({"tables": [{}]})


def test_files_and_folders_are_read_as_one_contract(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yaml").write_text("tables: [{name: a, partition_key: PK}]")
    (tmp_path / "b.json").write_text('{"callers": {"web": {}}, "tables": [{"name": "b", "partition_key": "PK"}]}')
    (tmp_path / "c.md").write_text("## cats\n\n| pattern | served by |\n| --- | --- |\n| get | table GetItem |\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "d.yaml").write_text("tables: [{name: d, partition_key: PK}]")
    (tmp_path / "notes.txt").write_text("tables: [{name: d, partition_key: PK}]")
    contract = load_contract(tmp_path)
    assert sorted(table.name for table in contract.tables) == ["a", "b", "cats"]
    assert [caller.name for caller in contract.callers] == ["web"]
    assert len(load_contract([tmp_path / "b.json", tmp_path / "deep"]).tables) == 2


def test_files_of_a_folder_that_declare_nothing_are_ignored_and_named(tmp_path: Path) -> None:
    (tmp_path / "ci.yaml").write_text("jobs: [a]")
    (tmp_path / "operations.yaml").write_text("operation: x")
    (tmp_path / "list.yaml").write_text("[operation]")
    (tmp_path / "helm.yaml").write_text("patterns: {{ .Values.x }}\n  - [")
    (tmp_path / "word.yaml").write_text("patterns")
    (tmp_path / "README.md").write_text("# Hello")
    (tmp_path / "huge.yaml").write_text("# patterns\n" + "#" * 11_000_000)
    (tmp_path / "contract.yaml").write_text("")
    reading = read_contract(tmp_path)
    assert (reading.contract, reading.faults, reading.files) == (Contract(), (), ())
    assert len(reading.ignored) == 8


@pytest.mark.parametrize("name", ["contract.yaml", "access_pattern_mapping.json", "x.yaml"])
def test_a_broken_file_of_a_folder_is_a_fault_where_its_name_or_words_say_that_it_is_a_contract(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("query_type: [")
    assert len(read_contract(tmp_path).faults) == 1


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(gzip.compress(b"x"))
    (tmp_path / "huge.yaml").write_text("#" * 11_000_000)
    for name, told in (("gone.yaml", "No such file"), ("binary.yaml", "not UTF-8"), ("huge.yaml", "at most 8 MB")):
        with pytest.raises(ContractError, match=told):
            load_contract(tmp_path / name)


def test_faults_of_one_element_never_touch_its_neighbour(read: Callable[..., Reading]) -> None:
    reading = read(PATTERN % "rate: often}, {id: b, operation: get, rate: 5}, {operation: 1, id: other")
    assert [(p.id, p.rate.p95) for p in reading.contract.tables[0].patterns] == [("b", 5)]
    assert len(reading.faults) == 5


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("ends: 2027-13-45", "'2027-13-45' is no day; write it like 2027-03-31"),
        ("ends: true", "'True' is no day"),
        ("allow: [{detector: hot-key, until: '31.03.2020', reason: x}]", "'31.03.2020' is no day"),
        ("allow: [{detector: hot-key, until: 2027, reason: x}]", "'2027' is no day"),
        ("page_size: 0", "greater than or equal to 1"),
        ("page_size: " + "9" * 5000, "write a "),
        ("item_bytes: 500 KB", "no item has 512,000 bytes; DynamoDB takes at most 409,600"),
        ("item_bytes: 0", "no item has 0 bytes"),
        ("rate: {p95: 5000, peak: 1}", "its peak, 1/s, is below its p95, 5000/s; correct one of the two"),
        ("rate: {p95: .inf}", "is no rate"),
        ("rate: 1" + "0" * 400, "is no rate"),
        ("items_per_key: .inf", "write a number that something can reach"),
        ("max_units_per_second: 1.0e+400", "write a number that something can reach"),
        ("freshness: .nan", "is no duration"),
    ],
)
def test_a_value_that_cannot_be_is_a_fault_with_its_line(
    faults: Callable[..., list[str]], field: str, expected: str
) -> None:
    told = faults(f"- id: a\n  operation: Query\n  pk: X#<id>\n  {field}\n- {{id: b, operation: Skan}}\n")
    assert len(told) == 2
    assert told[0].startswith("c.yaml:4: ")
    assert expected in told[0]


def test_a_day_may_be_a_date_a_text_or_midnight(read: Callable[..., Reading]) -> None:
    rows = "".join(
        f"- {{id: p{n}, operation: Scan, ends: {day}}}\n"
        for n, day in enumerate(["2027-03-31", "'2027-03-31'", "2027-03-31T00:00:00Z"])
    )
    reading = read(rows)
    assert reading.faults == ()
    assert {pattern.ends for pattern in reading.contract.tables[0].patterns} == {"2027-03-31"}


@pytest.mark.parametrize(
    "text",
    [
        "- {pattern: A, QueryType: Scan}\n",
        "- {pattern: A, type: Scan}\n",
        "- {Pattern: A, Type: Query, PK: x}\n",
        "Patterns:\n  - {pattern: A, query_type: Scan}\n",
        "accessPattern:\n  all: {Index: GSI1, Operation: Query}\n",
        "- pattern: A\n  query_type: [Scan\n",
    ],
)
def test_what_tries_to_be_a_contract_is_judged_in_a_folder(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    reading = read_contract(tmp_path)
    assert reading.files == (str(tmp_path / "a.yaml"),)
    assert reading.faults


@pytest.mark.parametrize(
    "text",
    [
        "- {name: x, method: get, index: 1}\n",
        "paths: {operationId: query}\n",
        "patterns: scan\n",
        "patterns: ['*.scan']\n",
        "queries:\n",
    ],
)
def test_files_of_something_else_are_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    reading = read_contract(tmp_path)
    assert (reading.ignored, reading.faults) == ((str(tmp_path / "a.yaml"),), ())


def test_a_link_that_leads_nowhere_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to(tmp_path / "gone.yaml")
    (fault,) = read_contract(tmp_path).faults
    assert fault.message == "it cannot be read: No such file or directory"


def test_a_pipe_is_no_contract(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (fault,) = read_contract(tmp_path / "pipe").faults
    assert fault.message == "it is no regular file"


TABLE_OF_PATTERNS = """\
| pattern | entity | key condition | read/write | est. freq | served by |
| --- | --- | --- | --- | --- | --- |
| Get an order | Order | PK=ORDER#<id> | read | high | base table GetItem |
"""


@pytest.mark.parametrize("name", ["patterns.md", "patterns"])
def test_a_contract_in_markdown_has_a_structure_that_loads_alike(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TABLE_OF_PATTERNS)
    document = plain_document([path])
    assert document is not None
    (table,) = contract_from(document).tables
    assert [(one.title, one.operations) for one in table.patterns] == [("Get an order", ("GetItem",))]
    (tmp_path / "other.yaml").write_text("version: 1\ntables: []\n")
    assert plain_document([path, tmp_path / "other.yaml"]) is None


def test_what_is_no_contract_without_its_file_has_no_structure_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "contract.yaml"
    path.write_text("version: 1\npatterns: []\n")
    assert plain_document([path]) is not None

    def refuse(document: object, name: str = "contract") -> Contract:
        raise ContractError(())

    monkeypatch.setattr(load, "contract_from", refuse)
    assert plain_document([path]) is None
