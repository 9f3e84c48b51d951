from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.contract.lint import lint
from analyzer.contract.load import read_text

KEYS = st.sampled_from(
    [
        *(
            "version",
            "callers",
            "tables",
            "table",
            "name",
            "where",
            "accounts",
            "partition_key",
            "sort_key",
            "pk",
            "sk",
        ),
        *("owner", "types", "entities", "indexes", "projection", "patterns", "id", "title", "operation", "query_type"),
        *(
            "index",
            "key",
            "order",
            "page_size",
            "filter",
            "rate",
            "p95",
            "peak",
            "per_key",
            "top_share",
            "surge",
            "allow",
        ),
        *("consistency", "access_pattern_mapping", "parameters", "range_condition", "index_name", "pattern_id", "x"),
        *("transaction", "items", "streams", "services", "replicas", "key_condition", "source_of_truth", "(assumed)"),
    ]
)
TEXTS = ["", "PK", "Query", "Scan", "get", "CASE#<id>", "<", "begins_with A", "5s", "10%", "gsi", "GSI1", "PK=a, SK=b"]
LEAVES = st.none() | st.booleans() | st.integers(-2, 5) | st.floats(0, 2) | st.sampled_from(TEXTS)
DOCUMENTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=40
)
WORDS = ["pattern", "served by", "key", "id", "index", "a", "PK=x", "Query", "`", "\\|", "<", ""]
CELLS = st.lists(st.sampled_from(WORDS))


@settings(max_examples=400, deadline=None)
@given(document=DOCUMENTS)
def test_whatever_a_document_holds_ends_in_a_contract_and_faults(document: object) -> None:
    reading = read_text(json.dumps(document), "c.json")
    assert all(str(fault).startswith("c.json") for fault in reading.faults)
    lint(reading.contract)


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(CELLS, max_size=5))
def test_whatever_a_markdown_table_holds_ends_in_a_contract_and_faults(rows: list[list[str]]) -> None:
    head = "## t1a\n| pattern | key | served by |\n|---|---|---|\n"
    text = head + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    lint(read_text(text, "c.md").contract)


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=60))
def test_whatever_a_text_holds_ends_in_a_contract_and_faults(text: str) -> None:
    for name in ("c.yaml", "c.json", "c.md", "c"):
        lint(read_text(text, name).contract)
