"""The pages under /docs/: written in Markdown, shown as plain readable HTML."""

from __future__ import annotations

import html
import re
from pathlib import Path

from markdown_it import MarkdownIt

import analyzer
from analyzer.exporters.metrics import reference_page

__all__ = ["detector_names", "detector_page", "docs_folder", "docs_index", "landing_page", "metrics_page"]

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
pre, code { font: 14px/1.4 ui-monospace, monospace }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: 4px }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top }
nav { margin-bottom: 1.5rem }
""".strip()


def docs_folder() -> Path | None:
    """Return where the pages are: inside the package when it was installed, beside it in a checkout, or nowhere."""
    package = Path(analyzer.__file__).parent
    return next((folder for folder in (package / "docs", package.parent / "docs") if folder.is_dir()), None)


def detector_names(folder: Path | None) -> tuple[str, ...]:
    """Return the detectors that have a page."""
    if folder is None:
        return ()
    return tuple(sorted(page.stem for page in (folder / "detectors").glob("*.md") if _NAME.fullmatch(page.stem)))


def detector_page(folder: Path | None, name: str) -> str | None:
    """Return a detector's page as HTML, None where it has none."""
    if folder is None or _NAME.fullmatch(name) is None:
        return None
    try:
        text = (folder / "detectors" / f"{name}.md").read_text("utf-8")
    except OSError:
        return None
    return _page(name, _markdown(text))


def metrics_page() -> str:
    """Return the reference of the metrics as HTML."""
    return _page("Metrics", _markdown(reference_page()))


def docs_index(folder: Path | None) -> str:
    """Return the list of pages as HTML."""
    entries = "\n".join(f'<li><a href="/docs/detectors/{name}">{name}</a></li>' for name in detector_names(folder))
    links = '<p><a href="/docs/metrics">Metrics</a></p>'
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
    page: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return page


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{_STYLE}\n</style>\n</head>\n'
        f'<body>\n<nav><a href="/">Dynascope</a> · <a href="/docs/">documentation</a></nav>\n{body}\n</body>\n</html>\n'
    )
