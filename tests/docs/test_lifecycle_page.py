"""What the page on the life of a finding shows is taken as it stands."""

from __future__ import annotations

import re
from pathlib import Path

from analyzer.config import load_settings
from analyzer.config_prices import prices_of_section
from analyzer.exporters.snoozes import snooze_object
from analyzer.history.life import FILE_NAME
from analyzer.model.life import Snooze

PAGE = (Path(__file__).parents[2] / "docs/lifecycle.md").read_text("utf-8")


def test_the_prices_that_it_shows_are_a_configuration(tmp_path: Path) -> None:
    file = tmp_path / "dynascope.yaml"
    shown = PAGE[PAGE.index("    prices:\n") :]
    file.write_text("\n".join(line[4:] for line in shown.splitlines() if line.startswith("    ")))
    (one,) = prices_of_section(load_settings(file, {}).prices)
    assert (one.region, one.place) == ("eu-central-1", "our price list of eu-central-1, 2026-11-01")


def test_it_names_the_file_and_the_fields_that_there_are() -> None:
    assert f"`{FILE_NAME}`" in PAGE
    fields = snooze_object(Snooze(id="a", until=1, reason="x", at=0), None)
    told = re.search(r"A snooze is `\{([^}]+)\}`", PAGE)
    assert told is not None
    assert told[1].replace('"', "").split(", ") == list(fields)
