from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config

from deploy.demo.emulator.moto import free_port
from deploy.demo.processes import Process
from tests.support.tools import need

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.emulator import LocalAws

_DYNALITE = Path(__file__).parent / "dynalite"
_NUMBERS = itertools.count()


def connect(url: str) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="demo",
        aws_secret_access_key="demo",
        config=Config(retries={"max_attempts": 0}),
    )


@pytest.fixture(scope="session")
def client(emulator_process: LocalAws) -> Iterator[Any]:
    connected = connect(emulator_process.url)
    yield connected
    connected.close()


@pytest.fixture(scope="session")
def dynalite() -> Iterator[Any]:
    node = need("node", mend="install Node.js 18 or newer (Debian: nodejs npm)")
    npm = need("npm", mend="install npm (Debian: npm)")
    if not (_DYNALITE / "node_modules" / ".package-lock.json").exists():
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=_DYNALITE, check=True, capture_output=True)
    port = free_port()
    script = str(_DYNALITE / "node_modules" / "dynalite" / "cli.js")
    options = ["--port", str(port), "--host", "127.0.0.1", "--createTableMs", "0"]
    with Process([node, script, *options]) as running:
        running.first_line()
        connected = connect(f"http://127.0.0.1:{port}")
        yield connected
        connected.close()


@pytest.fixture
def new_table() -> Callable[..., str]:
    def create(*clients: Any, **changes: Any) -> str:
        name = f"cases-{next(_NUMBERS)}"
        for each in clients:
            asked = {"TableName": name, **cases_table(), **changes}
            each.create_table(**{field: value for field, value in asked.items() if value is not None})
            each.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 0.05})
        return name

    return create


def cases_table() -> dict[str, Any]:
    def keys(partition: str, sort: str) -> list[dict[str, str]]:
        return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]

    names = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")
    return {
        "KeySchema": keys("PK", "SK"),
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeySchema": keys("GSI1PK", "GSI1SK"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
            {"IndexName": "GSI2", "KeySchema": keys("GSI2PK", "GSI2SK"), "Projection": {"ProjectionType": "ALL"}},
        ],
    }
