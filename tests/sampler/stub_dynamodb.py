"""A loopback HTTP server that speaks DynamoDB's JSON 1.0 and answers as it is told. Standard library alone."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CUT", "StubDynamoDB", "failure"]

CUT = "cut"
"""An answer that is none: the connection is closed."""

_PREFIX = "com.amazonaws.dynamodb.v20120810#"


def failure(code: str, message: str = "it failed", status: int = 400, **members: Any) -> tuple[int, dict[str, Any]]:
    """Return an error as DynamoDB sends it."""
    return status, {"__type": _PREFIX + code, "message": message, **members}


class StubDynamoDB:
    """Answers scripted answers first, in their order, then what `answer` says for every other request."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.script: list[Any] = []
        self.answer: Callable[[str, dict[str, Any]], Any] = lambda _operation, _body: {}
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Return the endpoint URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def next_answer(self, operation: str, body: dict[str, Any]) -> Any:
        """Return a dict (200), a pair of status and dict, or CUT."""
        self.requests.append((operation, body))
        return self.script.pop(0) if self.script else self.answer(operation, body)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    stub: StubDynamoDB

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are none of our business."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        """Answer one operation."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = self.server.stub.next_answer(self.headers["x-amz-target"].partition(".")[2], body)
        if answer == CUT:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        status, content = answer if isinstance(answer, tuple) else (200, answer)
        encoded = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/x-amz-json-1.0")
        self.send_header("content-length", str(len(encoded)))
        self.send_header("x-amzn-requestid", f"R{len(self.server.stub.requests)}")
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library's name
        """Say nothing."""
