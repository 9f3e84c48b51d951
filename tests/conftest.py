"""What all tests share: golden files, rewritten by `--rewrite-golden`, and properties without a clock."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

settings.register_profile("dynascope", deadline=None)  # a busy machine makes no property wrong
settings.load_profile("dynascope")

pytest_plugins = ("tests.support.emulator",)

_GOLDEN = Path(__file__).parent / "golden"


class Golden(Protocol):
    """Compare a text with a golden file, or rewrite the file."""

    def __call__(self, name: str, text: str) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="rewrite tests/golden from what is printed now")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Fail where a text differs from tests/golden/NAME; with --rewrite-golden, write it there instead."""
    rewrite = bool(request.config.getoption("--rewrite-golden"))

    def compare(name: str, text: str) -> None:
        path = _GOLDEN / name
        if rewrite:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        assert path.is_file(), f"{path} is missing: run pytest --rewrite-golden and review it"
        assert text == path.read_text("utf-8"), f"{path} differs: run pytest --rewrite-golden and review the difference"

    return compare
