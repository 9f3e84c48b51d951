from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from tests.e2e.conftest import Daemon, now_ms, record, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

GOOD = 500


def hostile_lines(now: int) -> Iterator[bytes]:
    dice = random.Random(7)
    for number in range(GOOD):
        yield record(now, number).encode()
        if number % 50 == 0:  # each of these is one bad line
            junk = bytes(dice.randrange(256) for _ in range(300)).replace(b"\n", b"\0").replace(b"\r", b"\0")
            yield junk + b"\n"
            yield record(now, number)[: dice.randrange(1, 200)].encode() + b"\n"
            yield b"[" * 5000 + b"\n"
            yield b'{"v":2,"time":"2026-06-01T10:00:00Z","op":"GetItem"}\n'
            yield b'{"v":1,"op":"GetItem","table":"cases"}\n'
    yield b'{"v":1,"table":"' + b"x" * 50_000_000 + b'"}\n'
    yield record(now, 9001, op="FrobnicateItem", table="cases").encode()
    yield record(now, 9002, op="lower \x00 case\n{}", table="no such table!").encode()  # no names: bad
    yield record(now, 9006, table="half a pair \ud800").encode()  # no text at all: bad
    yield record(now + 3_600_000, 9003).encode()
    yield record(now - 7_200_000, 9004).encode()
    yield record(now, 1).encode()  # a duplicate
    yield record(now, 9005, sample_rate=0.5).encode()


def test_a_hostile_log_ends_in_correct_counters_and_a_report(daemon: Daemon) -> None:
    daemon.log.write_bytes(b"".join(hostile_lines(now_ms())))
    daemon.start()
    daemon.listening()
    good = GOOD + 4  # an operation nobody knows, the late one, and the one that stands for two
    wait_until(lambda: daemon.records("future") > 0, "the log is read")
    assert daemon.records("bad") == 53
    assert daemon.records("future") == 1
    assert daemon.records("duplicate") == 1
    assert daemon.records("late") == 1
    assert daemon.requests() == good
    assert daemon.sum("dynascope_requests_total", operation="FrobnicateItem") == 1
    wait_until(daemon.is_ready, "something was judged")
    report = json.loads(daemon.get("/api/v1/report"))
    assert report["v"] == 1
    malformed, future = [(gap["reason"], gap["detail"]) for gap in report["gaps"]]
    assert malformed == ("malformed", "53 lines of the request log are no records")
    assert future[0] == "low-coverage"
    assert future[1].startswith("1 record is ahead of the clock by up to ")
    assert daemon.stop()[0] == 0
    assert {told["because"] for told in daemon.events() if "bad line" in told["event"]} >= {"line is too long"}
