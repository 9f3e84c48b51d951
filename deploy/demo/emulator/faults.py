"""Faults by script: what a service answers instead of what it would have.

A fault names a service and an operation, or any; it may skip the first calls, and end after so many.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from deploy.demo.emulator.wire import Rejected, Reply, reject

if TYPE_CHECKING:
    from deploy.demo.emulator.wire import Asked

__all__ = ["Fault", "Faults", "bend", "replace"]

Kind = Literal[
    "denied",
    "throttled",
    "expired",
    "skewed",
    "timeout",
    "reset",
    "truncated",
    "html",
    "wrong",
    "garbage",
    "partial",
    "duplicate",
]
"""`wrong` is well written and nothing that was asked for, `garbage` is not even well written.

botocore takes JSON that is neither for an answer in which everything is absent.
"""

_HTML = b"<!doctype html>\n<html><title>500 Internal Server Error</title><h1>Internal Server Error</h1></html>\n"
_GARBAGE = (b"<Answer><Name", b'{"Table": {"TableNa')
_WRONG = (b"<Answer><Name>1</Name></Answer>", b'{"Unasked": [1, {"name": null}]}')
"""As XML and as JSON."""
_REPEATED = re.compile(rb"(?:<(Contents|CommonPrefixes)>.*?</\1>)", re.DOTALL)


class Fault(Struct, forbid_unknown_fields=True, kw_only=True):
    """One fault; what is None fits everything."""

    kind: Kind
    service: str | None = None
    """As requests are signed for: dynamodb, monitoring, application-autoscaling, cloudtrail, s3, logs, xray, sts …"""
    operation: str | None = None
    account: str | None = None
    region: str | None = None
    contains: str | None = None
    """Text that the request's body has, say a table's name."""
    skip: int = 0
    """How many calls that fit pass before it begins."""
    times: int | None = None
    """How many calls it strikes; None strikes all."""
    seconds: float = 30.0
    """How long `timeout` holds the answer."""

    def fits(self, asked: Asked) -> bool:
        """Whether a request is meant."""
        account, region = asked.place
        told = (
            (self.service, asked.service),
            (self.operation, asked.operation),
            (self.account, account),
            (self.region, region),
        )
        if any(wanted is not None and wanted != given for wanted, given in told):
            return False
        return self.contains is None or self.contains.encode() in asked.raw


class Faults:
    """The script."""

    def __init__(self) -> None:
        self._script: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Strike from now on."""
        self._script.append(fault)

    def clear(self) -> None:
        """Strike no more."""
        self._script.clear()

    def take(self, asked: Asked) -> Fault | None:
        """Return the fault that strikes a request, the oldest first."""
        for fault in self._script:
            if not fault.fits(asked):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            if fault.times is not None:
                fault.times -= 1
                if fault.times <= 0:
                    self._script.remove(fault)
            return fault
        return None


def replace(kind: Kind, asked: Asked) -> Reply | None:
    """Return what goes out in place of an answer; None where the true answer is wanted first."""
    if kind == "html":
        return Reply(500, _HTML, {"Content-Type": "text/html"})
    if kind in {"garbage", "wrong"}:
        written = _GARBAGE if kind == "garbage" else _WRONG
        return Reply(200, written[asked.is_json], _kind(asked))
    rejected = _rejected(kind, asked)
    return None if rejected is None else reject(asked, rejected)


def code_of(kind: Kind) -> dict[str, str]:
    """Return what DynamoDB's metrics have to know of a scripted answer: its code."""
    return {"__type": "ThrottlingException"} if kind == "throttled" else {}


def _kind(asked: Asked) -> dict[str, str]:
    return {"Content-Type": asked.headers.get("Content-Type", "") if asked.is_json else "text/xml"}


def _rejected(kind: Kind, asked: Asked) -> Rejected | None:
    """Return the error in the words of the service's protocol."""
    is_json = asked.is_json
    if kind == "denied":
        action = f"{asked.service}:{asked.operation}"
        message = f"User: arn:aws:iam::{asked.place[0]}:user/demo is not authorized to perform: {action}"
        return Rejected("AccessDeniedException" if is_json else "AccessDenied", message, 400 if is_json else 403)
    if kind == "throttled":
        if asked.service == "s3":
            return Rejected("SlowDown", "Please reduce your request rate", 503)
        return Rejected("ThrottlingException" if is_json else "Throttling", "Rate exceeded", 400)
    if kind == "expired":
        message = "The security token included in the request is expired"
        return Rejected("ExpiredTokenException" if is_json else "ExpiredToken", message, 400 if is_json else 403)
    if kind == "skewed":
        message = "Signature not yet current: check the clock of the machine"
        code = "RequestTimeTooSkewed" if asked.service == "s3" else "SignatureDoesNotMatch"
        return Rejected("InvalidSignatureException" if is_json else code, message, 400 if is_json else 403)
    return None


def bend(kind: Kind, tree: Any) -> Any:  # noqa: ANN401 - an answer of any service
    """Return half of an answer (`partial`) or one whose entries all come twice (`duplicate`)."""
    if not isinstance(tree, dict):
        return tree
    is_half = kind == "partial"
    if is_half and "MetricDataResults" in tree:
        return {**tree, "MetricDataResults": [_halve_series(each) for each in tree["MetricDataResults"]]}
    lists = [name for name, value in tree.items() if isinstance(value, list) and value]
    name = next((name for name in lists if isinstance(tree[name][0], dict)), lists[0] if lists else None)
    if name is None:
        return tree
    value = tree[name]
    return {**tree, name: value[: len(value) // 2] if is_half else [*value, *value]}


def _halve_series(result: dict[str, Any]) -> dict[str, Any]:
    half = len(result["Values"]) // 2
    told = {"Timestamps": result["Timestamps"][:half], "Values": result["Values"][:half]}
    return {**result, **told, "StatusCode": "PartialData"}


def bend_written(kind: Kind, reply: Reply) -> Reply:
    """Bend an answer that moto wrote: JSON by its first list, a listing of S3 by its entries."""
    if kind not in {"partial", "duplicate"}:
        return reply
    try:
        body = msgspec.json.encode(bend(kind, msgspec.json.decode(reply.body)))
    except msgspec.DecodeError:
        entries = [found.group(0) for found in _REPEATED.finditer(reply.body)]
        if not entries:
            return reply
        kept = entries[: len(entries) // 2] if kind == "partial" else [*entries, *entries]
        first = reply.body.index(entries[0])
        body = reply.body[:first] + b"".join(kept) + reply.body[first + sum(map(len, entries)) :]
    return Reply(reply.status, body, reply.headers)
