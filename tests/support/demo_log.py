"""The demo's request log, as if it were being written now."""

from __future__ import annotations

import gzip
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["DemoLog"]

LOG = Path(__file__).parents[1] / "data" / "demo.jsonl.gz"


class DemoLog:
    """Writes the demo's log to a file: all of it as if it ended now, then more from it, as often as one likes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with gzip.open(LOG, "rt") as packed:
            self.records: list[dict[str, Any]] = [json.loads(line) for line in packed]
        self.times = [datetime.fromisoformat(record["time"]).timestamp() for record in self.records]
        self.round = 0
        self.last = 0.0

    def write_all(self) -> None:
        """Write the whole log, moved so that it ends now."""
        moved = time.time() - max(self.times)
        self._write([(record, at + moved) for record, at in zip(self.records, self.times, strict=True)])

    def write_more(self) -> None:
        """Write one record in twenty again, other ones each time, as requests of this moment; at most once a second."""
        if time.monotonic() - self.last < 1:
            return
        self.last = time.monotonic()
        self.round += 1
        self._write([(record, time.time()) for record in self.records[self.round % 20 :: 20]])

    def drop(self) -> None:
        """Say as a sampler does that a record could not be written."""
        with self.path.open("a") as log:
            log.write(json.dumps({"v": 1, "counter": "dropped", "count": 1, "caller": "api"}) + "\n")

    def _write(self, records: list[tuple[dict[str, Any], float]]) -> None:
        with self.path.open("a") as log:
            for record, at in records:
                moment = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
                request = f"{record['request_id']}-{self.round}"
                log.write(json.dumps({**record, "time": moment, "request_id": request}) + "\n")
