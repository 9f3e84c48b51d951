"""What requests and answers look like on the wire: AWS's query protocol with XML, and its JSON protocols.

botocore up to 1.40 speaks query and XML with CloudWatch, later ones JSON 1.0; both were tried. One answer, a tree of
dicts and lists, serves both.
"""

from __future__ import annotations

import html
import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deploy.demo.emulator.minutes import Place

__all__ = ["Asked", "Rejected", "Reply", "Stamp", "ask", "invalid_value", "reject", "reply", "seconds_of"]

_SIGNED = re.compile(r"Credential=([^/,]+)/\d+/([^/,]+)/([^/,]+)/")
_ACCOUNT = "123456789012"
_NAMESPACE = "http://monitoring.amazonaws.com/doc/2010-08-01/"
_QUERY_CODES = {
    "InvalidParameterValueException": "InvalidParameterValue",
    "MissingRequiredParameterException": "MissingParameter",
}
"""CloudWatch's codes in the query protocol, where they are not the names of its exceptions. Source: its API model."""
_REST = {"/TraceSummaries": "GetTraceSummaries", "/Traces": "BatchGetTraces"}


class Stamp(float):
    """Seconds since the epoch that go out as a timestamp: ISO 8601 in XML, a number in JSON."""

    __slots__ = ()


class Rejected(Exception):  # noqa: N818 - an answer, not a fault of ours
    """A service answers with an error."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


def invalid_value(message: str) -> Rejected:
    """Answer that a parameter's value is not valid."""
    return Rejected("InvalidParameterValueException", message)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of any service: who asks what of which service, where, and how it is written."""

    service: str
    operation: str
    place: Place
    access_key: str
    protocol: str
    """`json`, `query`, or `rest` where moto alone understands it."""
    body: dict[str, Any]
    raw: bytes
    headers: Mapping[str, str]

    @property
    def is_json(self) -> bool:
        """Whether answers and errors are JSON: X-Ray's too, whose requests moto alone understands."""
        return self.protocol == "json" or self.service == "xray"


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP answer."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def ask(method: str, path_qs: str, raw: bytes, headers: Mapping[str, str], accounts: Mapping[str, str]) -> Asked:
    """Read a request; `accounts` knows whose the access keys of assumed roles are.

    A body that is no JSON is left empty: DynamoDB's front refuses it by itself.
    """
    found = _SIGNED.search(headers.get("Authorization", ""))
    access_key, region, service = found.groups() if found else ("", "us-east-1", "")
    place = (accounts.get(access_key, _ACCOUNT), region)
    target = headers.get("X-Amz-Target", "")
    kind = headers.get("Content-Type", "")
    body: dict[str, Any] = {}
    if target:
        protocol, operation = "json", target.rpartition(".")[2]
        body = _decode_json(raw)
    elif kind.startswith("application/x-www-form-urlencoded"):
        protocol, body = "query", _decode_query(raw)
        operation = str(body.get("Action", ""))
    else:
        path, _, query = path_qs.partition("?")
        protocol, operation = "rest", _REST.get(path) or _s3_operation(method, path, query)
    return Asked(service, operation, place, access_key, protocol, body, raw, headers)


def _decode_json(raw: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(raw or b"{}")
    except msgspec.DecodeError:
        return {}
    return body if isinstance(body, dict) else {}


def _decode_query(raw: bytes) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in parse_qsl(raw.decode(), keep_blank_values=True):
        *path, last = name.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    body = _with_lists(tree)
    return body if isinstance(body, dict) else {}


def _with_lists(node: object) -> object:
    if not isinstance(node, dict):
        return node
    if node.keys() == {"member"}:
        return [_with_lists(node["member"][place]) for place in sorted(node["member"], key=int)]
    return {name: _with_lists(value) for name, value in node.items()}


def _s3_operation(method: str, path: str, query: str) -> str:
    has_key = path.strip("/").count("/") > 0
    if method == "GET" and not has_key:
        return "ListObjectsV2" if "list-type=2" in query else "ListBuckets" if path == "/" else "ListObjects"
    verb = {"GET": "Get", "PUT": "Put", "HEAD": "Head", "DELETE": "Delete", "POST": "Post"}.get(method, method)
    return f"{verb}{'Object' if has_key else 'Bucket'}"


def seconds_of(value: object) -> float:
    """Read a timestamp of either protocol; raises Rejected where it is none."""
    if isinstance(value, int | float):
        return float(value)
    try:
        read = datetime.fromisoformat(str(value))
    except ValueError:
        raise invalid_value(f"{value} is no timestamp") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def reply(asked: Asked, tree: object) -> Reply:
    """Write an answer as the request's protocol has it."""
    request = str(uuid.uuid4())
    if asked.protocol == "query":
        name = asked.operation
        content = f"<{name}Result>{_xml(tree)}</{name}Result>"
        told = f"<ResponseMetadata><RequestId>{request}</RequestId></ResponseMetadata>"
        body = f'<{name}Response xmlns="{_NAMESPACE}">{content}{told}</{name}Response>'
        return Reply(200, body.encode(), {"Content-Type": "text/xml", "x-amzn-RequestId": request})
    return Reply(200, msgspec.json.encode(_plain(tree)), _json_headers(asked, request))


def reject(asked: Asked, rejected: Rejected) -> Reply:
    """Write an error as the request's protocol has it."""
    request = str(uuid.uuid4())
    query_code = _QUERY_CODES.get(rejected.code, rejected.code)
    if asked.is_json:
        headers = _json_headers(asked, request)
        if asked.service == "monitoring":
            headers["x-amzn-query-error"] = f"{query_code};Sender"
        body = msgspec.json.encode({"__type": rejected.code, "message": rejected.message})
        return Reply(rejected.status, body, headers)
    code = html.escape(query_code)
    error = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{html.escape(rejected.message)}</Message></Error>"
    if asked.service == "s3":
        error = f"<Error><Code>{code}</Code><Message>{html.escape(rejected.message)}</Message></Error>"
        return Reply(rejected.status, error.encode(), {"Content-Type": "application/xml"})
    text = f'<ErrorResponse xmlns="{_NAMESPACE}">{error}<RequestId>{request}</RequestId></ErrorResponse>'
    return Reply(rejected.status, text.encode(), {"Content-Type": "text/xml", "x-amzn-RequestId": request})


def _json_headers(asked: Asked, request: str) -> dict[str, str]:
    version = asked.headers.get("Content-Type", "application/x-amz-json-1.0")
    return {"Content-Type": version, "x-amzn-RequestId": request}


def _plain(node: object) -> object:
    if isinstance(node, Stamp):
        return float(node)
    if isinstance(node, dict):
        return {name: _plain(value) for name, value in node.items()}
    return [_plain(each) for each in node] if isinstance(node, list | tuple) else node


def _xml(node: object) -> str:
    if isinstance(node, dict):
        return "".join(f"<{name}>{_xml(value)}</{name}>" for name, value in node.items())
    if isinstance(node, list | tuple):
        return "".join(f"<member>{_xml(each)}</member>" for each in node)
    if isinstance(node, Stamp):
        return datetime.fromtimestamp(node, UTC).isoformat().replace("+00:00", "Z")
    if isinstance(node, bool):
        return str(node).lower()
    return html.escape(str(node))
