from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from analyzer.config import REFERENCE, Settings
from analyzer.config_reference import LIMITS, configuration_page
from analyzer.detectors import DETECTORS
from analyzer.requests.digest_limits import DigestLimits

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / REFERENCE


def test_the_page_is_what_the_settings_say(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite-golden"):
        PAGE.write_text(configuration_page(), "utf-8")
    assert PAGE.read_text("utf-8") == configuration_page(), "run pytest --rewrite-golden"


def test_every_key_is_there_with_its_meaning() -> None:
    page = configuration_page()
    keys = [field.alias or name for name, field in Settings.model_fields.items()]
    for key in keys:
        assert f"| `{key}` |" in page or f"| `{key}." in page, key
    for detector in DETECTORS:
        for field in msgspec.structs.fields(detector):
            assert f"| `detectors.{detector.name}.{field.name}` |" in page
    assert "|  |" not in page


def test_every_limit_says_what_it_bounds() -> None:
    assert {field.name for field in msgspec.structs.fields(DigestLimits)} <= set(LIMITS)


def test_no_secret_has_a_default() -> None:
    assert "| `salt` | none |" in configuration_page()


def test_the_readme_leads_to_it() -> None:
    assert f"]({REFERENCE})" in (ROOT / "README.md").read_text("utf-8")
