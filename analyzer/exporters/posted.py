"""What the daemon takes over HTTP: from this machine alone, in JSON, a line or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from analyzer.exporters.address import is_loopback

if TYPE_CHECKING:
    from aiohttp.web import Request

__all__ = ["posted", "refuse_strangers"]

_MOST_BYTES = 4096


def refuse_strangers(request: Request) -> None:
    """Refuse other machines, and pages in a browser of this one."""
    if not is_loopback(request.remote or "") or "Origin" in request.headers:
        raise web.HTTPForbidden


async def posted(request: Request) -> bytes:
    """Return the body of a request that may say something; a page cannot send one, since it may not name JSON."""
    refuse_strangers(request)
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType
    body = b""
    async for chunk in request.content.iter_chunked(_MOST_BYTES):
        body += chunk
        if len(body) > _MOST_BYTES:
            raise web.HTTPRequestEntityTooLarge(_MOST_BYTES, len(body))
    return body
