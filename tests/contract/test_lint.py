from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.contract.lint import Remark, lint, rule_name, unknown_detectors
from analyzer.contract.load import contract_from, read_text
from analyzer.contract.rules import RULES
from analyzer.contract.scope import Limits

if TYPE_CHECKING:
    from collections.abc import Callable


GET = {"id": "get", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "META"}}
LIST = {"id": "list", "operation": "Query", "key": {"PK": "CASE#<id>"}}
ACTIVE = {"id": "active", "operation": "Query", "index": "GSI1", "key": {"GSI1PK": "INV#<id>#ACTIVE"}}
SCAN = {"id": "scan", "operation": "Scan"}
DECLARED_SCAN = SCAN | {"callers": ["x"], "purpose": "export", "schedule": "0 2 * * *", "max_units_per_second": 200}


def test_a_sound_contract_has_no_remarks(rules: Callable[..., dict[str, str]]) -> None:
    assert rules(GET, LIST, ACTIVE) == {}


def test_every_rule_has_a_name_of_its_own_and_says_what_it_finds() -> None:
    names = [rule_name(rule) for rule in RULES]
    assert len(set(names)) == len(names)
    assert {"scan-pattern", "filter-in-pattern", "peak-over-ceiling"} < set(names)
    assert all(rule.__doc__ for rule in RULES)


def test_a_remark_is_one_line_with_place_and_mend() -> None:
    reading = read_text("- {id: a, query_type: scan}", "c.yaml")
    told = [str(remark) for remark in lint(reading.contract, Limits(strict=True))]
    assert told[1] == (
        "c.yaml:1: fail scan-pattern: a: it is served by a Scan; "
        "serve it with a key: GetItem, or Query of the table or an index"
    )
    assert str(Remark("warn", "x", "f", None, "m", "n", "r", "t")) == "f: warn r: x: m; n"


@pytest.mark.parametrize(
    ("pattern", "rule", "severity"),
    [
        (SCAN, "scan-pattern", "fail"),
        (SCAN | {"index": "GSI1"}, "scan-pattern", "fail"),
        (DECLARED_SCAN, "scan-pattern", "warn"),
        ({"id": "a", "operation": "Query"}, "no-key-target", "fail"),
        ({"id": "a", "operation": "PutItem"}, "no-key-target", "fail"),
        (LIST | {"filter": "a = :x"}, "filter-in-pattern", "warn"),
        (LIST | {"filter": {"discards_at_most": "10%"}}, "filter-in-pattern", "warn"),
        (GET | {"operation": "BatchGetItem", "page_size": 101}, "batch-too-large", "fail"),
        (GET | {"operation": "BatchWriteItem", "page_size": 26}, "batch-too-large", "fail"),
        (GET | {"operation": "TransactWriteItems", "transaction": {"items": 101}}, "batch-too-large", "fail"),
        (ACTIVE | {"consistency": "strong"}, "strong-on-gsi", "fail"),
        (ACTIVE | {"operation": "GetItem"}, "item-operation-on-index", "fail"),
        (LIST | {"rate": None}, "title-without-numbers", "warn"),
        (LIST | {"page_size": None}, "title-without-numbers", "warn"),
        (GET | {"key": {"PK": "CASE#<id>"}}, "no-sort-key", "warn"),
        (LIST | {"key": {"SK": "META"}}, "no-partition-key", "fail"),
        (LIST | {"key": {"PK": "begins_with CASE#"}}, "no-partition-key", "fail"),
        (GET | {"key": {"PK": "CASE#<id>", "SK": "begins_with A"}}, "condition-in-item-key", "fail"),
        (LIST | {"key": {"PK": "CASE#<id>", "GSI1SK": "x"}}, "foreign-key-attribute", "fail"),
        (LIST | {"key": {"PK": "CASE#{id}#<n>"}}, "braces-in-template", "warn"),
        (ACTIVE | {"key": {"GSI1PK": "OPEN"}}, "low-cardinality-key", "warn"),
        (ACTIVE | {"key": {"GSI1PK": "STATUS#<status>"}}, "low-cardinality-key", "warn"),
        (ACTIVE | {"key": {"GSI1PK": "STATUS#<s=OPEN|CLOSED>"}}, "low-cardinality-key", "warn"),
        (ACTIVE | {"key": {"GSI1PK": "<caseStatus>"}}, "low-cardinality-key", "warn"),
        (LIST | {"key": {"PK": "C#<id>", "SK": "begins_with <dd-mm-yyyy>"}}, "unsortable-dates", "warn"),
        (LIST | {"key": {"PK": "C#<id>", "SK": "D#<month>/<day>/<year>"}}, "unsortable-dates", "warn"),
        (LIST | {"key": {"PK": "C#<id>", "SK": "<date=31/12/2026>"}}, "unsortable-dates", "warn"),
    ],
)
def test_a_rule_objects(rules: Callable[..., dict[str, str]], pattern: object, rule: str, severity: str) -> None:
    assert rules(pattern).get(rule) == severity


