from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.checkpoint import Checkpoint
from analyzer.conclude import Judged, conclude
from analyzer.config import load_settings
from analyzer.exporters.assemble import Health
from analyzer.exposing import expose
from analyzer.model.batch import Block, Position, StreamStatus
from analyzer.model.finding import Status
from analyzer.model.instant import format_instant
from analyzer.model.sight import GapReason
from analyzer.model.window import Window
from analyzer.requests.digest_limits import DigestLimits
from analyzer.setup import Setup, build_setup
from analyzer.watch import Watch

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_760_000_000_000
CONTRACT = """\
version: 1
tables:
  - name: cases
    partition_key: PK
    sort_key: SK
    patterns:
      - {id: load-case, operation: GetItem, key: {PK: "CASE#<caseId>", SK: META}}
"""
QUIET = StreamStatus(files=1, missing=(), pending_bytes=0)
HEALTH = Health(
    is_config_valid=True,
    is_source_up=True,
    last_read_seconds=None,
    delay_seconds=None,
    checkpoint_seconds=None,
    analysis_seconds=None,
    records={},
)


class Place:
    """A folder with a configuration and a contract."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def setup(self, contract: str = CONTRACT) -> Setup:
        (self.folder / "contract.yaml").write_text(contract)
        settings = {"contract": ["contract.yaml"], "request_log": {"files": ["log"]}, "window": "20s"}
        (self.folder / "dynascope.yaml").write_text(json.dumps(settings))
        return build_setup(load_settings(self.folder / "dynascope.yaml", {}))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def block(length: int, at: int = NOW, position: int = 0, **fields: Any) -> Block:
    lines = []
    for number in range(length):
        line = {
            "v": 1,
            "time": format_instant(at),
            "op": "GetItem",
            "table": "cases",
            "region": "us-east-1",
            "account": "111122223333",
            "key": {"PK": {"S": f"CASE#{number}"}, "SK": {"S": "META"}},
            "caller": "api",
            "consumed": {"total": 1.0},
            **fields,
        }
        lines.append(json.dumps(line))
    return Block("".join(f"{line}\n" for line in lines).encode(), Position("/log", 1, position))


def stored(watch: Watch) -> Checkpoint:
    checkpoint = watch.checkpoint(NOW, ["/log"])
    return msgspec.msgpack.decode(msgspec.msgpack.encode(checkpoint), type=Checkpoint)


def settle(watch: Watch, end: int = NOW + 10_000, status: StreamStatus = QUIET) -> Judged:
    judged = conclude(watch.gather(end, status))
    watch.take_over(judged)
    return judged


def judge(watch: Watch, end: int = NOW + 10_000, status: StreamStatus = QUIET) -> dict[str, float]:
    """Judge, and return the requests by pattern."""
    settle(watch, end, status)
    counted: dict[str, float] = {}
    rendering = expose(watch.view(HEALTH, of_analysis=True))
    watch.remember(rendering)
    for line in rendering.exposition.text.decode().splitlines():
        if line.startswith("dynascope_requests_total{"):
            pattern = line.partition('pattern="')[2].partition('"')[0]
            counted[pattern] = counted.get(pattern, 0.0) + float(line.rpartition(" ")[2])
    return counted


def test_counts_and_positions_go_on_together(place: Place) -> None:
    first = Watch(place.setup(), None)
    first.take(block(10, position=100), NOW)
    second = Watch(place.setup(), stored(first))
    second.take(block(5, position=150), NOW)
    assert judge(second) == {"load-case": 15}
    assert second.positions["/log"].offset == 150
    assert second.records()["read"] == 15


def test_a_position_of_a_name_no_longer_tailed_is_left_out(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(1), NOW)
    assert watch.checkpoint(NOW, ["/other"]).positions == ()


def test_an_overlong_line_is_a_bad_one(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(Block(b"", Position("/log", 1, 9), overlong=2), NOW)
    assert watch.records()["bad"] == 2
    assert Watch(place.setup(), stored(watch)).records()["bad"] == 2
    assert watch.bad_lines() == ("line is too long",)


def test_what_a_decoder_could_not_read_is_bad_too(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(Block(b"", Position("s3://logs/", 0, 9), bad={"no table": 2}), NOW)
    assert watch.records()["bad"] == 2
    assert watch.bad_lines() == ("no table",)


def test_a_changed_contract_moves_no_counter_at_a_reload(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(10), NOW)
    judge(watch)
    watch.adopt(place.setup(CONTRACT.replace("load-case", "read-case")))
    watch.take(block(3), NOW)
    assert judge(watch) == {"load-case": 10, "read-case": 3}


def test_nor_at_a_restart(place: Place) -> None:
    first = Watch(place.setup(), None)
    first.take(block(10), NOW)
    judge(first)
    second = Watch(place.setup(CONTRACT.replace("load-case", "read-case")), stored(first))
    second.take(block(3), NOW)
    assert judge(second) == {"load-case": 10, "read-case": 3}
    third = Watch(place.setup(CONTRACT.replace("load-case", "third")), stored(second))
    third.take(block(2), NOW)
    assert judge(third) == {"load-case": 10, "read-case": 3, "third": 2}


def test_a_reload_of_the_same_contract_changes_nothing(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(10), NOW)
    watch.adopt(place.setup())
    assert judge(watch) == {"load-case": 10}


def kinds(watch: Watch) -> list[tuple[str, str | None]]:
    judged = settle(watch)
    return [(line.kind.value, line.pattern) for line in judged.report.patterns]


def test_a_new_contract_says_what_was_counted_before_it_again(place: Place) -> None:
    watch = Watch(place.setup(CONTRACT.replace("SK: META", "SK: OTHER")), None)
    watch.take(block(10), NOW)
    assert kinds(watch) == [("undeclared", None)]
    watch.adopt(place.setup(CONTRACT.replace(", SK: META", "")))
    assert kinds(watch) == [("declared", "load-case")]


def test_what_a_new_contract_cannot_know_of_the_past_is_ambiguous(place: Place) -> None:
    watch = Watch(place.setup(CONTRACT.replace("CASE#", "ORDER#")), None)
    watch.take(block(10), NOW)
    assert kinds(watch) == [("undeclared", None)]
    watch.adopt(place.setup())
    watch.take(block(10), NOW)
    assert set(kinds(watch)) == {("ambiguous", None), ("declared", "load-case")}


def test_a_finding_opens_once_and_closes_once(place: Place) -> None:
    setup = place.setup()
    watch = Watch(setup, None)
    for second in range(0, 20, 2):
        watch.take(block(200, NOW + second * 1000, op="Scan", key=None, count=1, scanned=1), NOW + second * 1000)
    events = []
    for end in range(NOW + 20_000, NOW + 120_000, 10_000):
        judged = settle(watch, end)
        events += [(found.detector, found.status) for found in judged.events.findings]
    assert events.count(("unexpected-scan", Status.OPEN)) == 1
    assert events.count(("unexpected-scan", Status.CLOSED)) == 1


def test_a_finding_that_is_open_is_not_opened_again_by_a_restart(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(200, op="Scan", key=None, count=1, scanned=1), NOW)
    assert settle(watch).events.findings
    again = Watch(place.setup(), stored(watch))
    judged = settle(again, NOW + 20_000)
    assert judged.events.findings == ()
    assert {found.status for found in judged.report.findings} == {Status.ONGOING}


def test_what_could_not_be_read_is_a_gap(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.gather(NOW, QUIET)
    watch.take(Block(b"junk\n"), NOW)
    watch.take(block(1, NOW - 20_000), NOW)
    status = StreamStatus(files=1, missing=("log",), pending_bytes=77, lost=1)
    gaps = watch.gather(NOW + 10_000, status).observations.gaps
    assert [gap.reason for gap in gaps] == [
        GapReason.NOT_ENABLED,
        GapReason.LATE,
        GapReason.MALFORMED,
        GapReason.LATE,
    ]


def test_unread_bytes_are_no_gap_when_the_window_is_read(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(1, NOW + 9_000), NOW)
    status = StreamStatus(files=1, missing=(), pending_bytes=77)
    assert watch.gather(NOW + 10_000, status).observations.gaps == ()


def test_the_delay_is_the_age_of_the_newest_slice(place: Place) -> None:
    watch = Watch(place.setup(), None)
    assert watch.tally().delay_seconds(NOW) is None
    watch.take(block(1), NOW)
    assert watch.tally().delay_seconds(NOW + 15_000) == 5.0


TRACED: dict[str, Any] = {"latency_ms": 3.5, "trace_id": "0af7651916cd43dd8448eb211c80319c"}


def test_what_is_read_while_a_rendering_is_made_does_not_show_in_it(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(10), NOW)
    settle(watch)
    view = watch.view(HEALTH)
    before = expose(view).exposition
    watch.take(block(3, table="others", **TRACED), NOW)
    watch.take(block(3, **TRACED), NOW)
    assert expose(view).exposition == before


def test_judging_and_rendering_change_nothing_until_it_is_taken_over(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(200, op="Scan", key=None, count=1, scanned=1), NOW)
    watch.take(Block(b"junk\n"), NOW)
    evidence, before = watch.gather(NOW + 10_000, QUIET), stored(watch)
    judged = conclude(evidence)
    expose(watch.view(HEALTH, of_analysis=True))
    assert judged.events.findings
    assert stored(watch) == before
    watch.take_over(judged)
    assert stored(watch) != before


def test_a_window_begins_no_earlier_than_the_first_slice_that_was_read(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(1, NOW), NOW)
    assert watch.gather(NOW, QUIET).observations.window.seconds == 20  # nothing of it was read
    assert watch.gather(NOW + 10_000, QUIET).observations.window == Window(NOW, NOW + 10_000)
    assert watch.gather(NOW + 30_000, QUIET).observations.window == Window(NOW + 10_000, NOW + 30_000)


def reloaded(place: Place) -> Watch:
    """A watch whose requests were counted under a contract that did not know their keys."""
    watch = Watch(place.setup(CONTRACT.replace("CASE#", "ORDER#")), None)
    watch.take(block(10), NOW)
    watch.adopt(place.setup())
    return watch


def test_a_restart_under_the_contract_of_a_reload_makes_no_false_undeclared(place: Place) -> None:
    first = reloaded(place)
    assert kinds(first) == [("ambiguous", None)]
    assert kinds(Watch(first.setup, stored(first))) == [("ambiguous", None)]
    forgetful = msgspec.structs.replace(stored(first), restated=())
    assert kinds(Watch(first.setup, forgetful)) == [("undeclared", None)]  # what it is kept for


def test_cells_are_taken_at_their_word_again_when_the_window_has_passed(place: Place) -> None:
    watch = reloaded(place)
    settle(watch, NOW + 10_000)
    watch.take(block(10, NOW + 20_000), NOW + 20_000)
    settle(watch, NOW + 20_000)
    assert stored(watch).restated
    settle(watch, NOW + 30_000)
    assert stored(watch).restated == ()
    assert judge(watch, NOW + 30_000) == {"ambiguous": 10, "load-case": 10}


def test_limits_alone_are_taken_at_a_reload(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(10), NOW)
    settle(watch)
    watch.adopt(msgspec.structs.replace(place.setup(), limits=DigestLimits(cells=1)))
    watch.take(block(1, op="Query", caller="other"), NOW)
    watch.take(block(1, op="Scan", caller="third"), NOW)
    assert watch.records()["squeezed"] > 0
    assert judge(watch)["load-case"] == 10
    assert GapReason.LOW_COVERAGE in {gap.reason for gap in watch.gather(NOW + 10_000, QUIET).observations.gaps}


def test_what_a_checkpoint_knew_is_no_gap_and_what_came_since_is(place: Place) -> None:
    first = Watch(place.setup(), None)
    first.take(Block(b"junk\n"), NOW)
    first.take(block(1), NOW)
    assert [gap.reason for gap in first.gather(NOW + 10_000, QUIET).observations.gaps] == [GapReason.MALFORMED]
    second = Watch(place.setup(), stored(first))
    assert second.gather(NOW + 20_000, QUIET).observations.gaps == ()
    second.take(Block(b"junk\n"), NOW)
    (gap,) = second.gather(NOW + 20_000, QUIET).observations.gaps
    assert gap.detail == "1 line of the request log is no record"


def test_a_finding_closes_in_time_although_the_clock_was_set_back(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(block(200, op="Scan", key=None, count=1, scanned=1), NOW)
    assert settle(watch).events.findings
    events = [settle(watch, NOW - 3_600_000 + later).events.findings for later in range(0, 60_000, 10_000)]
    assert [found.status for found in sum(events, ())] == [Status.CLOSED]


def test_so_does_a_gap(place: Place) -> None:
    watch = Watch(place.setup(), None)
    watch.take(Block(b"junk\n"), NOW)
    assert watch.gather(NOW, QUIET).observations.gaps
    assert watch.gather(NOW - 3_600_000, QUIET).observations.gaps
    assert not watch.gather(NOW - 3_570_000, QUIET).observations.gaps
