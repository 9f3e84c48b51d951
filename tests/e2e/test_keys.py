from __future__ import annotations

import json
import re
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from analyzer.requests.tokens import Salt
from tests.e2e.conftest import COMMAND, Daemon, now_ms, record, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

CANARY = "canary-4711-kestrel"


def records_full_of_canaries() -> Iterator[str]:
    """A hot key, with the canary in every place where an application may put a value."""
    key = {"PK": {"S": f"CASE#{CANARY}"}, "SK": {"S": f"AUDIT#{CANARY}"}}
    now = now_ms()
    for number in range(6000):
        at = now - 60_000 + number * 10
        yield record(at, number, key=key, consumed={"total": 60.0, "table": 60.0}, trace_id=CANARY)
        if number % 100 == 0:
            yield record(
                at,
                100_000 + number,
                op="Query",
                key={"PK": {"S": f"CASE#{CANARY}"}},
                key_condition="PK = :p",
                filter=f"note = '{CANARY}'",
                values={":p": {"S": f"CASE#{CANARY}"}},
                count=1,
                scanned=500,
                error={"code": f"Odd {CANARY}", "message": f"the key CASE#{CANARY} is odd"},
                consumed=None,
            )
            yield record(
                at, 200_000 + number, op="ExecuteStatement", statement=f"SELECT * FROM cases WHERE PK = '{CANARY}'"
            )
            yield record(at, 300_000 + number, op="Scan", key=None, filter="note = :n", user_agent=CANARY)
            yield f'{{"v":1,"op":"{CANARY}","table":"cases"\n'
            yield f'{{"v":1,"time":"{CANARY}","op":"GetItem","table":"{CANARY}"}}\n'


PATHS = ("/", "/metrics", "/healthz", "/readyz", "/docs/", "/docs/metrics", "/api/v1/report", "/api/v1/findings")


def reload_with_canaries(daemon: Daemon) -> None:
    """Give it, by and by, a file that breaks off after a canary, a salt, and a contract that is one."""
    good = daemon.config.read_text()
    daemon.config.write_text(f'{{"contract": "{CANARY}"')
    daemon.send(signal.SIGHUP)
    wait_until(lambda: daemon.sum("dynascope_config_valid") == 0, "the torn configuration is seen")
    daemon.configure(salt=CANARY, salt_file=CANARY[:6], limits={"heavy": 0})
    daemon.send(signal.SIGHUP)
    wait_until(lambda: any(told.get("field") == "limits.heavy" for told in daemon.events()), "and the faulty one")
    daemon.config.write_text(good)
    contract = daemon.contract.read_text()
    daemon.contract.write_text(f"tables: [{{name: cases, patterns: [{CANARY}")
    daemon.send(signal.SIGHUP)
    wait_until(lambda: any("contract.yaml" in str(told.get("file")) for told in daemon.events()), "and the contract")
    daemon.contract.write_text(contract)
    daemon.send(signal.SIGHUP)
    wait_until(lambda: daemon.sum("dynascope_config_valid") == 1, "the good one is taken again")


def test_a_key_shows_nowhere_unless_it_is_asked_for(daemon: Daemon) -> None:
    daemon.configure(window="60s")
    daemon.log.write_text("".join(records_full_of_canaries()))
    daemon.start()
    daemon.listening()
    wait_until(daemon.is_ready, "something was judged")
    findings = json.loads(daemon.get("/api/v1/findings"))["findings"]
    assert "hot-key" in {finding["detector"] for finding in findings}
    for path in PATHS:
        assert CANARY not in daemon.get(path), path
    assert CANARY not in daemon.get("/metrics", Accept="application/openmetrics-text")
    reload_with_canaries(daemon)
    daemon.state_is_written()
    assert CANARY.encode() not in (daemon.folder / "state" / "daemon.state").read_bytes()
    daemon.stop()
    assert "hot-key" in daemon.output.read_text()
    assert CANARY not in daemon.output.read_text()
    assert CANARY not in daemon.errors.read_text()


@pytest.mark.parametrize("salt", [None, "a secret of our own"])
def test_the_daemon_reveals_tokens_at_most(daemon: Daemon, salt: str | None) -> None:
    daemon.configure(window="60s", keys="reveal", **({} if salt is None else {"salt": salt}))
    daemon.log.write_text("".join(records_full_of_canaries()))
    daemon.start()
    daemon.listening()
    wait_until(daemon.is_ready, "something was judged")
    (hot,) = [one for one in json.loads(daemon.get("/api/v1/findings"))["findings"] if one["detector"] == "hot-key"]
    token = hot["key"]["PK"]
    assert re.fullmatch(r"CASE#~k[a-z2-7]{8}", token)
    assert salt is None or token == Salt(salt.encode()).tokenize(f"CASE#{CANARY}", frozenset({"CASE"}))
    for path in PATHS:
        assert CANARY not in daemon.get(path), path
    daemon.state_is_written()
    daemon.stop()
    assert token in daemon.output.read_text()
    state = (daemon.folder / "state" / "daemon.state").read_bytes()
    for told in (daemon.output.read_bytes(), daemon.errors.read_bytes(), state):
        assert CANARY.encode() not in told


def test_no_command_about_contracts_prints_a_key(daemon: Daemon) -> None:
    daemon.log.write_text("".join(records_full_of_canaries()))
    inferred = subprocess.run([COMMAND, "infer", daemon.log], capture_output=True, text=True, check=False, timeout=60)
    assert inferred.returncode == 0, inferred.stderr
    assert "CASE#" in inferred.stdout
    assert CANARY not in inferred.stdout + inferred.stderr
    contract = daemon.folder / "inferred.yaml"
    contract.write_text(inferred.stdout)
    checked = subprocess.run([COMMAND, "check", contract], capture_output=True, text=True, check=False, timeout=60)
    assert checked.returncode in (0, 1), checked.stderr
    assert CANARY not in checked.stdout + checked.stderr
