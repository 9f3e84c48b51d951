"""The files of the page: ours from the folder beside this module, plotly's JavaScript from its own wheel."""

from __future__ import annotations

import gzip
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

__all__ = ["PLOTLY", "Asset", "asset", "index_page"]

PLOTLY = "plotly.min.js"
"""Asked for at most once a version of it: five megabytes, a third of that packed."""

_FOLDER = Path(__file__).with_name("page")
_INDEX = "index.html"
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
_LEVEL = 6


class Asset(Struct, frozen=True):
    """One file as it is sent: packed with gzip, and a tag that changes when it does."""

    packed: bytes
    content_type: str
    tag: str

    @property
    def plain(self) -> bytes:
        """The file as it is."""
        return gzip.decompress(self.packed)


def asset(name: str) -> Asset | None:
    """Return a file of the page, None where there is none of that name; read and packed when it is first asked for."""
    return _read(name) if name == PLOTLY or name in _names() else None


def index_page() -> str | None:
    """Return the page, None where it was not installed."""
    path = _FOLDER / _INDEX
    return path.read_text("utf-8") if path.is_file() else None


@cache
def _names() -> frozenset[str]:
    """Return the names of our own files; the page itself is at `/`."""
    found = _FOLDER.iterdir() if _FOLDER.is_dir() else ()
    return frozenset(path.name for path in found if path.suffix in _TYPES and path.name != _INDEX)


@cache
def _read(name: str) -> Asset | None:
    path = _plotly_path() if name == PLOTLY else _FOLDER / name
    if path is None or not path.is_file():
        return None
    content = path.read_bytes()
    tag = blake2b(content, digest_size=12).hexdigest()
    return Asset(gzip.compress(content, _LEVEL, mtime=0), _TYPES[path.suffix], tag)


def _plotly_path() -> Path | None:
    """Return where plotly keeps its JavaScript, without importing it."""
    found = find_spec("plotly")
    folders = [] if found is None else found.submodule_search_locations or []
    return next((Path(folder) / "package_data" / PLOTLY for folder in folders), None)