@pytest.mark.parametrize(
    "pattern",
    [
        LIST | {"filter": "none"},
        GET | {"operation": "BatchGetItem", "page_size": 100},
        GET | {"operation": "TransactWriteItems", "transaction": {"items": 100}},
        LIST | {"consistency": "strong"},
        LIST | {"rate": None, "frequency": "high"},
        LIST | {"page_size": None, "returns_all": True},
        {"id": "put", "operation": "PutItem", "key": {"PK": "CASE#<id>", "SK": "META", "GSI1PK": "X#<id>"}},
        ACTIVE | {"key": {"GSI1PK": "OPEN#<0..9>"}},
        ACTIVE | {"key": {"GSI1PK": "STATUS#<status>#<userId>"}},
        ACTIVE | {"key": {"GSI1PK": "X#<_>"}},
        LIST | {"key": {"PK": "C#<id>", "SK": "begins_with <yyyy-mm-dd>"}},
    ],
)
def test_what_is_as_it_should_be_is_left_alone(rules: Callable[..., dict[str, str]], pattern: object) -> None:
    assert rules(pattern) == {}


def test_strict_fails_every_scan(rules: Callable[..., dict[str, str]]) -> None:
    assert rules(DECLARED_SCAN, limits=Limits(strict=True)) == {"scan-pattern": "fail"}


def test_a_scan_says_what_its_declaration_lacks(judge: Callable[..., list[Remark]]) -> None:
    told = next(r.message for r in judge(SCAN | {"callers": ["x"], "ends": "2026-12-31"}) if r.rule == "scan-pattern")
    assert told.endswith("not declared operational: why (purpose), how fast (max_units_per_second)")


def test_a_low_cardinality_key_is_told_once(judge: Callable[..., list[Remark]]) -> None:
    patterns = [ACTIVE | {"id": name, "key": {"GSI1PK": "OPEN"}, "callers": [name]} for name in ("a", "b")]
    assert [r.rule for r in judge(*patterns)].count("low-cardinality-key") == 1


def test_a_strong_read_of_a_local_index_is_allowed(rules: Callable[..., dict[str, str]]) -> None:
    lsi = {"name": "L", "kind": "lsi", "partition_key": "PK", "sort_key": "at", "projection": "keys_only"}
    pattern = {"id": "a", "operation": "Query", "index": "L", "key": {"PK": "C#<id>"}, "consistency": "strong"}
    assert rules(pattern, indexes=[lsi]) == {}


def gsi(name: str, **rest: object) -> dict[str, object]:
    return {"name": name, "partition_key": f"{name}PK", "staleness_tolerance": "5s"} | rest


