"""The queries of the page on history run on what a daemon writes, as they stand there."""

from __future__ import annotations

import ast
import asyncio
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analyzer.history.columns import SCHEMAS, Kind
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from tests.history.test_dataset import key, minute

PAGE = (Path(__file__).parents[2] / "docs/history.md").read_text("utf-8")
BLOCKS = re.findall(r"```(python|sql)\n(.*?)```", PAGE, re.DOTALL)
PANDAS, DUCKDB, ATHENA, SPARK = (text for _, text in BLOCKS)


def asked(query: str) -> list[Any]:
    found = duckdb.sql(query)
    return [] if found is None else found.fetchall()


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    dataset = Dataset(FolderBlobs(tmp_path / "history"), "d1")
    asyncio.run(dataset.write_minutes([minute(0, keys=(key(),)), minute(1, requests=300)]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("history")
def test_the_query_for_pandas_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(PANDAS, {})
    assert re.search(r"cases\s+load-case\s+200", capsys.readouterr().out)


@pytest.mark.usefixtures("history")
def test_the_query_for_duckdb_runs() -> None:
    assert asked(DUCKDB) == [("cases", "load-case", 400.0, 0.5)]


@pytest.mark.usefixtures("history")
def test_duckdb_reads_latencies_as_a_map() -> None:
    maps = "SELECT sum(list_sum(map_values(latency_ms))) FROM read_parquet('history/kind=requests/**/*.parquet')"
    ((calls,),) = asked(maps)
    assert calls == 200


def test_the_table_for_athena_has_columns_that_there_are_with_their_types() -> None:
    body = ATHENA.partition("(")[2].partition(")\nPARTITIONED")[0]
    declared = dict(re.findall(r"(\w+) (timestamp|string|boolean|double|bigint|map<float,int>)", body))
    kinds = {
        "timestamp[ms, tz=UTC]": "timestamp",
        "bool": "boolean",
        "int64": "bigint",
        "map<float, int32>": "map<float,int>",
    }
    schema = SCHEMAS[Kind.HOURS]
    assert declared
    for name, kind in declared.items():
        stored = str(schema.field(name).type)
        assert kinds.get(stored, stored) == kind, name
    assert ATHENA.count("(") == ATHENA.count(")")
    assert "kind=hours/date=${date}/" in ATHENA


def test_the_query_for_spark_is_python_and_asks_for_columns_that_there_are() -> None:
    assert ast.parse(SPARK)
    asked = set(re.findall(r'"(\w+)"', SPARK))
    assert asked <= set(SCHEMAS[Kind.HOURS].names)


def test_every_kind_is_on_the_page() -> None:
    assert [kind for kind in Kind if f"`{kind.value}`" not in PAGE] == []
