"""dynascope iam-policy."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotation
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="PLACE",
            envvar="DYNASCOPE_REPORT_TO",
            help="also what `report --to s3://... --to sns:ARN` needs; may be given again",
        ),
    ] = None,
) -> None:
    """Print the least policy for what is read from AWS.

    Tier `metrics` bears nobody's keys. `keys` adds Contributor Insights and request logs that lie with AWS. `writes`
    adds what `insights watch` switches, by hand. Without a configuration a policy allows all that a tier can read, and
    names to be replaced begin with REPLACE.

    Roles of other accounts need the same policy, but for sts:AssumeRole; what a log is encrypted with, kms:Decrypt.

    \b
      dynascope iam-policy --config dynascope.yaml > policy.json
      dynascope iam-policy --config dynascope.yaml --to s3://bucket/reports/   also to send weekly reports there
      dynascope iam-policy --tier metrics                      as far as metrics, of any account
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from msgspec.structs import replace  # noqa: PLC0415 -- light start

    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.knowledge.iam import SAMPLE_SCOPE, Tier, features_of, policy  # noqa: PLC0415 -- light start

    lease, (reports, topics) = _lease(standby), _delivered(to or ())
    if config is None:
        sample = SAMPLE_SCOPE
        to_report = {"reports": reports or sample.reports, "topics": topics or sample.topics}
        scope = replace(sample, lease=lease or sample.lease, **to_report)
        document = policy(features_of(Tier((tier or TierOption.METRICS).value)), scope)
    else:
        from analyzer.permissions import names_of, scope_of  # noqa: PLC0415 -- light start
        from analyzer.setup import load_setup  # noqa: PLC0415 -- light start

        setup = load_setup(config)
        names = names_of(setup, lease) | {"ReportObjects", "ReportTopics"}  # without places they name nothing
        features = features_of(Tier((tier or TierOption.KEYS).value), names)
        document = policy(features, replace(scope_of(setup, lease), reports=reports, topics=topics))
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


def _delivered(named: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return objects and topics that weekly reports go to; raises UsageError. A webhook needs nothing of AWS."""
    from analyzer.deliver import place_of  # noqa: PLC0415 -- light start
    from analyzer.permissions import delivered  # noqa: PLC0415 -- light start

    return delivered([place_of(one) for one in named])
