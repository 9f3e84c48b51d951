"""What the documentation shows as output is what the command beside it prints; --rewrite-golden writes it anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "deploy").rglob("README.md"))]
SHOWN = re.compile(r"<!-- output of: (?P<command>[^\n]+) -->\n\n```text\n(?P<text>.*?)```", re.DOTALL)
CASES = [
    pytest.param(page, found["command"], id=f"{page.relative_to(ROOT)}: {found['command']}")
    for page in PAGES
    for found in SHOWN.finditer(page.read_text("utf-8"))
]
ENVIRONMENT = os.environ | {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "TERM": "dumb",
}


def printed(command: str) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())


@pytest.mark.parametrize(("page", "command"), CASES)
def test_the_output_shown_is_what_the_command_prints(page: Path, command: str, request: pytest.FixtureRequest) -> None:
    text = printed(command)
    assert text
    if request.config.getoption("--rewrite-golden"):
        block = f"<!-- output of: {command} -->\n\n```text\n"
        whole = page.read_text("utf-8")
        start = whole.index(block) + len(block)
        page.write_text(whole[:start] + text + whole[whole.index("```", start) :], "utf-8")
    shown = {found["command"]: found["text"] for found in SHOWN.finditer(page.read_text("utf-8"))}
    assert shown[command] == text


def test_every_link_within_the_documentation_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page}: {target}"
