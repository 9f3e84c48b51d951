from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from analyzer import config_prices
from analyzer.cli.main import execute
from analyzer.config import load_settings
from analyzer.config_prices import price_sections, prices_of_section
from analyzer.errors import ConfigError
from analyzer.knowledge.prices import LIST_PRICES
from analyzer.setup import build_setup

if TYPE_CHECKING:
    from analyzer.model.prices import Prices

UNITS = {
    "read_million": 0.1415,
    "read_unit_hour": 0.000147,
    "write_million": 0.705,
    "write_unit_hour": 0.000735,
    "storage_gigabyte": 0.283,
}
OWN = {"as_of": "2026-11-01", "regions": {"eu-west-1": {"standard": UNITS}}}


def configured(folder: Path, prices: object, **more: object) -> Path:
    file = folder / "dynascope.yaml"
    file.write_text(json.dumps({"request_log": {"files": ["log"]}, "prices": prices, **more}))
    return file


def read(folder: Path, prices: object) -> tuple[Prices, ...]:
    return build_setup(load_settings(configured(folder, prices), {})).prices


def test_without_the_section_list_prices_hold(tmp_path: Path) -> None:
    assert read(tmp_path, {}) == ()


def test_prices_of_a_region_and_class_are_read(tmp_path: Path) -> None:
    both = {"eu-west-1": {"standard": UNITS, "infrequent": UNITS | {"storage_gigabyte": 0.11}}}
    standard, infrequent = read(tmp_path, OWN | {"regions": both, "source": "contract of 2026"})
    assert (standard.region, standard.table_class, standard.write_million) == ("eu-west-1", "STANDARD", 0.705)
    assert (infrequent.table_class, infrequent.storage_gigabyte) == ("STANDARD_INFREQUENT_ACCESS", 0.11)
    assert standard.place == "contract of 2026 of eu-west-1, 2026-11-01"


def test_a_file_of_prices_is_found_from_the_configuration_s_folder(tmp_path: Path) -> None:
    units = "\n".join(f"      {name}: {value}" for name, value in UNITS.items())
    (tmp_path / "prices.yaml").write_text(f"as_of: 2026-11-01\nregions:\n  eu-west-1:\n    standard:\n{units}\n")
    (one,) = read(tmp_path, {"file": "prices.yaml"})
    assert one.place == "configured price of eu-west-1, 2026-11-01"
    assert one.read_million == 0.1415


@pytest.mark.parametrize(
    ("prices", "fault"),
    [
        ({"regions": OWN["regions"]}, "prices need their day"),
        (OWN | {"file": "x.yaml"}, "in the file or here, not in both"),
        (OWN | {"as_of": "last year"}, "prices.as_of"),
        (OWN | {"source": ""}, "prices.source"),
        ({"region": {}}, "did you mean regions?"),
        (OWN | {"regions": {"eu-west-1": {"standart": UNITS}}}, "did you mean standard?"),
        (OWN | {"regions": {"eu-west-1": {"standard": UNITS | {"read_milion": 1}}}}, "did you mean read_million?"),
        (OWN | {"regions": {"eu-west-1": {"standard": UNITS | {"read_million": -1}}}}, "greater than or equal to 0"),
        (OWN | {"regions": {"eu-west-1": {"standard": {"read_million": 1}}}}, "field required"),
        (OWN | {"regions": {"eu-west-1": {"standard": UNITS | {"write_million": 1e300}}}}, "more than \\$1,000"),
        (OWN | {"regions": {"eu-west-1": {"infrequent": UNITS | {"read_unit_hour": 1.01}}}}, "more than \\$1"),
        (OWN | {"regions": {"eu-west-1": {"standard": UNITS | {"storage_gigabyte": 101}}}}, "more than \\$100"),
        ({"file": "nowhere.yaml"}, "nowhere.yaml: No such file or directory"),
    ],
)
def test_what_is_wrong_with_prices_is_told(tmp_path: Path, prices: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault.replace("?", r"\?")):
        read(tmp_path, prices)