@pytest.mark.parametrize(
    ("indexes", "rule", "severity"),
    [
        ([gsi(f"GSI{n}") for n in range(21)], "too-many-indexes", "fail"),
        ([gsi(f"L{n}", kind="lsi", partition_key="PK") for n in range(6)], "too-many-indexes", "fail"),
        ([gsi("GSI1")], "unserved-index", "warn"),
        ([gsi("GSI1", partition_key="PK", sort_key="SK")], "index-like-table", "warn"),
        ([gsi("GSI1", partition_key="PK")], "index-like-table", "warn"),
        ([gsi(n, partition_key=n) for n in ("mail", "phone", "city")], "index-an-attribute", "warn"),
        ([gsi("GSI1", projection="all")], "projects-all", "warn"),
        ([gsi("L", kind="lsi")], "lsi-of-another-key", "fail"),
        ([gsi("GSI1", partition_key=["a", "b", "c", "d", "e"])], "too-many-key-attributes", "fail"),
    ],
)
def test_a_rule_objects_to_indexes(
    rules: Callable[..., dict[str, str]], indexes: object, rule: str, severity: str
) -> None:
    assert rules(LIST, indexes=indexes).get(rule) == severity


def test_a_raised_quota_allows_more_indexes(rules: Callable[..., dict[str, str]]) -> None:
    indexes = [gsi(f"GSI{n}") for n in range(21)]
    assert "too-many-indexes" not in rules(LIST, indexes=indexes, limits=Limits(gsis=25))


def test_an_index_whose_staleness_nobody_declares_is_told(rules: Callable[..., dict[str, str]]) -> None:
    indexes = [{"name": "GSI1", "partition_key": "GSI1PK"}]
    assert rules(ACTIVE, indexes=indexes) == {"no-staleness": "warn"}
    assert rules(ACTIVE | {"freshness": "5s"}, indexes=indexes) == {}


def test_a_table_has_one_attribute_a_key(rules: Callable[..., dict[str, str]]) -> None:
    assert rules(LIST, partition_key=["PK", "b"]).get("too-many-key-attributes") == "fail"


@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ({"owner": None}, "no-owner"),
        ({"source_of_truth": False}, "no-rebuild"),
        ({"entities": [{"name": "Case"}]}, "unknown-entity"),
        ({"callers": {"case-api": {}}}, "unknown-caller"),
    ],
)
def test_a_rule_objects_to_a_table(rules: Callable[..., dict[str, str]], table: dict[str, object], rule: str) -> None:
    assert rules(LIST | {"entity": "Cases", "callers": ["case-apy", "x"]}, **table) == {rule: "warn"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("case-dashbaord-api", "did you mean case-dashboard-api?"),
        ("case-dashboard-api-1", None),
        ("Case-Dashboard-API", "did you mean case-dashboard-api?"),
        ("case-dashboard-job", None),
        ("wev", "did you mean web?"),
        ("wap", None),
        ("web2", None),
        ("dash", "write case-dashboard-api, whose service it is"),
    ],
)
def test_a_caller_is_a_typo_where_a_letter_or_two_make_it_another(
    judge: Callable[..., list[Remark]], name: str, told: str | None
) -> None:
    callers = {"case-dashboard-api": {"services": ["dash"]}, "web": {}}
    remarks = [r for r in judge(LIST | {"callers": [name]}, callers=callers) if r.rule == "unknown-caller"]
    assert [remark.mend for remark in remarks] == ([] if told is None else [told])


def test_a_projection_that_can_be_rebuilt_is_fine(rules: Callable[..., dict[str, str]]) -> None:
    assert rules(LIST, source_of_truth=False, rebuild="replay") == {}
    assert rules(LIST | {"entity": "Case", "callers": ["web"]}, entities=[{"name": "Case"}], callers={"web": {}}) == {}


