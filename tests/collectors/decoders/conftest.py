"""Real producers of request logs: Node clients and instrumented Python, against the demo's emulator."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import msgspec
import pytest
from botocore.config import Config

from analyzer.model.request import RequestRecord
from collectors.request_log.decoders.decoding import decode
from collectors.request_log.decoders.recognize import recognize
from deploy.demo.processes import Emulator
from tests.collectors.decoders.receiver import Receiver
from tests.support.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from collectors.request_log.decoders.seam import Decoded, Decoder

_NODE = Path(__file__).parent / "node"
_KEYS = ("PK", "SK", "GSI1PK", "GSI1SK")

Printed = Callable[[str], bytes]


def records(decoded: Decoded) -> list[RequestRecord]:
    return [msgspec.json.decode(line, type=RequestRecord) for line in decoded.lines.splitlines()]


def recognized(content: bytes) -> tuple[Decoder, list[RequestRecord], Decoded]:
    """What becomes of a log that nobody named the shape of."""
    decoder = recognize(content)
    assert decoder is not None
    decoded = decode(decoder, content)
    return decoder, records(decoded), decoded


def connect(url: str) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="demo",
        aws_secret_access_key="demo",
        config=Config(retries={"max_attempts": 0}),
    )


def _key_schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


@pytest.fixture(scope="session")
def shop() -> Iterator[str]:
    """The address of an emulator that has the table `orders`."""
    with Emulator() as emulator:
        client = connect(emulator.url)
        index = {"IndexName": "GSI1", "KeySchema": _key_schema(*_KEYS[2:]), "Projection": {"ProjectionType": "ALL"}}
        client.create_table(
            TableName="orders",
            KeySchema=_key_schema(*_KEYS[:2]),
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in _KEYS],
            BillingMode="PAY_PER_REQUEST",
            GlobalSecondaryIndexes=[index],
        )
        yield emulator.url
        client.close()


@pytest.fixture(scope="session")
def exported(shop: str, node: str) -> list[bytes]:
    """The OTLP requests, in JSON, of the instrumented Node client."""
    with Receiver() as receiver:
        _run(node, shop, "opentelemetry", RECEIVER=receiver.url)
    return [sent.body for sent in receiver.sent]


@pytest.fixture(scope="session")
def node() -> str:
    found = need("node", mend="install Node.js 18 or newer (Debian: nodejs npm)")
    npm = need("npm", mend="install npm (Debian: npm)")
    with (_NODE / "package.json").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be installing
        if not (_NODE / "node_modules" / ".package-lock.json").exists():
            command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=_NODE, check=True, capture_output=True)
    return found


@pytest.fixture(scope="session")
def printed(shop: str, node: str) -> Printed:
    """What a library's log holds after the calls of `client.cjs`."""
    known: dict[str, bytes] = {}

    def run(library: str) -> bytes:
        if library not in known:
            known[library] = _run(node, shop, library)
        return known[library]

    return run


def _run(node: str, url: str, library: str, **environment: str) -> bytes:
    ran = subprocess.run(
        [node, "--no-warnings", str(_NODE / "client.cjs"), url, library],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout


class Spans:
    """What Python's instrumentation of botocore gave, as each of its exporters writes it."""

    def __init__(self, bodies: list[bytes], console: bytes) -> None:
        self.bodies = bodies
        self.console = console


@pytest.fixture(scope="session")
def spans(shop: str) -> Spans:
    """Spans of calls by boto3, exported twice."""
    script = Path(__file__).parent / "instrumented.py"
    with Receiver() as receiver:
        ran = subprocess.run(
            [sys.executable, str(script), shop, receiver.url], capture_output=True, check=False, env=dict(os.environ)
        )
        assert ran.returncode == 0, ran.stderr.decode()
    return Spans([sent.body for sent in receiver.sent], ran.stdout)
