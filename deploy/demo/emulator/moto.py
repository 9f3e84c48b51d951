"""moto's server as a process of its own, and the way to it. Run as a module it is that process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec

from deploy.demo.emulator.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Moto", "end_with_parent", "free_port"]

_START_SECONDS = 30.0
_PAUSE_SECONDS = 0.05
_SERVER_ERROR = 500
_PASSED_ON = ("Authorization", "X-Amz-Date", "X-Amz-Security-Token", "Content-Type")


def free_port() -> int:
    """Return a loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def end_with_parent() -> None:
    """End this process when its standard input closes: whoever started it is gone, however it died."""

    def watch() -> None:
        with contextlib.suppress(OSError, ValueError):
            while os.read(0, 4096):
                pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


_TOLD = frozenset({"content-type", "etag", "last-modified"})
"""What an answer says of itself beside AWS's own headers."""


class Moto:
    """The control plane and validator."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self._process = process
        self.url = f"http://127.0.0.1:{port}/"
        self._session: aiohttp.ClientSession | None = None

    @classmethod
    async def start(cls) -> Moto:
        """Start the process and wait until it answers; raises RuntimeError when it does not."""
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "deploy.demo.emulator.moto",
            str(port),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        moto = cls(process, port)
        moto._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60))
        for _ in range(int(_START_SECONDS / _PAUSE_SECONDS)):
            with contextlib.suppress(aiohttp.ClientConnectionError):
                async with moto._session.get(f"{moto.url}moto-api/"):
                    return moto
            if process.returncode is not None:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        await moto.stop()
        raise RuntimeError("moto's server did not start: try `python -m moto.server` to see why")

    async def stop(self) -> None:
        """End the process and the connection."""
        if self._session is not None:
            await self._session.close()
        if self._process.returncode is None:
            self._process.terminate()
        await self._process.wait()

    async def call(self, operation: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Make one DynamoDB call; an error of DynamoDB's is raised as Refused."""
        status, _, raw = await self.forward(
            "POST",
            "/",
            msgspec.json.encode(body),
            {name: headers[name] for name in _PASSED_ON if name in headers}
            | {"X-Amz-Target": f"DynamoDB_20120810.{operation}"},
        )
        if status >= _SERVER_ERROR:
            raise Refused(
                {"__type": "InternalServerError", "message": f"the emulator's moto does not serve {operation}"}, 500
            )
        answer: dict[str, Any] = msgspec.json.decode(raw)
        if status != 200:  # noqa: PLR2004 - OK
            raise Refused(answer, status)
        return answer

    async def forward(
        self, method: str, path: str, raw: bytes, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        """Pass a request on as it is; returns status, headers and body."""
        if self._session is None:
            raise RuntimeError("moto is not started")
        kept = {name: value for name, value in headers.items() if name.lower() not in {"host", "content-length"}}
        async with self._session.request(method, self.url + path.lstrip("/"), data=raw, headers=kept) as response:
            told = {
                name: value
                for name, value in response.headers.items()
                if name.lower().startswith("x-amz") or name.lower() in _TOLD
            }
            return response.status, told, await response.read()


def _serve(port: str) -> None:
    from moto.server import main  # noqa: PLC0415 - heavy, and wanted only in this process

    end_with_parent()
    main(["-H", "127.0.0.1", "-p", port])


if __name__ == "__main__":
    _serve(sys.argv[1])