def test_the_unnamed_table_is_called_the_table() -> None:
    remarks = lint(contract_from([{"id": "a", "pk": "CASE#<id>", "query_type": "get"}]))
    assert [r.field for r in remarks if r.rule == "no-owner"] == ["the table"]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"PK": "CASE#<id>"}, {"PK": "CASE#<caseId>"}),
        ({"PK": "A#<x>"}, {"PK": "<y>#B"}),
        ({"PK": "C#<id>", "SK": "begins_with A#<x>"}, {"PK": "C#<id>", "SK": "begins_with A#<y>"}),
    ],
)
def test_templates_that_one_key_can_fit_fail_naming_both(
    judge: Callable[..., list[Remark]], one: dict[str, str], two: dict[str, str]
) -> None:
    remarks = judge(LIST | {"id": "one", "key": one}, LIST | {"id": "two", "key": two})
    (told,) = [r for r in remarks if r.rule == "ambiguous-templates"]
    assert told.severity == "fail"
    assert told.message.startswith("one and two overlap: one key can fit PK ")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (LIST, {"key": {"PK": "CASE#<id>", "SK": "begins_with AUDIT#"}}),
        (LIST, {"key": {"PK": "USER#<id>"}}),
        (LIST, {"key": {"PK": "CASE#<id>#AUDIT"}}),
        (LIST | {"order": "ascending"}, {"order": "descending"}),
        (LIST | {"filter": "none"}, {"filter": "a = :x"}),
        (LIST | {"callers": ["a"]}, {"callers": ["b"]}),
        (LIST, {"operation": "GetItem"}),
        (ACTIVE, {"index": None, "key": {"PK": "x#<id>"}}),
        (LIST, {"key": [{"PK": "a"}, {"PK": "b"}]}),
        ({"id": "x", "operation": "Query", "index": "GSI1"}, {"key": {"GSI1PK": "a#<id>"}}),
        ({"id": "x", "operation": ["Query", "Scan"], "index": "GSI1"}, {"operation": "Query"}),
    ],
)
def test_requests_that_can_be_told_apart_are_no_ambiguity(
    rules: Callable[..., dict[str, str]], one: dict[str, object], two: dict[str, object]
) -> None:
    found = rules(one | {"id": "one"}, one | {"id": "two"} | two)
    assert not {"ambiguous-templates", "same-request"} & set(found)


@pytest.mark.parametrize(
    "pattern", [LIST, DECLARED_SCAN, ACTIVE | {"key": []}, GET | {"key": [{"PK": "a"}, {"PK": "b"}]}]
)
def test_one_request_declared_twice_warns(rules: Callable[..., dict[str, str]], pattern: dict[str, object]) -> None:
    assert rules(pattern | {"id": "one"}, pattern | {"id": "two"}).get("same-request") == "warn"


def test_keys_that_an_imported_mapping_leaves_open_warn_within_an_entity_alone() -> None:
    rows = [("a", "User", "<id>"), ("b", "User", "<userId>"), ("c", "Deal", "<id>")]
    document = [{"id": i, "entity": e, "pk": pk, "query_type": "get"} for i, e, pk in rows]
    found = [r for r in lint(contract_from(document)) if r.rule in ("ambiguous-templates", "same-request")]
    assert [(r.field, r.severity, r.rule) for r in found] == [("b", "warn", "ambiguous-templates")]


HOT = {"rate": {"p95": 100, "peak": 6000}, "per_key": {"top_share": "70%"}}


