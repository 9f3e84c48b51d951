"""dynascope iam-policy."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotation
from typing import Annotated

import typer

__all__ = ["iam_policy"]


class TierOption(StrEnum):
    """How much is allowed."""

    METRICS = "metrics"
    KEYS = "keys"
    WRITES = "writes"


def iam_policy(
    tier: Annotated[
        TierOption | None, typer.Option("--tier", help="up to which tier; else what the configuration reads")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="allow what this configuration reads, no more")
    ] = None,
    standby: Annotated[
        str | None, typer.Option("--standby", metavar="LEASE", help="also the lease of `run --standby s3://bucket/key`")
    ] = None,
) -> None:
    """Print the least policy for what is read from AWS.

    Tier `metrics` bears nobody's keys. `keys` adds Contributor Insights and request logs that lie with AWS. `writes`
    adds what `insights watch` switches, by hand. Without a configuration a policy allows all that a tier can read, and
    names to be replaced begin with REPLACE.

    Roles of other accounts need the same policy, but for sts:AssumeRole; what a log is encrypted with, kms:Decrypt.

    \b
      dynascope iam-policy --config dynascope.yaml > policy.json
      dynascope iam-policy --tier metrics                      as far as metrics, of any account
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from msgspec.structs import replace  # noqa: PLC0415 -- light start

    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.knowledge.iam import SAMPLE_SCOPE, Tier, features_of, policy  # noqa: PLC0415 -- light start

    lease = _lease(standby)
    if config is None:
        scope = replace(SAMPLE_SCOPE, lease=lease or SAMPLE_SCOPE.lease)
        document = policy(features_of(Tier((tier or TierOption.METRICS).value)), scope)
    else:
        from analyzer.permissions import names_of, scope_of  # noqa: PLC0415 -- light start
        from analyzer.setup import load_setup  # noqa: PLC0415 -- light start

        setup = load_setup(config)
        features = features_of(Tier((tier or TierOption.KEYS).value), names_of(setup, lease))
        document = policy(features, scope_of(setup, lease))
    if not document["Statement"]:
        sys.stderr.write("dynascope: nothing is read from AWS: no policy is needed\n")
        return
    write(json.dumps(document, indent=2) + "\n")


def _lease(standby: str | None) -> str | None:
    """Return bucket and key of a lease in S3; one in a file needs no permission of AWS's. Raises UsageError."""
    if standby is None:
        return None
    from analyzer.lease import parse_place  # noqa: PLC0415 -- light start

    place = parse_place(standby)
    return None if place.bucket is None else f"{place.bucket}/{place.key}"
