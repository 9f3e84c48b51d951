"""The real server with a made-up report: for tests of the page, and for eyes: `python -m tests.support.page_server`."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

from analyzer.exporters.assemble import Health
from analyzer.exporters.atlas import CallsOverTime
from analyzer.exporters.server import Server
from analyzer.model.finding import Direction
from analyzer.model.instant import SLICE_MS
from analyzer.render.pages import detector_pages
from analyzer.render.top import calls_name
from analyzer.requests.tokens import Salt
from tests.support.page_map import made_map, unseen_map
from tests.support.page_report import AS_OF, made_report

if TYPE_CHECKING:
    from types import TracebackType

    from analyzer.exporters.asked import MapQuestion
    from analyzer.model.heatmap import HeatMap
    from analyzer.model.report import Report

__all__ = ["MadeAtlas", "PageServer"]


class MadeAtlas:
    """Draws made-up maps of whatever the report knows."""

    async def heat_map(self, question: MapQuestion, report: Report) -> HeatMap | None:
        """Return a map: of `sessions`, whose keys are not visible, an empty one."""
        wanted = (question.table or "orders", question.index)
        target = next((one.target for one in report.traffic if (one.target.table, one.target.index) == wanted), None)
        if target is None:
            return None
        direction = question.direction or Direction.READ
        if target.table == "sessions":
            return unseen_map(target, direction, report.as_of)
        if question.since is None and question.until is None and question.step_ms == SLICE_MS:
            return made_map(target, direction, report.as_of)
        end = min(question.until or report.as_of, report.as_of)
        columns = (end - (question.since or end - 600_000)) // question.step_ms
        return made_map(target, direction, end, question.step_ms, max(1, min(int(columns), 360)))

    async def calls(self, report: Report) -> CallsOverTime:
        """Return an hour of calls of every pattern."""
        series = {
            calls_name(line): tuple(
                line.requests / 300 * (1 + ((minute * 7 + place * 3) % 10) / 20) for minute in range(60)
            )
            for place, line in enumerate(report.patterns)
        }
        return CallsOverTime(report.as_of - 3_600_000, series)

    def health(self) -> Health | None:
        """Return a daemon in good health."""
        return Health(
            is_config_valid=True,
            is_source_up=True,
            last_read_seconds=AS_OF / 1000,
            delay_seconds=4.2,
            checkpoint_seconds=AS_OF / 1000,
            analysis_seconds=0.21,
            records={"read": 1_284_000, "bad": 3, "dropped": 120, "late": 41, "future": 0, "duplicate": 9},
        )


class PageServer:
    """The server in a thread of its own, so that a browser beside it can be driven without a loop.

    with PageServer() as served:
        page.goto(served.url)
        served.advance()
    """

    def __init__(self, port: int = 0, report: Report | None = None, **settings: Any) -> None:
        self.server = Server(detector_pages(), settings.pop("policy", "template"), Salt(b"made up"), **settings)
        self.server.screen.atlas = MadeAtlas()
        self.report = report or made_report()
        self.url = ""
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        port = self._wait(self.server.start("127.0.0.1", self._port))
        self.url = f"http://127.0.0.1:{port}"
        self._wait(self.server.export(self.report))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wait(self.server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def advance(self, report: Report | None = None) -> None:
        """Judge anew: this report, or the same one a slice later."""
        self.report = report or made_report(self.report.as_of + SLICE_MS)
        self._wait(self.server.export(self.report))

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)


def main() -> None:
    """Serve until Enter is pressed, and judge anew every ten seconds."""
    with PageServer(int(sys.argv[1]) if len(sys.argv) > 1 else 8643) as served:
        sys.stdout.write(f"{served.url}\n")
        sys.stdout.flush()
        done = threading.Event()
        while not done.wait(10):
            served.advance()


if __name__ == "__main__":
    main()
