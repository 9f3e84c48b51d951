"""Two daemons on the same tables: one reads AWS, the other takes over when it dies, and nothing is paid twice."""

from __future__ import annotations

import signal
import time
import urllib.error
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Daemon, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.emulator import LocalAws

RENEW_SECONDS = 1.0


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    emulator.create_table("orders", sort="SK")
    return emulator


@contextmanager
def daemon(folder: Path, aws: LocalAws, lease: str) -> Iterator[Daemon]:
    folder.mkdir()
    one = Daemon(folder)
    one.options = ["--standby", f"{lease}?renew={RENEW_SECONDS:.0f}s"]
    one.configure(
        request_log={},
        contract=[],
        window="5m",
        aws={"collect": ["table-catalog", "cloudwatch-metrics"], "endpoint_url": aws.url, "regions": ["us-east-1"]},
        cloudwatch_metrics={"delay": "0s", "baselines": False},
    )
    one.start()
    one.listening()
    try:
        yield one
    finally:
        if one.process is not None and one.process.poll() is None:
            one.kill()


def ready(one: Daemon) -> str:
    """Return what it says of itself; one that has judged nothing yet says so, too."""
    try:
        return one.get("/readyz")
    except urllib.error.HTTPError as error:
        with error:
            return error.read().decode()


def held(one: Daemon) -> float:
    return one.sum("dynascope_lease_held")


def billed(one: Daemon) -> float:
    return one.sum("dynascope_aws_billed_metrics_total")


@pytest.fixture(params=["file", "s3"])
def lease(request: pytest.FixtureRequest, tmp_path: Path, aws: LocalAws) -> str:
    if request.param == "file":
        return f"file:{tmp_path}/shared/lease"
    aws.client("s3").create_bucket(Bucket="leases")
    return "s3://leases/dynascope/lease"


def test_the_one_without_the_lease_polls_nothing_and_takes_over_when_the_other_dies(
    tmp_path: Path, aws: LocalAws, lease: str
) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(daemon(tmp_path / "first", aws, lease))
        wait_until(lambda: held(first) == 1 and billed(first) > 0, "the first reads")
        asked = aws.metrics_asked()
        second = stack.enter_context(daemon(tmp_path / "second", aws, lease))
        wait_until(lambda: ready(second) == "standby\n", "the second says what it is")
        wait_until(lambda: second.samples("dynascope_lease_held") != [], "it says so in a metric")
        assert held(second) == 0
        wait_until(lambda: ready(first) == "ok\n", "the first works")
        time_to_be_tempted(second)
        assert (billed(second), second.samples("dynascope_source_up")) == (0, [])
        assert aws.metrics_asked() == asked == billed(first)

        first.kill()
        began = time.monotonic()
        wait_until(lambda: ready(second) != "standby\n", "the second takes over")
        assert time.monotonic() - began < 3 * RENEW_SECONDS + 1.0  # and a second of two busy cores
        wait_until(lambda: billed(second) > 0, "the second reads")
        assert aws.metrics_asked() == billed(second) + asked


def time_to_be_tempted(one: Daemon) -> None:
    """Wait until a daemon has judged twice, and told each time that another reads: it had time to poll."""
    wait_until(lambda: one.sum("dynascope_gaps_total", reason="not-enabled") > 1, "it has judged twice")


def test_one_that_is_stopped_gives_the_lease_back_at_once_and_a_third_waits(tmp_path: Path, aws: LocalAws) -> None:
    lease = f"file:{tmp_path}/shared/lease"
    with ExitStack() as stack:
        first = stack.enter_context(daemon(tmp_path / "first", aws, lease))
        wait_until(lambda: ready(first) != "standby\n", "the first holds the lease")
        second = stack.enter_context(daemon(tmp_path / "second", aws, lease))
        wait_until(lambda: ready(second) == "standby\n", "the second waits")
        assert first.stop()[0] == 0
        wait_until(lambda: ready(second) != "standby\n", "the second takes over")
        assert '"holder":"' in (tmp_path / "shared/lease").read_text()


def test_one_that_was_frozen_reads_no_more_when_it_wakes(tmp_path: Path, aws: LocalAws) -> None:
    lease = f"file:{tmp_path}/shared/lease"
    with ExitStack() as stack:
        first = stack.enter_context(daemon(tmp_path / "first", aws, lease))
        wait_until(lambda: ready(first) != "standby\n", "the first holds the lease")
        second = stack.enter_context(daemon(tmp_path / "second", aws, lease))
        wait_until(lambda: ready(second) == "standby\n", "the second waits")
        first.send(signal.SIGSTOP)
        wait_until(lambda: ready(second) != "standby\n", "the second takes over")
        first.send(signal.SIGCONT)
        wait_until(lambda: ready(first) == "standby\n", "the first stands by")
        assert ready(second) != "standby\n"
