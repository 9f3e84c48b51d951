"""The API's document is valid, is the one that docs/reference holds, and every answer of the server keeps to it."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from analyzer.exporters.openapi import openapi_document
from tests.support.page_server import PageServer

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"


@pytest.fixture(scope="module")
def served() -> Iterator[PageServer]:
    with PageServer() as server:
        yield server


def validator(name: str) -> Draft202012Validator:
    schemas = openapi_document()["components"]["schemas"]
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}})


def test_every_schema_is_one_and_every_reference_leads_somewhere() -> None:
    document = openapi_document()
    schemas = document["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    named = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert named == set(schemas)


def test_docs_hold_the_same(request: pytest.FixtureRequest) -> None:
    text = json.dumps(openapi_document(), indent=2) + "\n"
    if request.config.getoption("--rewrite-golden"):
        PAGE.write_text(text, "utf-8")
    assert PAGE.read_text("utf-8") == text, "run pytest --rewrite-golden tests/exporters/test_openapi.py"


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("report", "Report"),
        ("findings", "Findings"),
        ("patterns", "Patterns"),
        ("changes", "Changes"),
        ("targets", "Targets"),
        ("heatmap", "HeatMap"),
        ("heatmap?table=orders&direction=write&step=1s&mode=relative", "HeatMap"),
        ("heatmap?table=sessions", "HeatMap"),
        ("gsi", "Indexes"),
        ("honesty", "Honesty"),
        ("figures/heatmap", "Figure"),
        ("figures/heatmap?mode=relative", "Figure"),
        ("figures/top?table=orders", "Figure"),
        ("figures/shares", "Figure"),
        ("figures/gsi-lag", "Figure"),
    ],
)
def test_an_answer_keeps_to_its_schema(served: PageServer, path: str, schema: str) -> None:
    with urllib.request.urlopen(f"{served.url}/api/v1/{path}") as answer:
        document: dict[str, Any] = json.load(answer)
    assert [error.message for error in validator(schema).iter_errors(document)] == []


def test_the_server_hands_out_its_document(served: PageServer) -> None:
    with urllib.request.urlopen(f"{served.url}/api/v1/openapi.json") as answer:
        assert json.load(answer) == openapi_document()