def test_faults_of_the_file_of_prices_are_told_by_its_own_lines(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text("as_of: 2026-11-01\nregion: {}\nregions:\n  x:\n    standrd: {}\n")
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, {"file": "prices.yaml"})
    told = {(fault.file, fault.line, fault.mend) for fault in caught.value.faults}
    place = str(tmp_path / "prices.yaml")
    assert told == {(place, 2, "did you mean regions?"), (place, 5, "did you mean standard?")}


def test_a_price_that_nobody_asks_is_told_with_its_line_its_field_and_what_to_write(tmp_path: Path) -> None:
    units = "\n".join(f"      {name}: {value}" for name, value in (UNITS | {"read_million": "1.0e+300"}).items())
    (tmp_path / "prices.yaml").write_text(f"as_of: 2026-11-01\nregions:\n  x:\n    standard:\n{units}\n")
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, {"file": "prices.yaml"})
    (fault,) = caught.value.faults
    assert (fault.file, fault.line) == (str(tmp_path / "prices.yaml"), 5)
    assert fault.field == "regions.x.standard.read_million"
    assert fault.mend == "write US dollars for a million units, such as 0.125"


def test_prices_of_a_day_to_come_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_prices, "_today", lambda: date(2026, 10, 31))
    assert len(read(tmp_path, OWN)) == 1  # the next day has begun in the east
    monkeypatch.setattr(config_prices, "_today", lambda: date(2026, 10, 30))
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, OWN)
    (fault,) = caught.value.faults
    assert (fault.field, fault.message) == ("prices.as_of", "2026-11-01 has not come yet")
    assert fault.mend == "write the day on which these prices were read"


def test_prices_at_their_limits_and_of_nothing_are_taken_and_those_of_nothing_are_told(tmp_path: Path) -> None:
    most = {"read_million": 1000, "write_million": 1000, "read_unit_hour": 1, "write_unit_hour": 1}
    units = {"standard": most | {"storage_gigabyte": 100}, "infrequent": UNITS | {"read_million": 0}}
    dear, free = read(tmp_path, OWN | {"regions": {"eu-west-1": units}})
    assert (dear.free, dear.place) == ((), "configured price of eu-west-1, 2026-11-01")
    assert free.free == ("read_million",)
    assert free.place == "configured price of eu-west-1, 2026-11-01 (with prices of $0)"


def test_a_file_that_names_another_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text("file: prices.yaml\n")
    assert read(tmp_path, {"file": "prices.yaml"}) == ()


@pytest.mark.parametrize("content", [None, [], {"regions": []}])
def test_what_is_no_mapping_has_no_regions(content: object) -> None:
    assert set(price_sections(content, "prices.")) == {"prices"}


def test_what_holds_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["config", "--config", str(configured(tmp_path, OWN)), "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)["prices"]
    assert (shown["as_of"], shown["regions"]["eu-west-1"]["standard"]) == ("2026-11-01", UNITS)


def test_the_section_alone_gives_its_prices(tmp_path: Path) -> None:
    assert len(prices_of_section(load_settings(configured(tmp_path, OWN), {}).prices)) == 1


def test_findings_are_reckoned_with_prices_of_their_own_region(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = Path(__file__).parents[1] / "docs/detectors/recordings/unused-index.jsonl"
    twice = {name: 2 * getattr(LIST_PRICES, name) for name in UNITS}
    costs = []
    for prices in ({}, {"as_of": "2026-11-01", "regions": {"eu-central-1": {"standard": twice}}}):
        file = configured(tmp_path, prices)
        execute(["replay", str(recording), "--config", str(file), "--format", "json"])
        (found,) = (f for f in json.loads(capsys.readouterr().out)["findings"] if f["detector"] == "unused-index")
        costs.append((found["cost_per_month_usd"], found["evidence"]["price"]))
    (listed, listing), (own, named) = costs
    assert own == pytest.approx(2 * listed, abs=0.02)
    assert (listing, named) == ("list price of us-east-1, 2026-08-15", "configured price of eu-central-1, 2026-11-01")