@pytest.mark.parametrize(
    ("change", "severity", "told"),
    [
        (
            {"consistency": "strong"},
            "fail",
            "at peak heat is 1.4: will throttle (6,000 requests a second × 0.7 × 1 units",
        ),
        ({}, "warn", "at peak heat is 0.70: little headroom"),
        ({"surge": {"incident": "2x"}}, "warn", "in a surge heat is 1.4: would throttle"),
        ({"rate": {"peak": 10}, "surge": {"incident": "2x"}}, None, ""),
        ({"per_key": {"top_share": "1%"}}, None, ""),
        ({"per_key": {}}, None, ""),
        ({"per_key": {"read_rate": 3000}, "consistency": "strong"}, "fail", "heat is 1.0"),
        ({"item_bytes": 40_000}, "fail", "× 5 units"),
        ({"entity": "Case"}, "fail", "× 5 units"),
        ({"operation": "TransactGetItems"}, "fail", "× 2 units"),
        ({"operation": "PutItem"}, "fail", "against 1,000 write units a second on one key CASE#<id> of cases"),
        ({"operation": "Query", "page_size": 100, "item_bytes": 400}, "fail", "× 5 units"),
        ({"operation": "Query", "page_size": 100, "items_per_key": 10, "item_bytes": 4096}, "fail", "× 5 units"),
        (
            {"operation": "Query", "page_size": 1, "items_per_key": 10, "item_bytes": 4096, "returns_all": True},
            "fail",
            "5",
        ),
        ({"operation": "Query", "page_size": 100_000, "item_bytes": 4096}, "fail", "× 128 units"),
        ({"key": {"PK": "CONFIG", "SK": "META"}, "per_key": {}, "consistency": "strong"}, "fail", "heat is 2.0"),
        (
            {"per_key": {"write_rate": 1000}, "rate": None, "frequency": "high", "operation": "UpdateItem"},
            "fail",
            "1.0",
        ),
    ],
)
def test_declared_peak_times_top_share_is_held_against_the_ceiling(
    judge: Callable[..., list[Remark]], change: dict[str, object], severity: str | None, told: str
) -> None:
    entities = [{"name": "Case", "item_bytes": 40_000}]
    found = [r for r in judge(GET | HOT | change, entities=entities) if r.rule == "peak-over-ceiling"]
    assert [r.severity for r in found] == ([severity] if severity else [])
    assert all(told in r.message for r in found)


def test_patterns_of_one_key_template_heat_it_together(judge: Callable[..., list[Remark]]) -> None:
    other = GET | HOT | {"id": "more", "callers": ["x"], "key": {"PK": "CASE#<id>", "SK": "NOTE"}}
    (found,) = [r for r in judge(GET | HOT, other) if r.rule == "peak-over-ceiling"]
    assert "heat is 1.4: will throttle (get: 6,000 requests a second × 0.7 × 0.5 units + more: " in found.message


@pytest.mark.parametrize(("peak", "severity"), [(2000, "fail"), (600, "warn"), (100, None)])
def test_an_index_key_that_never_varies_gets_every_write(
    judge: Callable[..., list[Remark]], peak: int, severity: str | None
) -> None:
    put = {"id": "put", "operation": "PutItem", "entity": "Case", "key": {"PK": "C#<id>", "SK": "META"}}
    entities = [
        {"name": "Case", "PK": "C#<id>", "SK": "META", "GSI1PK": "OPEN"},
        {"name": "Note", "PK": "C#<id>", "SK": "NOTE", "GSI1PK": "N#<id>"},
    ]
    found = [r for r in judge(put | {"rate": {"peak": peak}}, entities=entities) if r.rule == "constant-index-key"]
    assert [r.severity for r in found] == ([severity] if severity else [])
    assert all(f"at peak put write {peak:,} times a second to one key of GSI1" in r.message for r in found)


def test_every_rule_has_a_row_in_the_reference() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "check.md").read_text()
    names = {"form", "differs-from-table", *(rule_name(rule) for rule in RULES)}
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == names


@pytest.mark.parametrize(
    "row",
    [
        "{id: a, sk: X, query_type: Query}",
        "{id: a, pk: , sk: X, query_type: Query}",
        "{id: a, pk: , index: GSI1, query_type: Query}",
    ],
)
def test_a_plain_row_without_a_partition_key_fails(row: str) -> None:
    remarks = lint(read_text(f"- {row}", "c.yaml").contract)
    assert "no-partition-key" in {remark.rule for remark in remarks if remark.severity == "fail"}


def test_a_key_that_a_comment_swallowed_is_told() -> None:
    remarks = lint(read_text("- id: a\n  pk: #<id>\n  query_type: Query\n", "c.yaml").contract)
    assert [r.mend for r in remarks if r.rule == "no-partition-key"] == [
        "write it; one that begins with # needs quotes, or YAML takes it for a comment"
    ]


