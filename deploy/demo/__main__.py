"""`python -m deploy.demo`: the main path on a local DynamoDB, with planted faults. Ends by itself, 0 when all held."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import socket
import sys
import time
from pathlib import Path

from deploy.demo.alarm import Prometheus, find_prometheus
from deploy.demo.clients import REGION, Connect
from deploy.demo.emulator.moto import free_port
from deploy.demo.processes import ROOT, Emulator
from deploy.demo.stage import set_stage
from deploy.demo.story import Story
from deploy.demo.watch import Daemon, write_config
from deploy.demo.workload import Workload

__all__ = ["diagnose_command", "main"]

_PORT = 8642
_INTERRUPTED = 130


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _choose_port(asked: int) -> int:
    if _is_free(asked):
        return asked
    port = free_port()
    print(f"port {asked} is taken; the daemon listens on {port} instead")
    return port


def _run(asked: argparse.Namespace) -> bool:
    started = time.monotonic()
    folder: Path = asked.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    salt_file = folder / "salt"
    salt_file.write_text("the demo's own salt: a real one is a secret", encoding="utf-8")
    port = _choose_port(asked.port)
    with Emulator() as emulator:
        items = set_stage(emulator.url, asked.seed)
        print(f"DynamoDB (local) on {emulator.url}: table cases with {items:,} items")
        connect = Connect(emulator.url, folder, salt_file)
        workload = Workload(connect, asked.seed)
        with contextlib.ExitStack() as stack:
            daemon = stack.enter_context(Daemon(write_config(folder, port, salt_file), port, folder / "daemon.log"))
            print(f"dynascope run: the page is on {daemon.url}/ and metrics on {daemon.url}/metrics")
            prometheus = _prometheus(folder, daemon.url, is_wanted=not asked.no_prometheus)
            if prometheus is not None:
                stack.enter_context(prometheus)
            print(f"request logs, and what the daemon logs, in {folder}")
            if asked.forever:
                print(f"try: {diagnose_command(emulator.url)}  # data after 3 minutes")
            try:
                workload.start()
                story = Story(daemon, workload, started, prometheus)
                holds = story.play()
                if connect.lost():
                    print(f"the samplers lost {connect.lost()} records")
                    holds = False
                if asked.forever:
                    story.say(f"going on until interrupted; look at {daemon.url}/", "head")
                    story.go_on()
                return holds
            finally:
                workload.stop()
                connect.close()


def diagnose_command(endpoint: str) -> str:
    """Return what to type to ask the demo's own AWS what is wrong, in another terminal."""
    told = f"AWS_ENDPOINT_URL={endpoint} AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local"
    return f"{told} .venv/bin/dynascope diagnose --region {REGION}"


def _prometheus(folder: Path, daemon: str, *, is_wanted: bool) -> Prometheus | None:
    """Start a Prometheus where the machine has one; says where it is, or how to get one."""
    if not is_wanted:
        return None
    program = find_prometheus()
    if program is None:
        print("no Prometheus: alerts are not looked at; install it (Debian: the package prometheus) to see them fire")
        return None
    prometheus = Prometheus(program, folder, daemon)
    print(f"Prometheus with the rules of dashboards/generated: {prometheus.url}/alerts")
    return prometheus


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="python -m deploy.demo", description=__doc__)
    parser.add_argument("--port", type=int, default=_PORT, help="port of the daemon; another one if it is taken")
    parser.add_argument("--forever", action="store_true", help="go on switching faults on and off until interrupted")
    parser.add_argument("--seed", type=int, default=1, help="seed of the workload")
    parser.add_argument("--folder", type=Path, default=ROOT / ".demo", help="where logs and state go; emptied first")
    parser.add_argument("--no-prometheus", action="store_true", help="start no Prometheus, even where there is one")
    asked = parser.parse_args()
    asked.folder = asked.folder.resolve()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does, children first
    try:
        holds = _run(asked)
    except KeyboardInterrupt:
        print("\ninterrupted: everything is stopped")
        sys.exit(_INTERRUPTED)
    except RuntimeError as error:
        sys.exit(f"demo: {error}")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
