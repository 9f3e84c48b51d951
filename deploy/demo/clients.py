"""boto3 clients as the demo's services have them: each with the sampler inside, each writing its own log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import dynascope_sampler
from botocore.config import Config
from ruamel.yaml import YAML

__all__ = ["ACCOUNT", "CALLERS", "CONTRACT", "REGION", "Connect", "connect_plain", "log_path"]

ACCOUNT = "123456789012"  # moto's
REGION = "us-east-1"
CALLERS = ("case-dashboard-api", "case-worker", "audit-writer", "notifier", "report-job")
CONTRACT = Path(__file__).parent / "contract.yaml"

_RETRIES = {"mode": "standard", "max_attempts": 2}
_CONNECTIONS = 32


def connect_plain(url: str) -> Any:  # noqa: ANN401 - boto3 makes its classes at run time
    """Return a client that nobody samples."""
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id="demo",
        aws_secret_access_key="demo",  # noqa: S106 - the emulator knows no secrets
        config=Config(retries=_RETRIES, max_pool_connections=_CONNECTIONS),
    )


def log_path(folder: Path, caller: str) -> Path:
    """Return the request log of a caller."""
    return folder / f"{caller}.jsonl"


class Connect:
    """Makes the sampled clients of one run."""

    def __init__(self, url: str, folder: Path, salt_file: Path) -> None:
        self._url = url
        self._folder = folder
        self._salt_file = salt_file
        self._schema = YAML(typ="safe").load(CONTRACT)
        self._samplers: list[dynascope_sampler.Sampler] = []

    def __call__(self, caller: str) -> Any:  # noqa: ANN401 - boto3 makes its classes at run time
        """Return a caller's client; the contract tells the sampler the key schema and the literals of the keys."""
        client = connect_plain(self._url)
        sampler = dynascope_sampler.instrument(
            client,
            sink=str(log_path(self._folder, caller)),
            keys="token",
            salt=self._salt_file.read_bytes,
            schema=self._schema,
            capacity=True,
            caller=caller,
            account=ACCOUNT,
        )
        self._samplers.append(sampler)
        return client

    def written(self) -> int:
        """Return how many records the samplers wrote."""
        return sum(sampler.stats.written for sampler in self._samplers)

    def lost(self) -> int:
        """Return how many they lost, or stumbled over."""
        return sum(sampler.stats.dropped + sampler.stats.failures for sampler in self._samplers)

    def close(self) -> None:
        """Write what waits."""
        for sampler in self._samplers:
            sampler.close()
