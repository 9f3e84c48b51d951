"""A night on the local AWS, and what `dynascope diagnose` says of it: the examples of docs/diagnose.md.

    python -m tests.docs.night key-range

It starts the local AWS, plants the night's metrics at a time that stands still, and runs the command by that clock.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from analyzer.cli import diagnosing
from analyzer.cli.main import execute
from analyzer.model.instant import parse_instant
from collectors.aws import rates
from deploy.demo.processes import Emulator
from tests.support.emulator import LocalAws
from tests.support.incidents import WRITE_KEY_RANGE, WRITES_PROVISIONED, Night

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = parse_instant("2026-06-01T03:00:00.000Z")


def _busy(night: Night) -> Night:
    return night.usual("orders", "PutItem", requests=5000).usual("orders", "Query", requests=3000, items=4)


def _provisioned(night: Night) -> None:
    _busy(night.table("orders", provisioned=(1000, 500)))
    resource = {"ServiceNamespace": "dynamodb", "ResourceId": "table/orders"}
    target = {"MinCapacity": 100, "MaxCapacity": 500, "RoleARN": "arn:aws:iam::123456789012:role/scaling"}
    dimension = {"ScalableDimension": "dynamodb:table:WriteCapacityUnits"}
    night.aws.plant_scaling("ScalableTargets", [resource | dimension | target])
    more: dict[str, Any] = {"throttles": 8_000, "reasons": [WRITES_PROVISIONED]}
    night.now("orders", "PutItem", requests=25_000, **more).done()


def _key_range(night: Night) -> None:
    _busy(night.table("orders", provisioned=(5000, 5000)))
    more: dict[str, Any] = {"throttles": 8_000, "reasons": [WRITE_KEY_RANGE]}
    night.now("orders", "PutItem", requests=25_000, **more).done()


def _quiet(night: Night) -> None:
    _busy(night.table("orders")).done()


_NIGHTS: dict[str, Callable[[Night], None]] = {"provisioned": _provisioned, "key-range": _key_range, "quiet": _quiet}


def main(name: str, arguments: list[str]) -> int:
    """Plant a night, and run the command in it."""
    rates._PUBLISHED["cloudtrail", "LookupEvents"] = 500.0
    diagnosing.run = partial(diagnosing.run, clock=lambda: NOW)
    with Emulator() as running:
        aws = LocalAws(running.url)
        os.environ.update(aws.environment)
        aws.stand(NOW)
        aws.limit("cloudtrail", "LookupEvents", None)
        _NIGHTS[name](Night(aws, now=NOW))
        return execute(["diagnose", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:] or ["orders"]))
