"""dynascope explain."""

from __future__ import annotations

from typing import Annotated

import typer

from analyzer.errors import UsageError, closest

__all__ = ["explain"]


def explain(
    detector: Annotated[
        str | None, typer.Argument(metavar="DETECTOR", help="name of a detector; without one, all are listed")
    ] = None,
) -> None:
    """Print a detector's page.

    It says what the detector finds, what it needs, when it is silent, and what to do.

    \b
      dynascope explain                     all detectors, a line each
      dynascope explain hot-key | less
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.render.pages import detector_page, detector_pages  # noqa: PLC0415 -- light start

    pages = detector_pages()
    if detector is None:
        width = max((len(name) for name in pages), default=0)
        for name, path in pages.items():
            write(f"{name:{width}}  {_first_sentence(path.read_text('utf-8'))}".rstrip() + "\n")
        return
    page = detector_page(detector)
    if page is None:
        meant = closest(detector, pages)
        mend = f"did you mean {meant}?" if meant else "`dynascope explain` lists all"
        raise UsageError(f"there is no detector {detector}; {mend}")
    write(page)


def _first_sentence(page: str) -> str:
    """Return the first line of prose below the heading."""
    return next(
        (line.strip().strip("*") for line in page.splitlines() if line.strip() and not line.startswith("#")), ""
    )
