"""A scripted DynamoDB on loopback, and an instrumented session that writes into a list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import dynascope_sampler
import pytest
from botocore.config import Config

from tests.sampler.stub_dynamodb import StubDynamoDB

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = {
    "cases": {
        "partition_key": "PK",
        "sort_key": "SK",
        "indexes": {"GSI1": ["GSI1PK", "GSI1SK"]},
        "literals": ["CASE", "META", "AUDIT"],
        "ttl_attribute": "expiresAt",
        "version_attribute": "version",
    }
}


class Log:
    """One sampler and the records that it wrote."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.lines = b""
        self.session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
        self.sampler: dynascope_sampler.Sampler | None = None

    def start(self, *, on_client: bool = False, **options: Any) -> Any:
        """Instrument the session, or a client alone, and return a low-level client."""
        options = {"sink": self.take, "salt": "pepper", "schema": SCHEMA, "caller": "tests", **options}
        client = self.client() if on_client else None
        self.sampler = dynascope_sampler.instrument(client or self.session, **options)
        return client or self.client()

    def take(self, lines: bytes) -> None:
        """Serve as the sink."""
        self.lines += lines

    def client(self, attempts: int = 0) -> Any:
        """Return a client that retries so many times."""
        return self.session.client("dynamodb", endpoint_url=self.url, config=self.config(attempts))

    def table(self, name: str = "cases") -> Any:
        """Return the resource API's table."""
        return self.session.resource("dynamodb", endpoint_url=self.url, config=self.config(0)).Table(name)

    @staticmethod
    def config(attempts: int) -> Config:
        """Return a configuration that retries so many times."""
        return Config(retries={"max_attempts": attempts}, connect_timeout=5, read_timeout=5)

    @property
    def stats(self) -> dynascope_sampler.Stats:
        """Return the counters."""
        assert self.sampler is not None
        return self.sampler.stats

    def all(self) -> list[dict[str, Any]]:
        """Return every line, counters included."""
        assert self.sampler is not None
        assert self.sampler.flush(10)
        assert self.stats.failures == 0
        return [json.loads(line) for line in self.lines.splitlines()]

    def records(self) -> list[dict[str, Any]]:
        """Return the records."""
        return [line for line in self.all() if "counter" not in line]

    def record(self) -> dict[str, Any]:
        """Return the one record."""
        (record,) = self.records()
        return record


@pytest.fixture(scope="session")
def server() -> Iterator[StubDynamoDB]:
    """Return the scripted DynamoDB."""
    stub = StubDynamoDB()
    yield stub
    stub.close()


@pytest.fixture
def dynamodb(server: StubDynamoDB) -> StubDynamoDB:
    """Return the scripted DynamoDB with nothing scripted."""
    server.requests.clear()
    server.script.clear()
    server.answer = lambda _operation, _body: {}
    return server


@pytest.fixture
def log(dynamodb: StubDynamoDB, monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """Return a sampler not yet started."""
    for name in ("DYNASCOPE_SALT", "DYNASCOPE_SALT_FILE", "DYNASCOPE_CALLER", "DYNASCOPE_SINK", "_X_AMZN_TRACE_ID"):
        monkeypatch.delenv(name, raising=False)
    log = Log(dynamodb.url)
    yield log
    if log.sampler is not None:
        log.sampler.close()
