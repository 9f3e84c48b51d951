"""The detectors' pages, as they are packaged: one Markdown file each, fitting the version that runs."""

from __future__ import annotations

from pathlib import Path

__all__ = ["alerts_page", "detector_page", "detector_pages"]

_PACKAGE = Path(__file__).parent.parent
_FOLDERS = (_PACKAGE / "docs" / "detectors", _PACKAGE.parent / "docs" / "detectors")  # installed, or a checkout


def detector_pages() -> dict[str, Path]:
    """Return the page of each detector by its name, in order."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    if folder is None:
        return {}
    return {path.stem: path for path in sorted(folder.glob("*.md")) if path.stem != "README"}


def alerts_page() -> str | None:
    """Return the page on Prometheus and the runbooks of the watcher's own alerts; None where it was not packaged."""
    page = next((page for folder in _FOLDERS if (page := folder.parent / "prometheus.md").is_file()), None)
    return None if page is None else page.read_text("utf-8")


def detector_page(name: str) -> str | None:
    """Return a detector's page; None where there is none."""
    page = detector_pages().get(name)
    return None if page is None else page.read_text("utf-8")
