"""A loopback receiver of OTLP: it keeps what exporters send, unpacked, and answers as a collector would."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["Receiver", "Sent"]


class Sent(NamedTuple):
    content_type: str
    body: bytes


class Receiver:
    def __init__(self) -> None:
        self.sent: list[Sent] = []
        kept = self.sent

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self._body()
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                kept.append(Sent(self.headers["Content-Type"], body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def _body(self) -> bytes:
                if self.headers.get("Transfer-Encoding") != "chunked":
                    return self.rfile.read(int(self.headers["Content-Length"]))
                chunks = []
                while length := int(self.rfile.readline(), 16):
                    chunks.append(self.rfile.read(length))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(chunks)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
