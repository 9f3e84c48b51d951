"""Programs that some tests need beside Python."""

from __future__ import annotations

import os
import shutil

import pytest

__all__ = ["need"]


def need(program: str, *, mend: str) -> str:
    """Return the path of a program; without it the test is listed as left out, and with CI set it fails."""
    found = shutil.which(program)
    if found is not None:
        return found
    told = f"{program} is missing: {mend}"
    if os.environ.get("CI"):
        pytest.fail(told)
    pytest.skip(told)
