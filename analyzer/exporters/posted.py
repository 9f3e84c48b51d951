"""What the daemon takes over HTTP, and how it answers: from this machine, or from who may, in JSON, a line or two."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aiohttp import web

from analyzer.exporters.address import host_of, is_loopback
from analyzer.exporters.gate import AUTHORIZED

if TYPE_CHECKING:
    from aiohttp.web import Request

__all__ = ["answered", "posted", "refuse_strangers"]

_MOST_BYTES = 4096
_BODY_SECONDS = 10.0


def answered(document: dict[str, Any], status: int = 200) -> web.Response:
    """Answer in JSON, a line."""
    return web.Response(status=status, text=json.dumps(document) + "\n", content_type="application/json")


def refuse_strangers(request: Request) -> None:
    """Refuse other machines that did not show a token or certificate, and foreign pages in a browser of anybody's.

    A page is ours where its address is the one that it asks. Where nothing guards us that is this machine's own name:
    a foreign page can have made up another for it.
    """
    is_authorized = request.get(AUTHORIZED, False)
    if not is_authorized and not is_loopback(request.remote or ""):
        raise web.HTTPForbidden
    origin, host = request.headers.get("Origin"), request.headers.get("Host", "")
    if origin is None:
        return
    is_own = _authority(origin) == host.lower() != ""
    if not is_own or not (is_authorized or is_loopback(host_of(host))):
        raise web.HTTPForbidden


def _authority(origin: str) -> str:
    """Return host and port of an origin, nothing where it cannot be read: such a page is not ours."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


async def posted(request: Request, seconds: float = _BODY_SECONDS) -> bytes:
    """Return the body of a request that may say something; a foreign page cannot send one: it may not name JSON.

    Raises HTTPRequestTimeout where it does not come within so many seconds, HTTPBadRequest where it is cut, or packed
    in a way that it is not.
    """
    refuse_strangers(request)
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType
    try:
        async with asyncio.timeout(seconds):
            return await _body(request)
    except TimeoutError:
        raise web.HTTPRequestTimeout(headers={"Connection": "close"}) from None
    except (ConnectionError, web.RequestPayloadError):
        raise web.HTTPBadRequest(reason="the body cannot be read", headers={"Connection": "close"}) from None


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.content.iter_chunked(_MOST_BYTES):
        body += chunk
        if len(body) > _MOST_BYTES:
            raise web.HTTPRequestEntityTooLarge(_MOST_BYTES, len(body))
    return body