def test_a_day_that_is_over_is_told_where_there_is_a_clock(rules: Callable[..., dict[str, str]]) -> None:
    allow = [{"detector": "hot-key", "until": "2026-03-31", "reason": "x"}]
    pattern = LIST | {"ends": "2026-11-29", "allow": allow}
    assert rules(pattern) == {}
    assert rules(pattern, limits=Limits(today="2026-11-30")) == {"day-is-over": "warn"}
    assert rules(pattern, limits=Limits(today="2026-03-31")) == {}


@pytest.mark.parametrize(
    ("until", "told"),
    [("2027-12-01", {}), ("2027-12-02", {"allowed-for-years": "warn"}), ("9999-12-31", {"allowed-for-years": "warn"})],
)
def test_what_is_accepted_for_over_a_year_is_told(
    rules: Callable[..., dict[str, str]], until: str, told: dict[str, str]
) -> None:
    pattern = LIST | {"allow": [{"detector": "hot-key", "until": until, "reason": "x"}]}
    assert rules(pattern, limits=Limits(today="2026-11-30")) == told
    assert rules(pattern) == {}


@pytest.mark.parametrize(
    "blank", [{"callers": [" "]}, {"callers": ["-"]}, {"purpose": ""}, {"schedule": " "}, {"schedule": "TBD"}]
)
def test_blank_values_declare_nothing_of_a_scan(rules: Callable[..., dict[str, str]], blank: dict[str, object]) -> None:
    assert rules(DECLARED_SCAN)["scan-pattern"] == "warn"
    assert rules(DECLARED_SCAN | blank)["scan-pattern"] == "fail"


def test_a_scan_whose_last_day_is_over_is_declared_no_more(rules: Callable[..., dict[str, str]]) -> None:
    scan = {name: value for name, value in DECLARED_SCAN.items() if name != "schedule"} | {"ends": "2026-11-29"}
    assert rules(scan)["scan-pattern"] == "warn"
    assert rules(scan, limits=Limits(today="2026-11-30"))["scan-pattern"] == "fail"


def test_a_transaction_of_too_many_items_fails_whatever_it_is_called(rules: Callable[..., dict[str, str]]) -> None:
    assert rules(GET | {"operation": "PutItem", "transaction": {"items": 101}})["batch-too-large"] == "fail"
    assert rules(GET | {"operation": "PutItem", "transaction": {"items": 100}}) == {}


def test_a_schedule_that_no_scheduler_takes_is_told(rules: Callable[..., dict[str, str]]) -> None:
    assert rules(LIST | {"schedule": "61 2 * * *"}) == {"malformed-schedule": "warn"}


def test_an_allowance_of_a_detector_that_does_not_exist_is_a_fault() -> None:
    text = "- {id: a, op: get, pk: x, allow: [{detector: hotkey, until: 2027-01-01, reason: x}]}"
    (fault,) = unknown_detectors(read_text(text, "c.yaml").contract, ["hot-key"])
    assert str(fault) == "c.yaml:1: tables.*.patterns.a.allow: 'hotkey' is no detector; did you mean hot-key?"


def test_of_one_pattern_a_few_rivals_are_told(judge: Callable[..., list[Remark]]) -> None:
    remarks = judge(*(LIST | {"id": f"p{n}"} for n in range(9)))
    assert sum(remark.rule == "same-request" and remark.field == "p8" for remark in remarks) == 5


def test_patterns_whose_literals_cannot_meet_are_never_compared(
    judge: Callable[..., list[Remark]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bool:
        raise AssertionError

    monkeypatch.setattr("analyzer.contract.rules.overlaps._is_colliding", refuse)
    keys = [{"PK": f"A{n:03}#<id>"} for n in range(50)] + [{"PK": "B#<id>", "SK": f"<x>#{n:03}"} for n in range(50)]
    remarks = judge(*(LIST | {"id": f"p{n}", "key": key} for n, key in enumerate(keys)), indexes=[])
    assert remarks == []
