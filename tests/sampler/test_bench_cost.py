"""The bench runs to its end; its times are printed, never asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_bench_prints_every_figure() -> None:
    bench = Path(__file__).parent / "bench_cost.py"
    command = [sys.executable, str(bench), "--batches", "1", "--calls", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    assert done.stdout.count("unsampled") == 5
    assert "a boto3 GetItem with a made-up answer" in done.stdout
