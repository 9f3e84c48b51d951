"""Debian's Prometheus and Alertmanager as processes of a test, and a webhook that takes what they send."""

from __future__ import annotations

import json
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from dashboards.generate import FOLDER
from deploy.demo.emulator.moto import free_port
from tests.support.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Prometheus", "Webhook", "alertmanager", "prometheus", "webhook"]

EXAMPLES = Path(__file__).parents[2] / "deploy" / "prometheus"
START_SECONDS = 30.0


class Prometheus:
    """A Prometheus that runs; `url` is its address."""

    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the series of an instant query; raises HTTPError where Prometheus does not understand it."""
        return self._result("query", query=expression)

    def query_range(self, expression: str, seconds: float) -> list[dict[str, Any]]:
        """Return the series of the last seconds."""
        now = time.time()
        return self._result("query_range", query=expression, start=f"{now - seconds}", end=f"{now}", step="1")

    def label_values(self, label: str) -> list[str]:
        values: list[str] = self._get(f"label/{label}/values")
        return values

    def _result(self, path: str, **asked: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._get(f"{path}?{urllib.parse.urlencode(asked)}")["result"]
        return found

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}", timeout=20) as answer:
            return json.load(answer)["data"]


class Webhook(ThreadingHTTPServer):
    """Takes what Alertmanager sends: `taken` are (path, alert) in their order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taker)
        self.taken: list[tuple[str, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def names(self, path: str) -> set[str]:
        """Return the names of the alerts that fire and came to a path."""
        return {
            alert["labels"]["alertname"] for where, alert in self.taken if (where, alert["status"]) == (path, "firing")
        }


class Taker(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.taken.extend((self.path, alert) for alert in body["alerts"])
        self.send_response(200)
        self.end_headers()

    def log_request(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def webhook() -> Iterator[Webhook]:
    with Webhook() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def alertmanager(folder: Path, hook: Webhook) -> Iterator[str]:
    """Run an Alertmanager on the example's configuration that sends at once; gives host and port."""
    program = need("prometheus-alertmanager", mend="install Debian's package prometheus-alertmanager")
    config = YAML(typ="safe").load(EXAMPLES / "alertmanager.yml")
    for route in (config["route"], *config["route"]["routes"]):
        route["group_wait"] = "1s"
    for receiver in config["receivers"]:
        for one in receiver["webhook_configs"]:
            one["url"] = hook.url + urllib.parse.urlsplit(one["url"]).path
    address = f"127.0.0.1:{free_port()}"
    file = folder / "alertmanager.yml"
    file.write_text(json.dumps(config))  # JSON is YAML
    command = [program, f"--config.file={file}", f"--web.listen-address={address}", "--cluster.listen-address="]
    with running([*command, f"--storage.path={folder / 'alerts'}"], folder / "alertmanager.log", f"http://{address}"):
        yield address


@contextmanager
def prometheus(folder: Path, daemon: str, alerts_to: str) -> Iterator[Prometheus]:
    """Run a Prometheus on the example's configuration that scrapes a daemon and judges every second."""
    program = need("prometheus", mend="install Debian's package prometheus")
    config = YAML(typ="safe").load(EXAMPLES / "prometheus.yml")
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(path) for path in FOLDER.glob("*.yaml")]
    config["alerting"]["alertmanagers"][0]["static_configs"] = [{"targets": [alerts_to]}]
    config["scrape_configs"][0]["static_configs"] = [{"targets": [daemon.removeprefix("http://")]}]
    url = f"http://127.0.0.1:{free_port()}"
    file = folder / "prometheus.yml"
    file.write_text(json.dumps(config))
    listen = f"--web.listen-address={url.removeprefix('http://')}"
    storage = f"--storage.tsdb.path={folder / 'tsdb'}"
    with running([program, f"--config.file={file}", listen, storage], folder / "prometheus.log", url):
        yield Prometheus(url)


@contextmanager
def running(command: list[str], log: Path, url: str) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + START_SECONDS
        while not is_ready(url):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=5):
            return True
    except OSError:
        return False
