"""DynamoDB's sixteen throttle reasons, and the limit behind each.

Source: Developer Guide, "Diagnosing throttling issues", read 2026-11-30. One error code names its limit without a
reason: "Throughput exceeds the current throughput quota for your account" (API Reference, RequestLimitExceeded, read
2026-12-01). Whether it may stand for anything else was not seen on a live account.
"""

from __future__ import annotations

import re

from msgspec import Struct

from analyzer.model.finding import Direction
from analyzer.model.target import Target

__all__ = ["ACCOUNT_CODE", "THROTTLE_CODES", "Limit", "arn_of", "cause_of", "is_throttle", "limit_of", "target_of_arn"]

ACCOUNT_CODE = "RequestLimitExceeded"
"""The error code that names a limit by itself: the account's quota of its region."""

THROTTLE_CODES = frozenset({"ProvisionedThroughputExceededException", "ThrottlingException", ACCOUNT_CODE})
"""Error codes of a refused call."""

_CANCELED_BY_THROTTLE = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError"})
"""Codes of a transaction's cancellation reasons, and of a batch statement's error, that are throttles."""

_REASON = re.compile(
    r"(Table|Index)(Read|Write)(ProvisionedThroughput|KeyRangeThroughput|MaxOnDemandThroughput|AccountLimit)Exceeded"
)
_CAUSES = {
    "ProvisionedThroughput": "provisioned",
    "KeyRangeThroughput": "key-range",
    "MaxOnDemandThroughput": "max-on-demand",
    "AccountLimit": "account-limit",
}
_ARN = re.compile(r"arn:[^:]*:dynamodb:([^:]*):([^:]*):table/([^/]+)(?:/index/([^/]+))?")


class Limit(Struct, frozen=True):
    """Which limit a reason speaks of: `cause` is the detectors' word for it."""

    cause: str
    direction: Direction
    is_index: bool


def is_throttle(code: str | None) -> bool:
    """Whether an error code, or a cancellation's, is a throttle."""
    return code in THROTTLE_CODES or code in _CANCELED_BY_THROTTLE


def limit_of(reason: str) -> Limit | None:
    """Read one of the sixteen reasons; None for anything else."""
    found = _REASON.fullmatch(reason)
    if found is None:
        return None
    place, direction, limit = found.groups()
    return Limit(_CAUSES[limit], Direction(direction.lower()), place == "Index")


def cause_of(reason: str) -> str:
    """Return the detectors' word for what a reason names, or the code that stands in for one; else `unknown`."""
    if reason == ACCOUNT_CODE:
        return "account-limit"
    limit = limit_of(reason)
    return "unknown" if limit is None else limit.cause


def target_of_arn(arn: str) -> Target | None:
    """Return the table or index that an ARN names; None when it is none of DynamoDB's."""
    found = _ARN.match(arn)
    if found is None:
        return None
    region, account, table, index = found.groups()
    return Target(account or None, region or None, table, index)


def arn_of(target: Target) -> str | None:
    """Return the ARN of a table or index; None where account or region is not known."""
    if not target.account or not target.region:
        return None
    partition = next((name for start, name in _PARTITIONS if target.region.startswith(start)), "aws")
    index = "" if target.index is None else f"/index/{target.index}"
    return f"arn:{partition}:dynamodb:{target.region}:{target.account}:table/{target.table}{index}"


_PARTITIONS = (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"))
"""AWS General Reference, "Amazon Resource Names (ARNs)", read 2026-11-30."""
