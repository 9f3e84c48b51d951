"""The commands that the pages for beginners show can be typed as they stand, in their order, and work.

Those that go on for ever or ask AWS are tried elsewhere: `run` in tests/e2e, `doctor` and `diagnose` on a local AWS.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(
    r"^ {4,}((?:zcat [^|]*\| )?dynascope (?!(?:run|doctor|diagnose)\b)[a-z]+ .*|deploy/verify\.sh .*)$", re.MULTILINE
)
CONFIGURATION = "contract: [contract.yaml]\nrequest_log:\n  files: [requests.jsonl]\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with gzip.open(ROOT / "tests/data/demo.jsonl.gz") as packed, (tmp_path / "requests.jsonl").open("wb") as log:
        shutil.copyfileobj(packed, log)
    (tmp_path / "old").mkdir()
    shutil.copy(ROOT / "tests/data/demo.jsonl.gz", tmp_path / "old/a.gz")
    (tmp_path / "dynascope.yaml").write_text(CONFIGURATION)
    (tmp_path / "changed.yaml").symlink_to("contract.yaml")  # nothing is changed in what a page drafts
    return tmp_path


@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md"])
def test_what_a_beginner_types_works(page: str, place: Path) -> None:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    commands = COMMAND.findall((ROOT / page).read_text("utf-8"))
    assert len(commands) > 2
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        finds = "dynascope analyze" in command  # the demo's log is full of faults
        finds |= "dynascope check" in command  # what was drafted from it holds a Scan that nobody gave a reason for
        assert done.returncode == int(finds), f"{command}: {done.stdout}{done.stderr}"
