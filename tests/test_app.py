from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from analyzer.app import Lossy, make_logger

_RAISES = """
import resource
from analyzer.app import run_daemon
resource.setrlimit(resource.RLIMIT_NOFILE, (64, {hard}))
try:
    run_daemon(None, as_json=True, write=print)
except Exception:
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_what_a_full_or_closed_stream_does_not_take_is_lost_and_no_more() -> None:
    for stream in (None, open("/dev/full", "w", buffering=1)):  # noqa: PTH123, SIM115 -- closed below
        outlet = Lossy(stream)
        assert outlet.write("a line\n") == 7
        outlet.flush()
        if stream is not None:
            with pytest.raises(OSError, match="space"):
                stream.close()
            outlet.write("after its end\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_logger_needs_no_standard_error(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    make_logger("info", form).info("unheard")


@pytest.mark.parametrize("hard", [256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]])
def test_as_many_files_as_the_system_allows_may_be_open(hard: int) -> None:
    told = subprocess.run([sys.executable, "-c", _RAISES.format(hard=hard)], capture_output=True, check=True, text=True)
    assert int(told.stdout) == (min(hard, 10_240) if hard > 0 else 10_240)
