"""The pages under /docs/: written in Markdown, shown as plain readable HTML."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from analyzer.exporters.metrics import reference_page
from analyzer.render.pages import alerts_page

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["detector_page", "docs_index", "landing_page", "metrics_page", "prometheus_page"]

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
"""What tells the writers of a page where its output comes from."""
_PICTURE = re.compile(r"^!\[[^\]]*\]\(images/[^)]*\)\n+", re.MULTILINE)
"""Pictures lie beside the pages and are not shipped."""

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
pre, code { font: 14px/1.4 ui-monospace, monospace }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: 4px }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top }
nav { margin-bottom: 1.5rem }
""".strip()


def detector_page(pages: Mapping[str, Path], name: str) -> str | None:
    """Return a detector's page as HTML, None where it has none."""
    page = pages.get(name)
    return None if page is None else _page(name, _markdown(page.read_text("utf-8")))


def metrics_page() -> str:
    """Return the reference of the metrics as HTML."""
    return _page("Metrics", _markdown(reference_page()))


def prometheus_page() -> str | None:
    """Return the page on Prometheus as HTML, which holds the runbooks of the watcher's own alerts."""
    page = alerts_page()
    return None if page is None else _page("Prometheus", _markdown(page))


def docs_index(pages: Mapping[str, Path]) -> str:
    """Return the list of pages as HTML."""
    entries = "\n".join(f'<li><a href="/docs/detectors/{name}">{name}</a></li>' for name in map(html.escape, pages))
    links = '<p><a href="/docs/metrics">Metrics</a> · <a href="/docs/prometheus">Prometheus and alerts</a></p>'
    return _page("Documentation", f"<h1>Documentation</h1>\n{links}\n<h2>Detectors</h2>\n<ul>\n{entries}\n</ul>")


def landing_page(verdict: str) -> str:
    """Return the page at `/`: the verdict and where everything is."""
    links = {
        "/metrics": "metrics for Prometheus",
        "/api/v1/report": "the last report as JSON",
        "/api/v1/findings": "its findings",
        "/docs/": "documentation",
        "/healthz": "is the process alive",
        "/readyz": "has it judged anything yet",
    }
    entries = "\n".join(f'<li><a href="{path}">{path}</a>: {meaning}</li>' for path, meaning in links.items())
    return _page("Dynascope", f"<h1>Dynascope</h1>\n<p>{html.escape(verdict)}</p>\n<ul>\n{entries}\n</ul>")


def _markdown(text: str) -> str:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_PICTURE.sub("", _COMMENT.sub("", text)))
    for heading, content in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", re.sub(r"[^a-z0-9]+", "-", content.content.lower()).strip("-"))
    page: str = reader.renderer.render(tokens, reader.options, {})
    return page


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{_STYLE}\n</style>\n</head>\n'
        f'<body>\n<nav><a href="/">Dynascope</a> · <a href="/docs/">documentation</a></nav>\n{body}\n</body>\n</html>\n'
    )
