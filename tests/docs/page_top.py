"""What `dynascope top` prints of the made-up report that the pictures of the page show: for docs/page.md."""

from __future__ import annotations

from analyzer.cli.main import main
from tests.support.page_server import PageServer

if __name__ == "__main__":
    import sys

    with PageServer() as served:
        sys.argv = ["dynascope", "top", "--from", served.url]
        main()
