"""What is committed is what the code says, and it speaks of nothing that is not there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from analyzer.exporters.metrics import BY_NAME
from analyzer.lifecycle import causes
from dashboards.__main__ import main
from dashboards.detectors import alert_name
from dashboards.expressions import metric, unknown_metrics
from dashboards.generate import BOARDS, FOLDER, alerts, generate
from dashboards.panels import Board, Panel, Query, Row, write_board
from dashboards.recording import RECORDING
from dashboards.reference import PAGE, fill
from dashboards.rules import Places, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
RECORDED = {rule.record for group in RECORDING for rule in group.rules if isinstance(rule, Record)}


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in BOARDS:
        yield name, json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def expressions() -> Iterator[str]:
    for _, document in documents():
        yield from (target["expr"] for panel in document["panels"] for target in panel.get("targets", ()))
        yield from (annotation["expr"] for annotation in document["annotations"]["list"])
        yield from (str(variable.get("query")) for variable in document["templating"]["list"])
    yield from (alert.expr for alert in alerts())
    yield from (rule.expr for group in RECORDING for rule in group.rules if isinstance(rule, Record))


def test_what_is_committed_is_what_the_code_says() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dashboards", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / "table.json").write_text("{}"), "table.json differs"),
        (lambda folder: (folder / "alerts.yaml").unlink(), "alerts.yaml is missing"),
        (lambda folder: (folder / "mine.json").write_text("{}"), "mine.json is nothing that is generated"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Any, told: str) -> None:
    assert main(["--to", str(tmp_path)]) == 0
    assert main(["--to", str(tmp_path), "--check"]) == 0
    spoil(tmp_path)
    assert main(["--to", str(tmp_path), "--check"]) == 1
    assert told in capsys.readouterr().err


def test_nothing_is_there_before_it_is_written(tmp_path: Path) -> None:
    assert main(["--to", str(tmp_path / "no"), "--check"]) == 1


def test_links_lead_where_one_says() -> None:
    text = generate(Places("https://watcher.example", "https://grafana.example"))["alerts.yaml"]
    assert "runbook_url: https://watcher.example/docs/detectors/hot-key\n" in text
    assert "dashboard_url: https://grafana.example/d/dynascope-table?" in text
    assert "127.0.0.1" not in text


def test_dashboards_lead_to_the_page_to_runbooks_and_to_one_another() -> None:
    text = generate(Places("https://watcher.example", "https://grafana.example"))["overview.json"]
    document = json.loads(text)
    assert [(link["type"], link.get("url", "")) for link in document["links"]] == [
        ("dashboards", ""),
        ("link", "https://watcher.example/"),
        ("link", "https://watcher.example/docs/"),
    ]
    assert '"url": "https://watcher.example/docs/detectors/${__value.text}"' in text
    assert "127.0.0.1" not in text


def test_findings_and_changes_are_marked_on_the_dashboards_of_tables() -> None:
    for name, document in documents():
        marks = document["annotations"]["list"]
        told = [(one["name"], one.get("useValueForTime")) for one in marks]
        assert told == ([] if name == "watcher" else [("Critical and high findings", None), ("Changes", "on")])


def test_no_expression_asks_for_a_metric_that_there_is_not() -> None:
    asked = list(expressions())
    assert len(asked) > 150
    assert {name for expression in asked for name in unknown_metrics(expression)} == set()
    recorded = {name for one in asked for name in re.findall(r"\w+:dynascope_\w+:\w+", one)}
    assert recorded <= RECORDED


def test_every_recorded_series_is_asked_for() -> None:
    text = "\n".join(expressions())
    unused = {name for name in RECORDED if name not in text}
    assert unused == set()


@pytest.mark.parametrize("name", ["dynascope_guesses_total", "dynascope_request_duration_seconds", "requests_bucket"])
def test_a_metric_that_there_is_not_is_refused(name: str) -> None:
    assert name not in BY_NAME or name.endswith("_seconds")
    if name.startswith("dynascope"):
        with pytest.raises(KeyError):
            metric(name)
        panel = Panel(title="A", description="B", queries=(Query(f"rate({name}[1m])"),))
        with pytest.raises(KeyError):
            write_board(Board(uid="u", title="t", description="d", rows=(Row("r", (panel,)),)))


@pytest.mark.parametrize(("name", "document"), list(documents()))
def test_a_dashboard_is_whole(name: str, document: dict[str, Any]) -> None:
    panels = document["panels"]
    assert document["uid"] == f"dynascope-{name}"
    assert document["schemaVersion"] == 41
    assert len({panel["id"] for panel in panels}) == len(panels)
    variables = [variable["name"] for variable in document["templating"]["list"]]
    assert variables[0] == "datasource"
    for panel in panels:
        if panel["type"] == "row":
            continue
        assert panel["description"].endswith(".")
        assert panel["datasource"]["uid"] == "${datasource}"
        assert [target["refId"] for target in panel["targets"]] == list("ABCDEFGH"[: len(panel["targets"])])
        used = {found for target in panel["targets"] for found in re.findall(r"\$(\w+)", target["expr"])}
        assert used <= set(variables)


@pytest.mark.parametrize(("name", "document"), list(documents()))
def test_no_panel_lies_on_another(name: str, document: dict[str, Any]) -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in document["panels"]:
        place = panel["gridPos"]
        assert place.get("x", 0) + place["w"] <= 24
        for x in range(place.get("x", 0), place.get("x", 0) + place["w"]):
            for y in range(place.get("y", 0), place.get("y", 0) + place["h"]):
                assert (x, y) not in taken, f"{name}: {panel['title']} on {taken.get((x, y))}"
                taken[x, y] = panel["title"]


def test_the_example_of_alertmanager_folds_what_the_life_of_findings_folds() -> None:
    rules = YAML(typ="safe").load(ROOT / "deploy/prometheus/alertmanager.yml")["inhibit_rules"]
    folded = {(alert_name(rule.cause), alert_name(rule.effect)) for rule in causes._RULES}
    known = {alert.name for alert in alerts()}
    for rule in rules[1:]:
        sources, effects = named(rule["source_matchers"]), named(rule["target_matchers"])
        assert sources | effects <= known
        if effects != {"DynascopeThrottleBudgetBurn"}:
            assert {(source, effect) for source in sources for effect in effects} <= folded


def named(matchers: list[str]) -> set[str]:
    (found,) = [re.search(r'alertname=~?"(.+)"', text) for text in matchers if text.startswith("alertname")]
    assert found is not None
    return set(found[1].split("|"))


def test_the_page_lists_the_alerts_that_there_are(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite-golden"):
        PAGE.write_text(fill(PAGE.read_text("utf-8")), "utf-8")
    assert PAGE.read_text("utf-8") == fill(PAGE.read_text("utf-8")), "run pytest --rewrite-golden"


def test_a_page_without_its_lists_is_refused() -> None:
    with pytest.raises(ValueError, match="has no list of pages"):
        fill("nothing")
