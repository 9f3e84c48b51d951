"""The same script against the pinned botocore and, in a venv of its own, against the newest boto3 and aiobotocore."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "newest"
REQUIREMENTS = FOLDER / "requirements-newest.txt"
VENV = ROOT / ".venv-newest"


def run_script(python: Path | str) -> str:
    """Run the compatibility script and return what it prints."""
    command = [str(python), "-W", "error::RuntimeWarning", str(FOLDER / "compatibility.py")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "DYNASCOPE_"))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def make_venv() -> Path:
    """Make the venv, or keep it where it was made from the same requirements; skips where that cannot be done."""
    python = VENV / "bin" / "python"
    mark = VENV / ".made-from"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    if python.exists() and mark.exists() and mark.read_text() == wanted:
        return python
    shutil.rmtree(VENV, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True, capture_output=True)
    (VENV / ".gitignore").write_text("*\n")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    done = subprocess.run([*install, "-r", str(REQUIREMENTS)], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = f"the newest boto3 and aiobotocore cannot be installed: {done.stderr.strip().splitlines()[-1:]}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(f"{reason}; check the network or the configuration of pip")
    mark.write_text(wanted)
    return python


def test_with_the_pinned_botocore() -> None:
    pinned = re.search(r"^botocore==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert pinned is not None
    assert f"botocore {pinned.group(1)} " in run_script(sys.executable)


def test_with_the_newest_boto3_and_aiobotocore() -> None:
    versions = dict(re.findall(r"^([a-z0-9]+)==(\S+)", REQUIREMENTS.read_text(), re.MULTILINE))
    printed = run_script(make_venv())
    expected = " ".join(f"{name} {versions[name]}" for name in ("boto3", "botocore", "aiobotocore"))
    assert printed == expected


def test_the_requirements_name_no_host_and_have_hashes() -> None:
    text = REQUIREMENTS.read_text()
    assert "://" not in text
    assert text.count("--hash=sha256:") > len(re.findall(r"^\S+==", text, re.MULTILINE))
