"""The walls stand, and each of them is seen to break when somebody goes through it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINT = Path(sys.executable).with_name("lint-imports")

WIDE = os.environ | {"COLUMNS": "200"}

VIOLATIONS = [
    ("The street runs one way", "analyzer/model/window.py", "import analyzer.pipeline"),
    (
        "Collectors see model, errors, interfaces",
        "collectors/request_log/parse.py",
        "import analyzer.requests",
    ),
    ("The core does nothing but think", "analyzer/detectors/heat/hot_key.py", "import asyncio"),
    (
        "Detectors never import one another",
        "analyzer/detectors/heat/hot_key.py",
        "import analyzer.detectors.heat.throttling",
    ),
    ("Only collectors.aws may import an AWS SDK", "analyzer/render/text.py", "import boto3"),
    ("Nobody imports dashboards or tests", "analyzer/render/text.py", "import dashboards"),
    ("Dashboards see the table of metrics", "dashboards/overview.py", "import analyzer.detectors"),
]


def lint(folder: Path) -> tuple[int, str]:
    done = subprocess.run([LINT, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False, env=WIDE)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in ("analyzer", "collectors", "dashboards"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


def test_the_walls_stand() -> None:
    code, output = lint(ROOT)
    assert code == 0, output


@pytest.mark.parametrize(("name", "file", "line"), VIOLATIONS, ids=[name for name, _, _ in VIOLATIONS])
def test_a_wall_breaks_when_somebody_goes_through_it(copy: Path, name: str, file: str, line: str) -> None:
    with (copy / file).open("a", encoding="utf-8") as module:
        module.write(f"\n{line}\n")
    code, output = lint(copy)
    assert code == 1, output
    broken = [text for text in output.splitlines() if " BROKEN" in text]
    assert any(text.startswith(name) for text in broken), output


def test_every_wall_has_a_violation_here() -> None:
    names = [line.removeprefix("name = ") for line in (ROOT / ".importlinter").read_text("utf-8").splitlines()]
    walls = [name for name in names if any(name.startswith(known) for known, _, _ in VIOLATIONS)]
    assert len(walls) == (ROOT / ".importlinter").read_text("utf-8").count("[importlinter:contract:")


def test_the_core_never_imports_the_slow_half_of_scipy_nor_reads_a_clock() -> None:
    core = ["pipeline.py", "lifecycle", "detectors", "traffic", "correlator", "contract", "requests", "statistics"]
    core += ["knowledge", "model", "interfaces.py", "errors.py"]
    for name in core:
        place = ROOT / "analyzer" / name
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            source = path.read_text("utf-8")
            assert "scipy.stats" not in source, path
            assert "datetime.now" not in source, path
            assert ".utcnow(" not in source, path


def test_every_room_of_the_analyzer_has_its_place_in_the_street() -> None:
    street = (ROOT / ".importlinter").read_text("utf-8").split("[importlinter:contract:collectors]")[0]
    placed = set(re.findall(r"analyzer\.(\w+)", street))
    rooms = {
        path.stem for path in (ROOT / "analyzer").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert rooms - {"__init__"} <= placed


def test_every_room_is_on_the_map_once() -> None:
    told = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs/architecture.md").read_text("utf-8"), flags=re.MULTILINE)
    for house in ("analyzer", "collectors"):
        for path in sorted((ROOT / house).iterdir()):
            if path.name != "__init__.py" and (path.suffix == ".py" or (path / "__init__.py").exists()):
                assert told.count(f"{house}/{path.name}{'/' if path.is_dir() else ''}") == 1, path.name
    assert "dashboards/" in told
