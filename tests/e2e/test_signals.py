from __future__ import annotations

import signal
import subprocess
import sys

from tests.e2e.conftest import COMMAND, Daemon, now_ms, record, wait_until


def write(daemon: Daemon, first: int, count: int) -> None:
    with daemon.log.open("a") as log:
        log.writelines(record(now_ms(), number) for number in range(first, first + count))


def test_it_ends_when_told_with_everything_noted_down(daemon: Daemon) -> None:
    daemon.start()
    daemon.listening()
    write(daemon, 0, 5000)
    code, seconds = daemon.stop()
    assert code == 0
    assert seconds < 5
    daemon.log.unlink()
    daemon.start()
    daemon.listening()
    assert daemon.requests() == 5000
    assert daemon.stop()[0] == 0


def test_a_reload_takes_what_is_good_and_keeps_the_old_where_it_is_not(daemon: Daemon) -> None:
    write(daemon, 0, 100)
    daemon.start()
    daemon.listening()
    wait_until(lambda: daemon.requests() == 100, "all is counted")
    assert daemon.sum("dynascope_requests_total", pattern="load-case") == 100
    contract = daemon.contract.read_text()

    daemon.configure(window="soon", close_after="later", detectors={"hot-keys": {}})
    daemon.send(signal.SIGHUP)
    wait_until(lambda: daemon.sum("dynascope_config_valid") == 0, "the fault is seen")
    faults = {told.get("field") for told in daemon.events() if "faulty" in told["event"]}
    assert faults == {"window", "close_after", "detectors.hot-keys"}

    daemon.configure(window="30s", close_after="10s", detectors={})
    daemon.contract.write_text(contract.replace("operation: GetItem", "operation: Guess"))
    daemon.send(signal.SIGHUP)
    wait_until(lambda: any("contract.yaml" in str(told.get("file")) for told in daemon.events()), "that one too")
    assert daemon.sum("dynascope_config_valid") == 0
    assert daemon.sum("dynascope_requests_total", pattern="load-case") == 100

    daemon.contract.write_text(contract.replace("load-case", "read-case"))
    daemon.send(signal.SIGHUP)
    wait_until(lambda: daemon.sum("dynascope_config_valid") == 1, "the good one is taken")
    write(daemon, 100, 10)
    wait_until(lambda: daemon.requests() == 110, "reading went on")
    assert daemon.sum("dynascope_requests_total", pattern="load-case") == 100
    assert daemon.sum("dynascope_requests_total", pattern="read-case") == 10
    daemon.state_is_written()

    daemon.kill()
    daemon.contract.write_text(contract.replace("load-case", "fetch-case"))
    daemon.start()
    daemon.listening()
    assert daemon.sum("dynascope_requests_total", pattern="load-case") == 100
    assert daemon.sum("dynascope_requests_total", pattern="read-case") == 10
    assert daemon.requests() == 110


def test_a_reload_may_name_other_files(daemon: Daemon) -> None:
    write(daemon, 0, 10)
    daemon.start()
    daemon.listening()
    wait_until(lambda: daemon.requests() == 10, "all is counted")
    daemon.log.rename(daemon.folder / "other.jsonl")
    daemon.log.write_text("")
    with (daemon.folder / "third.jsonl").open("w") as log:
        log.writelines(record(now_ms(), number) for number in range(1000, 1005))
    daemon.configure(request_log={"files": ["requests.jsonl", "third.jsonl"]})
    daemon.send(signal.SIGHUP)
    wait_until(lambda: daemon.requests() == 15, "the third is read")


def test_an_unwritable_state_is_said_and_stops_nothing(daemon: Daemon) -> None:
    daemon.start()
    daemon.listening()
    daemon.state_is_written()
    in_the_way = daemon.folder / "state" / "daemon.new"
    in_the_way.mkdir()
    wait_until(lambda: any("cannot write state" in told["event"] for told in daemon.events()), "it is said")
    write(daemon, 0, 10)
    wait_until(lambda: daemon.requests() == 10, "reading goes on")
    before = daemon.sum("dynascope_checkpoint_last_success_timestamp_seconds")
    in_the_way.rmdir()
    wait_until(lambda: any("written again" in told["event"] for told in daemon.events()), "it is mended")
    wait_until(lambda: daemon.sum("dynascope_checkpoint_last_success_timestamp_seconds") > before, "it shows")


def test_a_torn_state_is_set_aside_and_a_newer_one_is_refused(daemon: Daemon) -> None:
    daemon.start()
    daemon.listening()
    daemon.state_is_written()
    daemon.kill()
    state = daemon.folder / "state" / "daemon.state"
    whole = state.read_bytes()
    state.write_bytes(whole[:-5])
    write(daemon, 0, 10)
    daemon.start()
    daemon.listening()
    assert any("set aside" in told["event"] for told in daemon.events())
    wait_until(lambda: daemon.requests() == 10, "it counts from zero")
    daemon.kill()
    state.write_bytes(whole.replace(b"dynascope-state 1 ", b"dynascope-state 99 ", 1))
    ended = subprocess.run(
        [COMMAND, "run", "--config", daemon.config], capture_output=True, text=True, check=False, timeout=30
    )
    assert ended.returncode == 2
    assert "has schema 99" in ended.stderr


def test_two_daemons_do_not_share_a_state(daemon: Daemon) -> None:
    daemon.start()
    daemon.listening()
    other = [str(COMMAND), "run", "--config", str(daemon.config)]
    ended = subprocess.run(other, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 2
    assert "another daemon uses" in ended.stderr


def test_the_configuration_is_checked_before_anything_starts(daemon: Daemon) -> None:
    daemon.configure(listen="0.0.0.0:8642", window="soon", request_log={"file": []})
    ended = subprocess.run(
        [COMMAND, "run", "--config", daemon.config], capture_output=True, text=True, check=False, timeout=30
    )
    assert ended.returncode == 2
    assert {line.split(": ")[1] for line in ended.stderr.splitlines()} == {"listen", "window", "request_log.file"}
    assert not (daemon.folder / "state").exists()


EARLY = """
import os, signal, sys
from analyzer.cli.main import execute
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
os.kill(os.getpid(), signal.SIGHUP)
sys.exit(execute(["run", "--config", sys.argv[1]]))
"""


def test_a_reload_that_is_asked_for_during_the_start_is_made_after_it(daemon: Daemon) -> None:
    with daemon.errors.open("ab") as errors:
        daemon.process = subprocess.Popen([sys.executable, "-c", EARLY, daemon.config], stderr=errors)
    wait_until(lambda: any("reloaded" in told["event"] for told in daemon.events()), "it is made", 20)
    assert daemon.stop()[0] == 0
