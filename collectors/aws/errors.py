"""The one place where the SDK's errors become our own, each with a hint that names the permission or the mend."""

from __future__ import annotations

from typing import Any, NamedTuple

from aiohttp import ClientPayloadError
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
from botocore.parsers import ResponseParserError

from analyzer.errors import (
    AbsentError,
    CollectError,
    DeniedError,
    MalformedError,
    ThrottledError,
    UnreachableError,
    UnsupportedError,
)

__all__ = ["EXPECTED", "STALE", "permission_of", "translate"]

EXPECTED: tuple[type[Exception], ...] = (
    BotoCoreError,
    ClientError,
    ResponseParserError,
    ClientPayloadError,  # a streamed body that breaks off
    OSError,
    TimeoutError,
)
"""What a call may fail with; anything else is a bug of ours."""

_DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "AuthorizationErrorException",
        "Forbidden",
        "UnauthorizedOperation",
    }
)
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"})
_UNKNOWN_CREDENTIALS = frozenset(
    {
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "NotAuthorized",
        "OptInRequired",
        "UnrecognizedClientException",
    }
)
STALE = _EXPIRED | _UNKNOWN_CREDENTIALS
"""What AWS says of credentials that it took before, and takes no more."""
_SIGNATURE = frozenset(
    {"InvalidSignatureException", "RequestTimeTooSkewed", "SignatureDoesNotMatch", "SignatureDoesNotMatchException"}
)
_THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
_ABSENT = frozenset(
    {
        "404",
        "NoSuchBucket",
        "NoSuchKey",
        "ResourceNotFound",
        "ResourceNotFoundException",
        "ObjectNotFoundException",
        "TableNotFoundException",
        "TrailNotFoundException",
    }
)


class _Verdict(NamedTuple):
    """What an error of AWS's means, and the mend; `told` never holds what a request held of keys."""

    kind: type[CollectError]
    told: str
    hint: str


_HINT_BETWEEN = "something between here and AWS answered in its place: check endpoint_url and proxies"
_CLOCK = _Verdict(DeniedError, "the clock of this machine is wrong", "set the clock (NTP): five minutes are too much")
_NOT_AWS = _Verdict(MalformedError, "the body is none of AWS's", _HINT_BETWEEN)
_SERVICE_FAULT = _Verdict(
    UnreachableError, "", "the service has a fault of its own: look again in a minute; a daemon does so by itself"
)
_SLOW_DOWN = _Verdict(
    ThrottledError,
    "",
    "look again in a minute (a daemon does so by itself), look less often, or ask AWS for a higher rate",
)
_BY_CODE = (
    (
        _EXPIRED,
        _Verdict(DeniedError, "the credentials have expired", "renew the credentials; a daemon then goes on by itself"),
    ),
    (
        _SIGNATURE | _UNKNOWN_CREDENTIALS,
        _Verdict(
            DeniedError,
            "AWS does not accept the credentials",
            "check the access key and secret, and that the region is enabled for the account",
        ),
    ),
    (_THROTTLED, _SLOW_DOWN),
    (_ABSENT, _Verdict(AbsentError, "", "it was deleted, or never was; check name and region")),
)
_SERVER_FAULT = 500
_TOO_MANY = 429
_LONGEST_MESSAGE = 300

_PERMISSIONS = {
    ("s3", "ListObjectsV2"): "s3:ListBucket",
    ("s3", "ListObjects"): "s3:ListBucket",
    ("s3", "HeadObject"): "s3:GetObject",
    ("s3", "HeadBucket"): "s3:ListBucket",
}


def permission_of(service: str, operation: str) -> str:
    """Return the IAM action that an operation needs."""
    return _PERMISSIONS.get((service, operation), f"{service}:{operation}")


def translate(error: Exception, service: str, operation: str, place: str = "") -> CollectError:
    """Return our own error; `place` says where the call went, such as "in us-east-1 of 111122223333"."""
    name = f"{operation} {place}".strip()
    if isinstance(error, ClientError):
        return _refused(error, service, operation, name)
    credentials = _no_credentials(error, name)
    if credentials is not None:
        return credentials
    if isinstance(error, ParamValidationError):
        text = str(error).replace("\n", " ")[:_LONGEST_MESSAGE]
        return UnsupportedError(f"{name}: {text}", hint="this is a fault of Dynascope's; please report it")
    if isinstance(error, ResponseParserError):
        return MalformedError(f"{name}: the answer cannot be read", hint=_HINT_BETWEEN)
    kind = type(error).__name__
    if isinstance(error, TimeoutError) or kind in {"ReadTimeoutError", "ConnectTimeoutError"}:
        return UnreachableError(f"{name}: no answer in time", hint="check the network, or raise aws.read_timeout")
    hint = "check region, endpoint, DNS and the way out of this network (a VPC endpoint or a proxy)"
    return UnreachableError(f"{name}: {kind}", hint=hint)


def _no_credentials(error: Exception, name: str) -> CollectError | None:
    if isinstance(error, NoCredentialsError | PartialCredentialsError | NoAuthTokenError):
        hint = "set AWS_PROFILE, or give this machine a role (instance profile, IRSA, task role)"
        return DeniedError(f"{name}: no credentials were found", hint=hint)
    if isinstance(error, CredentialRetrievalError | TokenRetrievalError | SSOError | ProfileNotFound):
        hint = "log in again, or look at the credential provider of this profile"
        return DeniedError(f"{name}: {type(error).__name__}", hint=hint)
    return None


def _refused(error: ClientError, service: str, operation: str, name: str) -> CollectError:
    answer: dict[str, Any] = error.response
    code = str(answer.get("Error", {}).get("Code", ""))
    status = int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    verdict = _judge(code, status, service, operation, str(answer.get("Error", {}).get("Message", "")))
    told = ": ".join(part for part in (name, code or f"HTTP {status}", verdict.told) if part)
    return verdict.kind(told, hint=verdict.hint, code=code or None)


def _judge(code: str, status: int, service: str, operation: str, message: str) -> _Verdict:
    """Judge an error by its code, or where that is not known by the status."""
    if code in _SIGNATURE and _speaks_of_time(code, message):
        return _CLOCK
    if code in _DENIED or (code == "403" and status == 403):  # noqa: PLR2004 - HTTP's own number, of a HEAD
        return _Verdict(DeniedError, "", f"grant {permission_of(service, operation)}")
    known = next((verdict for codes, verdict in _BY_CODE if code in codes), None)
    if known is not None:
        return known
    if status >= _SERVER_FAULT:
        return _NOT_AWS if code == str(status) else _SERVICE_FAULT
    if status == _TOO_MANY:
        return _SLOW_DOWN
    told = "" if service == "dynamodb" else message[:_LONGEST_MESSAGE]
    return _Verdict(UnsupportedError, told, "AWS refuses this request; check that the region offers it")


def _speaks_of_time(code: str, message: str) -> bool:
    return code == "RequestTimeTooSkewed" or any(
        word in message.lower() for word in ("expired", "not yet current", "skew", "too far")
    )
