"""A call that is answered with an error, in DynamoDB's own words."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Refused", "ThrottleReason", "answer_error", "canceled", "invalid", "throttled"]

_NAMESPACE = "com.amazonaws.dynamodb.v20120810#"
_KEY_RANGE = "Throughput exceeds the current throughput limit for one or more of the keys of your table or index."
_PROVISIONED = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
_MAXIMUM = "Throughput exceeds the maximum OnDemandThroughput configured on table or index."
_ACCOUNT = "Throughput exceeds the current throughput limit for your account."
_CANCELED = "Transaction cancelled, please refer cancellation reasons for specific reasons"


@dataclass(frozen=True, slots=True)
class ThrottleReason:
    """Which limit of which resource refused a call: one of the sixteen reasons, and the ARN."""

    reason: str
    resource: str


class Refused(Exception):  # noqa: N818 - an answer, not a fault of ours
    """The answer is an error: status, and the body that goes out."""

    def __init__(self, body: dict[str, object], status: int = 400) -> None:
        super().__init__(str(body.get("message")))
        self.body = body
        self.status = status


def answer_error(code: str, message: str) -> Refused:
    """Answer with an error of DynamoDB's."""
    return Refused({"__type": _NAMESPACE + code, "message": message})


def invalid(message: str) -> Refused:
    """Answer that the request is not valid."""
    return Refused({"__type": "com.amazon.coral.validate#ValidationException", "message": message})


def throttled(reasons: tuple[ThrottleReason, ...]) -> Refused:
    """Answer that a limit was exceeded; the code and the spelling of the member depend on the limit.

    Source: Developer Guide, "Diagnosing throttling issues", read 2026-11-30.
    """
    told = [{"reason": each.reason, "resource": each.resource} for each in reasons]
    if any("MaxOnDemand" in each.reason for each in reasons):
        name = "com.amazon.coral.availability#ThrottlingException"
        return Refused({"__type": name, "message": _MAXIMUM, "throttlingReasons": told})
    if any("AccountLimit" in each.reason for each in reasons):
        return Refused({"__type": _NAMESPACE + "RequestLimitExceeded", "message": _ACCOUNT, "ThrottlingReasons": told})
    message = _KEY_RANGE if any("KeyRange" in each.reason for each in reasons) else _PROVISIONED
    name = _NAMESPACE + "ProvisionedThroughputExceededException"
    return Refused({"__type": name, "message": message, "ThrottlingReasons": told})


def canceled(reasons: list[tuple[ThrottleReason, ...]]) -> Refused:
    """Answer that a transaction was cancelled because limits were exceeded; one tuple of reasons a member."""
    told: list[dict[str, str]] = []
    for member in reasons:
        if not member:
            told.append({"Code": "None"})
        elif any("Provisioned" in each.reason for each in member):
            told.append({"Code": "ProvisionedThroughputExceeded", "Message": _PROVISIONED})
        else:
            told.append({"Code": "ThrottlingError", "Message": _KEY_RANGE})
    codes = ", ".join(each["Code"] for each in told)
    name = _NAMESPACE + "TransactionCanceledException"
    return Refused({"__type": name, "message": f"{_CANCELED} [{codes}]", "CancellationReasons": told})
